"""Carrying a change out: snapshot first, then stage by stage, each held until its nodes report the target."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import timedelta

from django.db.models import Exists, OuterRef

from apps.audit.services import decision
from apps.catalogue.engine.components import RuleKind, component
from apps.changes import queries
from apps.changes.engine import approval_rules
from apps.changes.engine.states import State
from apps.changes.models import Change, ChangeKind, Snapshot, Stage, StageState, Target
from apps.changes.services import moves
from apps.changes.services.approvals import approvals_counting
from apps.core import actor as actors
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict
from apps.environments.engine.drift import Reported
from apps.environments.engine.rules import Outcome, entry_for, judge
from apps.environments.queries import matrix_in_force, reported_versions
from apps.fleet import services as fleet
from apps.fleet.models import HoldKind, Node


@decision
def start_change(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """Begin the first stage: what all its nodes run is snapshot first, and the nodes are held.

    Raises Conflict where approvals do not count any more (an approver left), or a node is held by training or
    another change; NotAllowed (four_eyes) for an approver; Stale.
    """
    person_id = actor.require_person_present()
    change = queries.change_for(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    approval_rules.require_executor(
        moves.given_for(change), digest=change.content_digest, person_id=person_id
    )
    if change.state == State.APPROVED:
        approval_rules.require_approved(approvals_counting(change), change.approvals_needed)
    moves.move(
        change,
        to=State.RUNNING,
        expected_version=expected_version,
        executor_id=person_id,
        started_at=clock.now(),
    )
    snapshot = take_snapshot(change)
    node_ids = set(change.targets.values_list("node_id", flat=True))
    fleet.take_holds(
        actor=actor, node_ids=node_ids, kind=HoldKind.CHANGE, owner=change.owner, reason=str(change)
    )
    begin_next_stage(change)
    moves.note(actor, "change.started", change, after={"snapshot": snapshot.digest})
    return moves.fresh(actor, change)


@decision
def pass_stage(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """Close the running stage and begin the next one; after the last one the change is verified.

    Raises Conflict that says what the gate still waits for.
    """
    change = queries.change_for(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    stage = change.stages.filter(state=StageState.RUNNING).first()
    if change.state != State.RUNNING or stage is None:
        raise Conflict(
            f"the change is {change.state}, no stage runs", code="change_state", state=change.state
        )
    if waits := stage_waits_for(stage):
        raise Conflict(
            f"stage {stage.number} still waits: {'; '.join(waits)}", code="stage_gate", waits=waits
        )
    Stage.objects.filter(pk=stage.pk, state=StageState.RUNNING).update(
        state=StageState.PASSED, passed_at=clock.now()
    )
    to = State.RUNNING if begin_next_stage(change) else State.VERIFYING
    _bump(change, expected_version, to)
    moves.note(actor, "change.stage_passed", change, after={"stage": stage.number, "state": change.state})
    return moves.fresh(actor, change)


@decision
def finish_change(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """All nodes report what the change wanted: it is done and lets its nodes go.

    Raises Conflict that names nodes which do not report it (any more).
    """
    change = queries.change_for(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    if missing := _not_reached(change.targets.select_related("node")):
        raise Conflict("not reported yet: " + ", ".join(missing[:5]), code="not_verified", nodes=missing)
    moves.move(change, to=State.DONE, expected_version=expected_version, ended_at=clock.now())
    fleet.release_holds(actor=actor, owner=change.owner, reason="the change is done")
    moves.note(actor, "change.done", change)
    return moves.fresh(actor, change)


@decision
def fail_change(*, actor: Actor, change_id: int, expected_version: int, reason: str) -> Change:
    """Give up. The nodes stay held: they are between two states, and the way on is the rollback."""
    change = queries.change_for(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    moves.move(
        change, to=State.FAILED, expected_version=expected_version, ended_at=clock.now(), ended_reason=reason
    )
    moves.note(actor, "change.failed", change, reason=reason)
    return moves.fresh(actor, change)


def take_snapshot(change: Change) -> Snapshot:
    """What every node of the change reports now, as the exact text that is hashed."""
    nodes = {
        node.pk: node.name
        for node in Node.objects.filter(Exists(Target.objects.filter(change=change, node=OuterRef("pk"))))
    }
    versions = reported_versions(nodes)
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


def begin_next_stage(change: Change) -> bool:
    """Start the next waiting stage; what its nodes report already counts. False where none is left."""
    stage = change.stages.filter(state=StageState.WAITING).first()
    if stage is None:
        return False
    Stage.objects.filter(pk=stage.pk).update(state=StageState.RUNNING, started_at=clock.now())
    mark_reached(Target.objects.filter(stage=stage).select_related("node", "stage"))
    return True


def stage_waits_for(stage: Stage) -> list[str]:
    """What a running stage still waits for, in words; nothing where its gate is open."""
    missing = _not_reached(stage.targets.select_related("node"))
    if missing:
        return [f"{len(missing)} nodes do not report the target: {', '.join(missing[:5])}"]
    stage.refresh_from_db()
    if stage.reached_at is None:
        return ["no report yet"]
    left_s = (stage.reached_at + timedelta(seconds=stage.soak_s) - clock.now()).total_seconds()
    return [f"{int(left_s)} s of soak time are left"] if left_s > 0 else []


@decision
def consider_reports(*, node_ids: Iterable[int]) -> list[int]:
    """Nodes have reported: note which targets they reach, and close rollbacks whose nodes all have.

    Called by the intake after each report, in its transaction. Returns the ids of rollbacks that closed.
    """
    ids = set(node_ids)
    mark_reached(queries.waiting_targets(ids))
    closed = []
    for change in queries.open_changes_on(ids, under_way_only=True).filter(kind=ChangeKind.ROLLBACK):
        if not _not_reached(change.targets.select_related("node")):
            _close_rollback(change)
            closed.append(change.pk)
    return closed


def mark_reached(targets: Iterable[Target]) -> None:
    """Note the time for each target that its node reports, and for each stage that is now complete."""
    held = list(targets)
    versions = reported_versions({target.node_id for target in held})
    now = clock.now()
    reached = [t for t in held if t.reached_at is None and reaches(t, versions.get(t.node_id, {}))]
    Target.objects.filter(pk__in=[target.pk for target in reached]).update(reached_at=now)
    open_targets = Target.objects.filter(stage=OuterRef("pk"), reached_at__isnull=True)
    Stage.objects.filter(
        ~Exists(open_targets), pk__in={target.stage_id for target in reached}, reached_at__isnull=True
    ).update(reached_at=now)


def reaches(target: Target, reported: dict[str, Reported]) -> bool:
    """Whether a node's report is what the target wants."""
    said = reported.get(target.component)
    if said is None:
        return False
    entry = entry_for(component(target.component), *target.values, rule=RuleKind.ONE_OF)
    return judge(entry, said.values).outcome is Outcome.MATCH


