"""Forms of the fleet: they check shape; the rules live in the services."""
