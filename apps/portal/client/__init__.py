"""The node client that the portal serves; not imported by the portal."""
