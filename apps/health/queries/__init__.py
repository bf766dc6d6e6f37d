"""Questions about health."""

from apps.health.queries.faults import faults_visible, health_of, open_faults

__all__ = ["faults_visible", "health_of", "open_faults"]
