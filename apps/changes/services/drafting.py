"""Asking for a change: drafted, edited, submitted, taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import F

from apps.audit.services import decision
from apps.changes import queries
from apps.changes.engine.stages import StagePlan, default_stages
from apps.changes.engine.states import EDITABLE, State
from apps.changes.models import Change, ChangeKind, Stage, Target
from apps.changes.services import moves
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, NotAllowed, Stale
from apps.environments.queries import reported_versions
from apps.fleet.models import Accelerator, Domain, Node


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a component is to become: any of these raw versions."""

    component: str
    values: tuple[str, ...]


@decision
def draft_change(
    *,
    actor: Actor,
    domain_id: int,
    kind: str,
    title: str,
    reason: str,
    wishes: Sequence[Wish],
    node_ids: Sequence[int] = (),
    back_out: str = "",
) -> Change:
    """A draft for nodes of one domain (all of them where none are named), in the default stages.

    Raises Invalid (kind, title, reason, wishes, nodes), NotAllowed where no person asks.
    """
    domain = Domain.objects.select_related("cluster").get(pk=domain_id)
    moves.may_write(actor, domain.cluster.scope_id)
    if actor.person_id is None:
        raise NotAllowed("a change is asked for by a person or a service account", code="person_required")
    _check(kind, title, reason, wishes)
    nodes = _nodes(domain, node_ids)
    change = Change.objects.create(
        cluster=domain.cluster,
        domain=domain,
        kind=kind,
        title=title.strip()[:200],
        reason=reason.strip(),
        back_out=back_out.strip(),
        requester_id=actor.person_id,
        last_editor_id=actor.person_id,
        created_at=clock.now(),
    )
    plan_targets(change, nodes, {node.pk: wishes for node in nodes})
    moves.set_digest(change)
    moves.note(actor, "change.drafted", change, after=moves.content_of(change), reason=reason)
    return moves.fresh(actor, change)


@decision
def edit_change(
    *,
    actor: Actor,
    change_id: int,
    expected_version: int,
    title: str,
    reason: str,
    wishes: Sequence[Wish],
    node_ids: Sequence[int] = (),
    back_out: str = "",
) -> Change:
    """Change a change before it starts. It goes back to draft, and approvals of its old content count no more.

    Raises Stale, Conflict where it has started or is over, Invalid.
    """
    change = queries.change_for(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    _check(change.kind, title, reason, wishes)
    nodes = _nodes(change.domain, node_ids)
    before = moves.content_of(change)
    moved = Change.objects.filter(
        pk=change_id, version=expected_version, state__in=[state.value for state in EDITABLE]
    ).update(
        title=title.strip()[:200],
        reason=reason.strip(),
        back_out=back_out.strip(),
        last_editor_id=actor.person_id,
        state=State.DRAFT.value,
        version=F("version") + 1,
    )
    if not moved:
        _refuse_edit(change, expected_version)
    change.refresh_from_db()
    change.targets.all().delete()
    change.stages.all().delete()
    plan_targets(change, nodes, {node.pk: wishes for node in nodes})
    moves.set_digest(change)
    moves.note(actor, "change.edited", change, before=before, after=moves.content_of(change))
    return moves.fresh(actor, change)


@decision
def submit_change(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """Ask for approval. Raises Conflict where it is no draft, Stale."""
    change = queries.change_for(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    moves.move(change, to=State.SUBMITTED, expected_version=expected_version, submitted_at=clock.now())
    moves.note(actor, "change.submitted", change, after={"digest": change.content_digest})
    return moves.fresh(actor, change)


@decision
def cancel_change(*, actor: Actor, change_id: int, expected_version: int, reason: str) -> Change:
    """Take a change back before it starts. Raises Conflict where it has started or is over, Stale."""
    change = queries.change_for(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    moves.move(
        change,
        to=State.CANCELLED,
        expected_version=expected_version,
        ended_at=clock.now(),
        ended_reason=reason.strip(),
    )
    moves.note(actor, "change.cancelled", change, reason=reason)
    return moves.fresh(actor, change)


def plan_targets(
    change: Change,
    nodes: Sequence[Node],
    wishes_of: dict[int, Sequence[Wish]],
    stages: Sequence[StagePlan] | None = None,
) -> None:
    """Write stages and targets, with what each node runs now beside what it is to run."""
    stages = default_stages(_with_sub_domain(nodes)) if stages is None else stages
    versions = reported_versions([node.pk for node in nodes])
    targets = []
    for number, plan in enumerate(stages, start=1):
        stage = Stage.objects.create(change=change, number=number, name=plan.name, soak_s=plan.soak_s)
        for node_id in plan.node_ids:
            for wish in wishes_of[node_id]:
                reported = versions.get(node_id, {}).get(wish.component)
                targets.append(
                    Target(
                        change=change,
                        stage=stage,
                        node_id=node_id,
                        component=wish.component,
                        values=list(wish.values),
                        before=" | ".join(reported.values)[:300] if reported else "",
                    )
                )
    Target.objects.bulk_create(targets, batch_size=500)


def _with_sub_domain(nodes: Sequence[Node]) -> list[tuple[int, str]]:
    cards = Accelerator.objects.filter(node__in=nodes, index=0).select_related("sub_domain")
    home = {card.node_id: card.sub_domain.name if card.sub_domain else "" for card in cards}
    return [(node.pk, home.get(node.pk, "")) for node in nodes]


def _nodes(domain: Domain, node_ids: Sequence[int]) -> list[Node]:
    nodes = Node.objects.in_use().under(domain).order_by("index", "name")
    if not node_ids:
        return list(nodes)
    found = list(nodes.filter(pk__in=node_ids))
    if len(found) != len(set(node_ids)):
        message = f"not all of these nodes are in use in {domain.name}"
        raise Invalid(message, errors=[FieldError(pointer="/nodes", message=message)])
    return found


def _check(kind: str, title: str, reason: str, wishes: Sequence[Wish]) -> None:
    errors = []
    if kind not in ChangeKind.values or kind == ChangeKind.ROLLBACK:
        kinds = ", ".join(value for value in ChangeKind.values if value != ChangeKind.ROLLBACK)
        errors.append(FieldError(pointer="/kind", message=f"{kind}: say one of {kinds}"))
    if not title.strip():
        errors.append(FieldError(pointer="/title", message="say what is changed"))
    if not reason.strip():
        errors.append(FieldError(pointer="/reason", message="say why"))
    if not wishes:
        errors.append(FieldError(pointer="/items", message="name at least one component and its version"))
    for place, wish in enumerate(wishes):
        if not wish.component.strip() or not any(value.strip() for value in wish.values):
            errors.append(FieldError(pointer=f"/items/{place}", message="name a component and a version"))
        if any(wish.component == other.component for other in wishes[:place]):
            errors.append(FieldError(pointer=f"/items/{place}/component", message="named twice"))
    if errors:
        raise Invalid(errors[0].message, code="change", errors=errors)


def _refuse_edit(change: Change, expected_version: int) -> None:
    change.refresh_from_db()
    if change.version != expected_version:
        raise Stale(f"the change was edited meanwhile (now version {change.version})", version=change.version)
    raise Conflict(
        f"the change is {change.state}, it cannot be edited", code="change_state", state=change.state
    )
