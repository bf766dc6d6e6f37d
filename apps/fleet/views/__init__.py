"""Pages of the fleet, by noun."""
