"""The stand-alone verifier that is served for download; nothing of the portal imports it."""
