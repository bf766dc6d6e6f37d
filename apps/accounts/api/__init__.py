"""The REST API of this app."""
