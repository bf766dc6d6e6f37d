"""Questions about launches: which there are, where they stand, and what the gate finds."""

from apps.launches.queries.launches import (
    Decision,
    decision_of,
    decision_on,
    decisions_of,
    decisions_on,
    editors_of,
    evaluation_for,
    launch_for,
    launches_visible,
)

__all__ = [
    "Decision",
    "decision_of",
    "decision_on",
    "decisions_of",
    "decisions_on",
    "editors_of",
    "evaluation_for",
    "launch_for",
    "launches_visible",
]
