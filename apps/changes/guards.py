"""Four eyes in the database: requester, editors and executor approve nothing; what was decided stays."""

from __future__ import annotations

from apps.core.triggers import Guard

_FOUR_EYES = "four eyes: who asked for, edited or carries out a change cannot approve it"
_KEPT = "approvals, snapshots and who edited are kept as they are"
_INVOLVED = """NOT EXISTS (SELECT 1 FROM changes_change WHERE id = NEW.change_id)
    OR EXISTS (SELECT 1 FROM changes_changeeditor
    WHERE change_id = NEW.change_id AND person_id = NEW.person_id)
    OR EXISTS (SELECT 1 FROM changes_change WHERE id = NEW.change_id AND
    (requester_id = NEW.person_id OR last_editor_id = NEW.person_id OR executor_id = NEW.person_id))"""
_APPROVED = """NEW.executor_id IS NOT NULL AND EXISTS (SELECT 1 FROM changes_approval
    WHERE change_id = NEW.id AND approves AND person_id = NEW.executor_id
    AND content_digest = NEW.content_digest)"""
_OTHER_AUTHOR = """NEW.requester_id <> OLD.requester_id OR (NEW.last_editor_id <> OLD.last_editor_id
    AND (NEW.state <> 'draft' OR NEW.revision <= OLD.revision))"""
_DEMO = """(SELECT is_demo FROM fleet_cluster JOIN changes_change
    ON changes_change.cluster_id = fleet_cluster.id WHERE changes_change.id = OLD.change_id)"""
_OTHER_REVIEW = """OLD.reviewed_by_id IS NOT NULL AND (NEW.reviewed_by_id IS NULL
    OR NEW.reviewed_by_id <> OLD.reviewed_by_id OR NEW.reviewed_at IS NULL
    OR NEW.reviewed_at <> OLD.reviewed_at OR NEW.review <> OLD.review)"""

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
        event="UPDATE OF executor_id, content_digest",
        when=_APPROVED,
        message=_FOUR_EYES,
    ),
    Guard(
        name="changes_authors",
        table="changes_change",
        event="UPDATE OF requester_id, last_editor_id",
        when=_OTHER_AUTHOR,
        message="who asked for a change stays so, and only an edit names another editor",
    ),
    Guard(
        name="changes_review",
        table="changes_change",
        event="UPDATE",
        when=_OTHER_REVIEW,
        message="a review is kept as it is",
    ),
    Guard(
        name="changes_cluster",
        table="changes_change",
        event="UPDATE OF cluster_id",
        when="NEW.cluster_id <> OLD.cluster_id",
        message="a change stays in its cluster",
    ),
    Guard(
        name="changes_no_delete",
        table="changes_change",
        event="DELETE",
        when="(SELECT is_demo FROM fleet_cluster WHERE id = OLD.cluster_id) IS NOT TRUE",
        message="a change stays in its cluster",
    ),
    *(
        Guard(name=f"{table}_no_{event.lower()}", table=table, event=event, when=when, message=_KEPT)
        for table in ("changes_approval", "changes_changeeditor", "changes_snapshot")
        for event, when in (("UPDATE", ""), ("DELETE", f"{_DEMO} IS NOT TRUE"))
    ),
]
