"""Pages of planning."""
