"""Questions about launches: which there are, where they stand, and what the gate finds."""

from apps.launches.queries.launches import (
    Decision,
    decision_of,
    decision_on,
    decisions_of,
    editors_of,
    evaluation_for,
    history_of,
    launch_for,
    launches_visible,
    manual_items,
    shown_states,
)

__all__ = [
    "Decision",
    "decision_of",
    "decision_on",
    "decisions_of",
    "editors_of",
    "evaluation_for",
    "history_of",
    "launch_for",
    "launches_visible",
    "manual_items",
    "shown_states",
]
