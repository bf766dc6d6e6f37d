"""Done evaluations, answers, waivers, signatures and editors stay; who opened or edited a launch does not sign it."""

from __future__ import annotations

from collections.abc import Iterator

from apps.core.triggers import Guard

_SIGNED = """NOT EXISTS (SELECT 1 FROM launches_evaluation WHERE id = NEW.evaluation_id
    AND done_at IS NOT NULL AND digest = NEW.evaluation_digest)"""
_EDITOR = """EXISTS (SELECT 1 FROM launches_launch JOIN launches_evaluation
    ON launches_evaluation.launch_id = launches_launch.id
    WHERE launches_evaluation.id = NEW.evaluation_id AND launches_launch.opened_by_id = NEW.person_id)
    OR EXISTS (SELECT 1 FROM launches_launcheditor JOIN launches_evaluation
    ON launches_evaluation.launch_id = launches_launcheditor.launch_id
    WHERE launches_evaluation.id = NEW.evaluation_id AND launches_launcheditor.person_id = NEW.person_id)"""
_DEMO_OF_LAUNCH = """(SELECT is_demo FROM fleet_cluster JOIN launches_launch
    ON launches_launch.cluster_id = fleet_cluster.id WHERE launches_launch.id = OLD.launch_id)"""
_DEMO_OF_EVALUATION = """(SELECT is_demo FROM fleet_cluster JOIN launches_launch
    ON launches_launch.cluster_id = fleet_cluster.id JOIN launches_evaluation
    ON launches_evaluation.launch_id = launches_launch.id
    WHERE launches_evaluation.id = OLD.evaluation_id)"""


_OTHER_WAIVER = """NEW.launch_id <> OLD.launch_id OR NEW.item <> OLD.item OR NEW.reason <> OLD.reason
    OR NEW.requested_by_id <> OLD.requested_by_id OR NEW.requested_at <> OLD.requested_at
    OR NEW.expires_at <> OLD.expires_at
    OR (OLD.revoked_at IS NOT NULL AND (NEW.revoked_at IS NULL OR NEW.revoked_at <> OLD.revoked_at))
    OR (OLD.approved_by_id IS NOT NULL
        AND (NEW.approved_by_id IS NULL OR NEW.approved_by_id <> OLD.approved_by_id
        OR NEW.approved_at IS NULL OR NEW.approved_at <> OLD.approved_at))"""


def _kept(table: str, demo: str, *, only: str = "", changed: str = "") -> Iterator[Guard]:
    """Rows of a table (those that fulfil `only`) are not changed, and removed only with a demonstration.

    changed: which changes are refused; any of them, unless it is said.
    """
    removed = f"{only} AND {demo} IS NOT TRUE" if only else f"{demo} IS NOT TRUE"
    for event, when in (("UPDATE", changed or only), ("DELETE", removed)):
        yield Guard(
            name=f"{table}_no_{event.lower()}",
            table=table,
            event=event,
            when=when,
            message="evaluations, answers, waivers, editors and signatures are kept as they are",
        )


GUARDS = [
    Guard(
        name="launches_opener",
        table="launches_signoff",
        event="INSERT",
        when=_EDITOR,
        message="four eyes: who opened or edited a launch does not sign it",
    ),
    Guard(
        name="launches_launch_stays",
        table="launches_launch",
        event="UPDATE OF opened_by_id, cluster_id",
        when="NEW.opened_by_id <> OLD.opened_by_id OR NEW.cluster_id <> OLD.cluster_id",
        message="who opened a launch stays so, and its cluster",
    ),
    Guard(
        name="launches_launch_no_delete",
        table="launches_launch",
        event="DELETE",
        when="(SELECT is_demo FROM fleet_cluster WHERE id = OLD.cluster_id) IS NOT TRUE",
        message="a launch stays, as who opened it and its cluster do",
    ),
    Guard(
        name="launches_signed",
        table="launches_signoff",
        event="INSERT",
        when=_SIGNED,
        message="what is signed is a finished evaluation, by its digest",
    ),
    *(
        Guard(
            name=f"launches_waiver_four_eyes_{event.lower()}",
            table="launches_waiver",
            event=event,
            when="NEW.approved_by_id = NEW.requested_by_id",
            message="four eyes: who asked for a waiver does not approve it",
        )
        for event in ("INSERT", "UPDATE")
    ),
    *_kept("launches_evaluation", _DEMO_OF_LAUNCH, only="OLD.done_at IS NOT NULL"),
    *_kept("launches_answer", _DEMO_OF_LAUNCH),
    *_kept("launches_waiver", _DEMO_OF_LAUNCH, changed=_OTHER_WAIVER),
    *_kept("launches_launcheditor", _DEMO_OF_LAUNCH),
    *_kept("launches_signoff", _DEMO_OF_EVALUATION),
]
