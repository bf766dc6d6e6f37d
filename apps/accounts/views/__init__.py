"""Pages of people: signing in, one's own preferences and tokens, and administration."""
