"""Four eyes in the database: requester, last editor and executor approve nothing; what was decided stays."""

from __future__ import annotations

from apps.core.triggers import Guard

_FOUR_EYES = "four eyes: who asked for, edited or carries out a change cannot approve it"
_KEPT = "approvals and snapshots are kept as they are"
_INVOLVED = """EXISTS (SELECT 1 FROM changes_change WHERE id = NEW.change_id AND
    (requester_id = NEW.person_id OR last_editor_id = NEW.person_id OR executor_id = NEW.person_id))"""
_APPROVED = """NEW.executor_id IS NOT NULL AND EXISTS (SELECT 1 FROM changes_approval
    WHERE change_id = NEW.id AND approves AND person_id = NEW.executor_id
    AND content_digest = NEW.content_digest)"""
_DEMO = """(SELECT is_demo FROM fleet_cluster JOIN changes_change
    ON changes_change.cluster_id = fleet_cluster.id WHERE changes_change.id = OLD.change_id)"""

GUARDS = [
    Guard(
        name="changes_four_eyes",
        table="changes_approval",
        event="INSERT",
        when=_INVOLVED,
        message=_FOUR_EYES,
    ),
    Guard(
        name="changes_executor",
        table="changes_change",
        event="UPDATE OF executor_id",
        when=_APPROVED,
        message=_FOUR_EYES,
    ),
    *(
        Guard(name=f"{table}_no_{event.lower()}", table=table, event=event, when=when, message=_KEPT)
        for table in ("changes_approval", "changes_snapshot")
        for event, when in (("UPDATE", ""), ("DELETE", f"NOT {_DEMO}"))
    ),
]
