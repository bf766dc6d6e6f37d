"""Rollbacks: started at once with a reason, reviewed afterwards, done when the nodes report it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from django.conf import settings
from django.utils.translation import gettext as _

from apps.audit.services import decision
from apps.changes.engine.stages import StagePlan
from apps.changes.engine.states import State
from apps.changes.models import Change, ChangeKind, Snapshot
from apps.changes.queries import restoring
from apps.changes.services import moves
from apps.changes.services.drafting import Wish, plan_targets
from apps.changes.services.rollout import begin_next_stage, consider_reports, take_snapshot
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, NotAllowed
from apps.core.reasons import require_reason, says_something
from apps.core.rights import Right
from apps.core.texts import kept, say
from apps.environments.models import MatrixVersion
from apps.fleet import services as fleet
from apps.fleet.models import Domain, HoldKind, Node
from apps.fleet.queries import domain_for


@dataclass(frozen=True, slots=True, kw_only=True)
class Origin:
    """What led to a rollback: a name for people, and its page."""

    label: str = ""
    path: str = ""


@decision
def start_rollback(
    *,
    actor: Actor,
    domain_id: int,
    matrix_version_id: int | None = None,
    node_ids: Sequence[int] = (),
    reason: str,
    origin: Origin | None = None,
) -> Change:
    """Back to a matrix version that was known good (the newest one by default), on nodes that differ from it.

    node_ids: where to look; all nodes of the domain by default. Only what differs there is rolled back. Nodes
    that a failed change still holds are looked at too, and their holds pass to the rollback.
    Raises Conflict where nothing was ever known good, nothing differs, or a node is held; Missing, Invalid,
    NotAllowed.
    """
    domain = domain_for(actor, domain_id)
    person_id = _may_roll_back(actor, domain, reason)
    good = restoring.known_good_version(domain, matrix_version_id)
    stuck = restoring.stuck_changes(domain, node_ids)
    nodes = restoring.nodes_to_look_at(domain, node_ids, stuck)
    wishes = _wishes(restoring.differing_from(good, domain, nodes))
    if not wishes:
        raise Conflict(say("no node differs from %(good)s", good=good), code="nothing_differs")
    change = _begin(
        person_id,
        domain,
        say("Back to %(version)s", version=str(good)),
        reason,
        wishes,
        restores_version=good,
        origin=origin,
    )
    for failed in stuck:
        fleet.transfer_holds(actor=actor, from_owner=failed.owner, to_owner=change.owner, reason=change.named)
    _hold_rest(actor, change, wishes)
    return _run(actor, change, reason)


@decision
def roll_back_change(*, actor: Actor, change_id: int, expected_version: int, reason: str) -> Change:
    """Back to the snapshot before a change; its holds pass to the rollback in the same transaction.

    Raises Conflict where it never started, was rolled back already, or is itself a rollback; Invalid, Stale.
    """
    origin = moves.locked(actor, change_id)
    person_id = _may_roll_back(actor, origin.domain, reason)
    if origin.kind == ChangeKind.ROLLBACK:
        raise Conflict(
            _("a rollback is no target of a rollback; roll on to a known-good version"), code="is_rollback"
        )
    snapshot = Snapshot.objects.filter(change=origin).first()
    if snapshot is None:
        raise Conflict(_("the change has not started, there is nothing to go back from"), code="no_snapshot")
    wishes = _wishes(restoring.versions_before(origin, snapshot))
    if not wishes:
        raise Conflict(_("the snapshot does not know what the nodes ran before"), code="empty_snapshot")
    moves.move(
        origin,
        to=State.ROLLED_BACK,
        expected_version=expected_version,
        ended_at=clock.now(),
        ended_reason=reason.strip(),
    )
    change = _begin(
        person_id, origin.domain, say("Undo %(change)s", change=origin.named), reason, wishes, reverses=origin
    )
    fleet.transfer_holds(actor=actor, from_owner=origin.owner, to_owner=change.owner, reason=change.named)
    _hold_rest(actor, change, wishes)
    moves.note(actor, "change.rolled_back", origin, reason=reason, after={"rollback": change.pk})
    return _run(actor, change, reason)


@decision
def review_rollback(*, actor: Actor, change_id: int, expected_version: int, review: str) -> Change:
    """A second person looks at a rollback afterwards. Raises NotAllowed (four_eyes), Conflict, Stale, Invalid."""
    person_id = actor.require_person_present()
    change = moves.locked(actor, change_id, Right.APPROVE)
    if change.kind != ChangeKind.ROLLBACK or change.reviewed_at is not None:
        raise Conflict(_("there is nothing to review"), code="change_state", state=change.state)
    if person_id == change.requester_id:
        raise NotAllowed(_("a second person must review: you started it"), code="four_eyes")
    moves.require_version(change, expected_version)
    if not says_something(review):
        message = _("say what you found")
        raise Invalid(message, errors=[FieldError(pointer="/review", message=message)])
    Change.objects.filter(pk=change.pk).update(
        reviewed_by_id=person_id,
        reviewed_at=clock.now(),
        review=review.strip(),
        version=expected_version + 1,
    )
    change.refresh_from_db()
    moves.note(actor, "rollback.reviewed", change, reason=review)
    return moves.fresh(actor, change)


def _may_roll_back(actor: Actor, domain: Domain, reason: str) -> int:
    person_id = actor.require_person_present()
    moves.may_write(actor, domain.cluster.scope_id)
    actor.require_recent_password(now=clock.now(), within_s=settings.REAUTHENTICATE_AFTER_S)
    require_reason(reason)
    return person_id


def _wishes(versions: restoring.Wanted) -> dict[int, list[Wish]]:
    return {
        node_id: [Wish(component=name, values=values) for name, values in wanted.items()]
        for node_id, wanted in versions.items()
    }


def _begin(
    person_id: int,
    domain: Domain,
    title: str,
    reason: str,
    wishes: Mapping[int, Sequence[Wish]],
    *,
    reverses: Change | None = None,
    restores_version: MatrixVersion | None = None,
    origin: Origin | None = None,
) -> Change:
    now = clock.now()
    origin = origin or Origin()
    change = Change.objects.create(
        cluster=domain.cluster,
        domain=domain,
        kind=ChangeKind.ROLLBACK,
        title=title[:200],
        title_said=kept(title) or None,
        reason=reason.strip(),
        state=State.RUNNING.value,
        approvals_needed=0,
        requester_id=person_id,
        last_editor_id=person_id,
        executor_id=person_id,
        created_at=now,
        edited_at=now,
        started_at=now,
        reverses=reverses,
        restores_version=restores_version,
        origin_label=origin.label[:200],
        origin_path=origin.path[:200],
    )
    moves.note_editor(change)
    nodes = Node.objects.filter(pk__in=list(wishes)).order_by("index", "name")
    node_ids = tuple(nodes.values_list("pk", flat=True))
    one_stage = StagePlan(name="all nodes", node_ids=node_ids, soak_s=0)
    plan_targets(change, dict(wishes), [one_stage])
    moves.set_digest(change)
    return change


def _hold_rest(actor: Actor, change: Change, wishes: Mapping[int, Sequence[Wish]]) -> None:
    """Hold the nodes that no hold was taken over for. Raises Conflict where something else holds one."""
    held = set(restoring.held_for(change))
    if free := set(wishes) - held:
        fleet.take_holds(
            actor=actor, node_ids=free, kind=HoldKind.CHANGE, owner=change.owner, reason=change.named
        )


def _run(actor: Actor, change: Change, reason: str) -> Change:
    """Snapshot, start the one stage, and close at once where the nodes report the target already."""
    snapshot = take_snapshot(change)
    after = moves.summary_of(change) | {"snapshot": snapshot.digest}
    moves.note(actor, "rollback.started", change, reason=reason, after=after)
    begin_next_stage(actor, change)
    consider_reports(node_ids=change.targets.values_list("node_id", flat=True))
    return moves.fresh(actor, change)
