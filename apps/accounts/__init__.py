"""People, roles in a scope, tokens, preferences."""
