"""Questions about changes, by noun."""

from apps.changes.queries.changes import (
    change_for,
    changes_visible,
    open_changes_on,
    snapshot_versions,
    waiting_targets,
)

__all__ = ["change_for", "changes_visible", "open_changes_on", "snapshot_versions", "waiting_targets"]
