"""The environment matrix that nodes must match, what they report, and the drift between the two."""
