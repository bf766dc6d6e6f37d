"""Questions about health."""

from apps.health.queries.faults import health_of, open_faults

__all__ = ["health_of", "open_faults"]
