"""Rollbacks: started at once with a reason, reviewed afterwards, done when the nodes report it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings

from apps.audit.services import decision
from apps.catalogue.engine.components import RuleKind
from apps.changes import queries
from apps.changes.engine.stages import StagePlan
from apps.changes.engine.states import State
from apps.changes.models import Change, ChangeKind, Snapshot
from apps.changes.services import moves
from apps.changes.services.drafting import Wish, plan_targets
from apps.changes.services.rollout import begin_next_stage, consider_reports, take_snapshot
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, NotAllowed
from apps.core.rights import Right
from apps.environments import queries as environments
from apps.environments.engine.drift import Reported
from apps.environments.models import MatrixVersion
from apps.environments.queries import reported_versions
from apps.fleet import services as fleet
from apps.fleet.models import Domain, HoldKind, Node
from apps.fleet.queries import active_holds


@dataclass(frozen=True, slots=True, kw_only=True)
class RollbackPreview:
    """What a rollback would restore: the version, and (node, component, runs now, goes back to) row by row."""

    restores: MatrixVersion
    rows: tuple[tuple[str, str, str, str], ...]
    held: tuple[str, ...]  # nodes that something else holds


def preview_rollback(
    *, domain_id: int, matrix_version_id: int | None = None, node_ids: Sequence[int] = ()
) -> RollbackPreview:
    """What `start_rollback` would do, without doing it. Raises Conflict as it does."""
    domain = Domain.objects.select_related("cluster").get(pk=domain_id)
    good = _known_good(domain, matrix_version_id)
    nodes = _nodes_of(domain, node_ids)
    wishes = _wishes_of_matrix(good, nodes)
    versions = reported_versions(wishes)
    names = {node.pk: node.name for node in nodes}
    rows = [
        (names[pk], wish.component, _text(versions.get(pk, {}).get(wish.component)), " | ".join(wish.values))
        for pk, wanted in wishes.items()
        for wish in wanted
    ]
    held = active_holds(wishes).exclude(kind=HoldKind.QUARANTINE)
    return RollbackPreview(restores=good, rows=tuple(rows), held=tuple(hold.node.name for hold in held))


@decision
def start_rollback(
    *,
    actor: Actor,
    domain_id: int,
    matrix_version_id: int | None = None,
    node_ids: Sequence[int] = (),
    reason: str,
) -> Change:
    """Back to a matrix version that was known good (the newest one by default), on nodes that differ from it.

    node_ids: where to look; all nodes of the domain by default. Only what differs there is rolled back.
    Raises Conflict where nothing was ever known good, nothing differs, or a node is held; Invalid, NotAllowed.
    """
    domain = Domain.objects.select_related("cluster").get(pk=domain_id)
    person_id = _may_roll_back(actor, domain, reason)
    good = _known_good(domain, matrix_version_id)
    wishes = _wishes_of_matrix(good, _nodes_of(domain, node_ids))
    change = _begin(actor, person_id, domain, f"Back to {good}", reason, wishes, restores_version=good)
    fleet.take_holds(
        actor=actor, node_ids=list(wishes), kind=HoldKind.CHANGE, owner=change.owner, reason=str(change)
    )
    return _run(actor, change, reason)


@decision
def roll_back_change(*, actor: Actor, change_id: int, expected_version: int, reason: str) -> Change:
    """Back to the snapshot before a change; its holds pass to the rollback in the same transaction.

    Raises Conflict where it never started, was rolled back already, or is itself a rollback; Invalid, Stale.
    """
    origin = queries.change_for(actor, change_id)
    person_id = _may_roll_back(actor, origin.domain, reason)
    if origin.kind == ChangeKind.ROLLBACK:
        raise Conflict(
            "a rollback is no target of a rollback; roll on to a known-good version", code="is_rollback"
        )
    snapshot = Snapshot.objects.filter(change=origin).first()
    if snapshot is None:
        raise Conflict("the change has not started, there is nothing to go back from", code="no_snapshot")
    nodes = list(Node.objects.filter(pk__in=origin.targets.values("node")).order_by("index", "name"))
    wishes = _wishes_of_snapshot(origin, snapshot, nodes)
    moves.move(
        origin,
        to=State.ROLLED_BACK,
        expected_version=expected_version,
        ended_at=clock.now(),
        ended_reason=reason.strip(),
    )
    change = _begin(actor, person_id, origin.domain, f"Undo {origin}", reason, wishes, reverses=origin)
    moved = fleet.transfer_holds(
        actor=actor, from_owner=origin.owner, to_owner=change.owner, reason=str(change)
    )
    if not moved:
        fleet.take_holds(
            actor=actor, node_ids=list(wishes), kind=HoldKind.CHANGE, owner=change.owner, reason=str(change)
        )
    moves.note(actor, "change.rolled_back", origin, reason=reason, after={"rollback": change.pk})
    return _run(actor, change, reason)


@decision
def review_rollback(*, actor: Actor, change_id: int, expected_version: int, review: str) -> Change:
    """A second person looks at a rollback afterwards. Raises NotAllowed (four_eyes), Conflict, Invalid."""
    person_id = actor.require_person_present()
    change = queries.change_for(actor, change_id, Right.APPROVE)
    if change.kind != ChangeKind.ROLLBACK or change.reviewed_at is not None:
        raise Conflict("there is nothing to review", code="change_state", state=change.state)
    if person_id == change.requester_id:
        raise NotAllowed("a second person must review: you started it", code="four_eyes")
    if not review.strip():
        raise Invalid(
            "say what you found", errors=[FieldError(pointer="/review", message="a text is needed")]
        )
    moved = Change.objects.filter(pk=change_id, version=expected_version, reviewed_at__isnull=True).update(
        reviewed_by_id=person_id,
        reviewed_at=clock.now(),
        review=review.strip(),
        version=expected_version + 1,
    )
    if not moved:
        raise Conflict("the rollback was changed meanwhile", code="change_state", state=change.state)
    moves.note(actor, "rollback.reviewed", change, reason=review)
    return moves.fresh(actor, change)


def _may_roll_back(actor: Actor, domain: Domain, reason: str) -> int:
    person_id = actor.require_person_present()
    moves.may_write(actor, domain.cluster.scope_id)
    actor.require_recent_password(now=clock.now(), within_s=settings.REAUTHENTICATE_AFTER_S)
    if not reason.strip():
        raise Invalid("say why", errors=[FieldError(pointer="/reason", message="a reason is needed")])
    return person_id


def _nodes_of(domain: Domain, node_ids: Sequence[int]) -> list[Node]:
    nodes = list(Node.objects.in_use().under(domain).order_by("index", "name"))
    return [node for node in nodes if node.pk in set(node_ids)] if node_ids else nodes


def _text(reported: Reported | None) -> str:
    return " | ".join(reported.values) if reported else ""


def _known_good(domain: Domain, matrix_version_id: int | None) -> MatrixVersion:
    good = environments.known_good(domain)
    if matrix_version_id is not None:
        good = MatrixVersion.objects.filter(
            pk=matrix_version_id, matrix__cluster=domain.cluster, known_good_at__isnull=False
        ).first()
    if good is None:
        raise Conflict("nothing was known to be good here", code="no_known_good")
    return good


def _wishes_of_matrix(good: MatrixVersion, nodes: Sequence[Node]) -> dict[int, list[Wish]]:
    """Per node what differs from the exact versions that the matrix asks for. Raises Conflict where nothing does."""
    exact = {
        entry.component: entry
        for entry in environments.entries_of(good.entries.all())
        if entry.rule in (RuleKind.EXACT, RuleKind.ONE_OF) and entry.values
    }
    versions = reported_versions([node.pk for node in nodes])
    wishes: dict[int, list[Wish]] = {}
    for node in nodes:
        reported = versions.get(node.pk, {})
        differing = environments.differing(exact, reported)
        if differing:
            wishes[node.pk] = [Wish(component=name, values=exact[name].values) for name in differing]
    if not wishes:
        raise Conflict(f"no node differs from {good}", code="nothing_differs")
    return wishes


def _wishes_of_snapshot(origin: Change, snapshot: Snapshot, nodes: Sequence[Node]) -> dict[int, list[Wish]]:
    """Per node what it ran before of the components that the change touched. Raises Conflict where that is unknown."""
    before = queries.snapshot_versions(snapshot)
    touched = set(origin.targets.values_list("component", flat=True))
    wishes = {}
    for node in nodes:
        known = [
            Wish(component=name, values=tuple(values))
            for name, values in before.get(node.name, {}).items()
            if name in touched and values
        ]
        if known:
            wishes[node.pk] = known
    if not wishes:
        raise Conflict("the snapshot does not know what the nodes ran before", code="empty_snapshot")
    return wishes


def _begin(
    actor: Actor,
    person_id: int,
    domain: Domain,
    title: str,
    reason: str,
    wishes: Mapping[int, Sequence[Wish]],
    *,
    reverses: Change | None = None,
    restores_version: MatrixVersion | None = None,
) -> Change:
    now = clock.now()
    change = Change.objects.create(
        cluster=domain.cluster,
        domain=domain,
        kind=ChangeKind.ROLLBACK,
        title=title[:200],
        reason=reason.strip(),
        state=State.RUNNING.value,
        approvals_needed=0,
        requester_id=person_id,
        last_editor_id=person_id,
        executor_id=person_id,
        created_at=now,
        started_at=now,
        reverses=reverses,
        restores_version=restores_version,
    )
    nodes = list(Node.objects.filter(pk__in=list(wishes)).order_by("index", "name"))
    one_stage = StagePlan(name="all nodes", node_ids=tuple(node.pk for node in nodes), soak_s=0)
    plan_targets(change, nodes, dict(wishes), [one_stage])
    moves.set_digest(change)
    return change


def _run(actor: Actor, change: Change, reason: str) -> Change:
    """Snapshot, start the one stage, and close at once where the nodes report the target already."""
    take_snapshot(change)
    begin_next_stage(change)
    moves.note(actor, "rollback.started", change, reason=reason, after=moves.content_of(change))
    consider_reports(node_ids=change.targets.values_list("node_id", flat=True))
    return moves.fresh(actor, change)