def _not_reached(targets: Iterable[Target]) -> list[str]:
    """Names of nodes that do not report their targets now, whatever they reported before."""
    held = list(targets)
    versions = reported_versions({target.node_id for target in held})
    missing: dict[str, list[str]] = defaultdict(list)
    for target in held:
        if not reaches(target, versions.get(target.node_id, {})):
            missing[target.node.name].append(target.component)
    return sorted(missing)


def _close_rollback(change: Change) -> None:
    actor = actors.system("rollback")
    change.refresh_from_db()
    if change.state == State.RUNNING:
        moves.move(change, to=State.VERIFYING, expected_version=change.version)
    moves.move(change, to=State.DONE, expected_version=change.version, ended_at=clock.now())
    change.stages.update(state=StageState.PASSED, passed_at=clock.now())
    fleet.release_holds(actor=actor, owner=change.owner, reason="all nodes report the restored versions")
    moves.note(actor, "rollback.done", change)


def _bump(change: Change, expected_version: int, to: State) -> None:
    """Move to the state, or count the version up where it stays."""
    if to.value != change.state:
        moves.move(change, to=to, expected_version=expected_version)
        return
    if not Change.objects.filter(pk=change.pk, version=expected_version).update(version=expected_version + 1):
        raise Conflict("the change was moved at the same moment", code="change_state")
    change.refresh_from_db()
