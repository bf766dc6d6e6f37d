"""Template tags of the page parts."""
