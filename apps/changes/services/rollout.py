"""Carrying a change out: snapshot first, then stage by stage, each held until its gate is open."""

from __future__ import annotations

from collections.abc import Iterable

from django.db import DatabaseError, transaction
from django.db.models import Exists, OuterRef
from django.utils.translation import gettext as _

from apps.audit.services import decision
from apps.changes import queries
from apps.changes.engine import approval_rules
from apps.changes.engine.states import State
from apps.changes.models import Change, ChangeKind, Snapshot, Stage, StageState, Target
from apps.changes.services import moves
from apps.core import actor as actors
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, NotAllowed
from apps.core.reasons import require_reason
from apps.core.speech import listed
from apps.core.texts import joined, say, word
from apps.environments.queries import matrix_in_force, report_digests, reported_versions
from apps.evidence import services as evidence
from apps.fleet import services as fleet
from apps.fleet.models import HoldKind, LifeCycle, Node


@decision
def start_change(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """Begin the first stage: what all its nodes run is snapshot first, and the nodes are held.

    Raises Conflict where approvals do not count any more (an approver left), training runs on the domain, or
    another change holds a node; NotAllowed (four_eyes) for an approver; Stale.
    """
    person_id = actor.require_person_present()
    change = moves.locked(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    approval_rules.require_executor(
        queries.given_for(change), digest=change.content_digest, person_id=person_id
    )
    if change.state == State.APPROVED:
        moves.require_content(change)
        approval_rules.require_approved(queries.approvals_counting(change), change.approvals_needed)
    _require_no_training(change)
    _begin(change, expected_version, person_id)
    snapshot = take_snapshot(change)
    node_ids = set(change.targets.values_list("node_id", flat=True))
    fleet.take_holds(
        actor=actor, node_ids=node_ids, kind=HoldKind.CHANGE, owner=change.owner, reason=change.named
    )
    moves.note(actor, "change.started", change, after={"snapshot": snapshot.digest})
    begin_next_stage(actor, change)
    return moves.fresh(actor, change)


@decision
def pass_stage(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """Close the running stage and begin the next one; after the last one the change is verified.

    Raises Conflict that says what the gate still waits for, Stale.
    """
    change = moves.locked(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    moves.require_version(change, expected_version)
    stage = change.stages.filter(state=StageState.RUNNING).first()
    if change.state != State.RUNNING or stage is None:
        raise Conflict(
            say("the change is %(state)s, no stage runs", state=word(change.state)),
            code="change_state",
            state=change.state,
        )
    if waits := queries.gate_of(stage, now=clock.now()):
        raise Conflict(
            say(
                "stage %(number)s still waits: %(waits)s",
                number=stage.number,
                waits=joined("; ", [wait.message for wait in waits]),
            ),
            code="stage_gate",
            waits=[wait.code for wait in waits],
        )
    Stage.objects.filter(pk=stage.pk).update(state=StageState.PASSED, passed_at=clock.now())
    is_last = not change.stages.filter(state=StageState.WAITING).exists()
    if is_last:
        moves.move(change, to=State.VERIFYING, expected_version=expected_version)
    else:
        Change.objects.filter(pk=change.pk).update(version=expected_version + 1)
        change.refresh_from_db()
    moves.note(actor, "change.stage_passed", change, after={"stage": stage.number, "state": change.state})
    begin_next_stage(actor, change)
    return moves.fresh(actor, change)


@decision
def finish_change(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """All nodes report what the change wanted: it is done and lets its nodes go.

    Raises Conflict that names nodes which do not report it (any more), Stale.
    """
    change = moves.locked(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    if change.state == State.VERIFYING and (
        missing := queries.not_reaching(change.targets.all()).get(change.pk)
    ):
        raise Conflict(
            _("not reported: %(nodes)s") % {"nodes": listed(missing[:5])},
            code="not_verified",
            nodes=missing,
        )
    moves.move(change, to=State.DONE, expected_version=expected_version, ended_at=clock.now())
    fleet.release_holds(actor=actor, owner=change.owner, reason=say("the change is done"))
    moves.note(actor, "change.done", change)
    return moves.fresh(actor, change)


@decision
def fail_change(*, actor: Actor, change_id: int, expected_version: int, reason: str) -> Change:
    """Give up. The nodes stay held: they are between two states, and the way on is the rollback.

    Raises Invalid without a reason, Conflict, Stale.
    """
    change = moves.locked(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    text = require_reason(reason)
    moves.move(
        change, to=State.FAILED, expected_version=expected_version, ended_at=clock.now(), ended_reason=text
    )
    action = "rollback.failed" if change.kind == ChangeKind.ROLLBACK else "change.failed"
    moves.note(actor, action, change, reason=text)
    return moves.fresh(actor, change)


def take_snapshot(change: Change) -> Snapshot:
    """What every node of the change reports now, as the exact text that is hashed."""
    nodes = dict(
        Node.objects.filter(Exists(Target.objects.filter(change=change, node=OuterRef("pk")))).values_list(
            "pk", "name"
        )
    )
    versions = reported_versions(nodes)
    evidence.pin(report_digests(nodes.keys()))
    matrix = matrix_in_force(change.domain)
    body = digest.canonical(
        {
            "domain": change.domain.name,
            "matrix": {"id": matrix.pk, "digest": matrix.digest} if matrix else None,
            "nodes": {
                name: {part: list(reported.values) for part, reported in sorted(versions.get(pk, {}).items())}
                for pk, name in sorted(nodes.items(), key=lambda item: item[1])
            },
        }
    )
    return Snapshot.objects.create(
        change=change,
        taken_at=clock.now(),
        matrix_version=matrix,
        body=body,
        digest=digest.of_text(body),
    )


def begin_next_stage(actor: Actor, change: Change) -> bool:
    """Start the next waiting stage and tell automation of it; False where none is left.

    What the stage's nodes report already counts.
    """
    stage = change.stages.filter(state=StageState.WAITING).first()
    if stage is None:
        return False
    Stage.objects.filter(pk=stage.pk).update(state=StageState.RUNNING, started_at=clock.now())
    mark_reached(Target.objects.filter(stage=stage).select_related("node", "stage"))
    wanted = queries.wanted_in(stage.targets.all())
    moves.note(
        actor,
        "rollback.stage_started" if change.kind == ChangeKind.ROLLBACK else "change.stage_started",
        change,
        after={"stage": stage.number, "wanted": wanted},
        tell={"stage": stage.number, "wanted": wanted},
    )
    return True


@decision
def consider_reports(*, node_ids: Iterable[int]) -> list[int]:
    """Nodes have reported: note which targets they reach, and close rollbacks whose nodes all have.

    Called by the intake after each report, in its transaction. The rows of the changes are locked first: two
    nodes that report at the same moment would otherwise each miss that the other is there already.
    Returns the ids of rollbacks that closed. As many queries for one node as for all, closing apart.
    """
    ids = set(node_ids)
    touched = queries.open_changes_on(ids, under_way_only=True).select_for_update(of=("self",)).order_by("pk")
    changes = {change.pk: change for change in touched}
    if not changes:
        return []
    mark_reached(queries.waiting_targets(ids))
    open_targets = Target.objects.filter(change=OuterRef("pk"), reached_at__isnull=True).exclude(
        node__life_cycle=LifeCycle.RETIRED
    )
    complete = Change.objects.filter(~Exists(open_targets), pk__in=changes, kind=ChangeKind.ROLLBACK)
    candidates = list(complete.order_by("pk").values_list("pk", flat=True))
    missing = queries.not_reaching(Target.objects.filter(change_id__in=candidates)) if candidates else {}
    closed = [change_id for change_id in candidates if change_id not in missing]
    for change_id in closed:
        _close_rollback(changes[change_id])
    return closed


def mark_reached(targets: Iterable[Target]) -> None:
    """Note the time for each target that its node reports, and for each stage that is now complete."""
    held = [target for target in targets if target.reached_at is None]
    if not held:
        return
    versions = reported_versions({target.node_id for target in held})
    now = clock.now()
    reached = [target for target in held if queries.reaches(target, versions.get(target.node_id, {}))]
    Target.objects.filter(pk__in=[target.pk for target in reached]).update(reached_at=now)
    open_targets = Target.objects.filter(stage=OuterRef("pk"), reached_at__isnull=True)
    Stage.objects.filter(
        ~Exists(open_targets), pk__in={target.stage_id for target in reached}, reached_at__isnull=True
    ).update(reached_at=now)


def _require_no_training(change: Change) -> None:
    """Raises Conflict while a training job runs on the domain, whichever nodes of it."""
    if running := queries.training_on(change.domain):
        raise Conflict(
            say(
                "training runs on the domain: %(jobs)s",
                jobs=", ".join(f"{one.title} ({one.folded})" for one in running),
            ),
            code="domain_in_training",
            nodes=sorted(name for one in running for name in one.nodes),
        )


def _begin(change: Change, expected_version: int, person_id: int) -> None:
    """Move to running in the executor's name; the trigger has the last word on who that may be."""
    try:
        with transaction.atomic():
            moves.move(
                change,
                to=State.RUNNING,
                expected_version=expected_version,
                executor_id=person_id,
                started_at=clock.now(),
            )
    except DatabaseError as error:
        if "four eyes" not in str(error):
            raise
        raise NotAllowed(_("who approved a change does not carry it out"), code="four_eyes") from error


def _close_rollback(change: Change) -> None:
    actor, now = actors.system("rollback"), clock.now()
    if change.state == State.RUNNING:
        moves.move(change, to=State.VERIFYING, expected_version=change.version)
    moves.move(change, to=State.DONE, expected_version=change.version, ended_at=now)
    change.stages.update(state=StageState.PASSED, passed_at=now)
    fleet.release_holds(actor=actor, owner=change.owner, reason=say("all nodes report the restored versions"))
    moves.note(actor, "rollback.done", change)
