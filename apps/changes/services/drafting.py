"""Asking for a change: drafted, edited, submitted, taken back."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from django.utils.translation import gettext as _

from apps.audit.services import decision
from apps.changes.engine.stages import DEFAULT_SOAK_S, StagePlan, default_stages
from apps.changes.engine.states import EDITABLE, State
from apps.changes.models import Change, ChangeKind, Stage, Target
from apps.changes.services import moves
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, NotAllowed
from apps.core.reasons import require_reason, says_something
from apps.core.texts import say, word
from apps.environments.queries import reported_versions
from apps.fleet.models import Accelerator, Domain, Node
from apps.fleet.queries import domain_for

MOST_APPROVALS = 5
LONGEST_SOAK_S = 7 * 86400


@dataclass(frozen=True, slots=True, kw_only=True)
class Wish:
    """What a component is to become: any of these raw versions."""

    component: str
    values: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Content:
    """What a change says, beside its domain and its nodes.

    wishes: what is to run on every node. soak_s: how long the first and the second stage hold, in seconds.
    """

    title: str
    reason: str
    wishes: tuple[Wish, ...]
    back_out: str = ""
    approvals_needed: int = 1
    soak_s: tuple[int, ...] = DEFAULT_SOAK_S


@decision
def draft_change(
    *,
    actor: Actor,
    domain_id: int,
    kind: str,
    content: Content,
    node_ids: Sequence[int] = (),
) -> Change:
    """A draft for nodes of one domain (all of them where none are named), in the default stages.

    Raises Invalid (kind, title, reason, wishes, nodes), Missing, NotAllowed where no person asks.
    """
    domain = domain_for(actor, domain_id)
    moves.may_write(actor, domain.cluster.scope_id)
    if actor.person_id is None:
        raise NotAllowed(_("a change is asked for by a person or a service account"), code="person_required")
    content = _checked(kind, content)
    nodes = _nodes(domain, node_ids)
    now = clock.now()
    change = Change.objects.create(
        cluster=domain.cluster,
        domain=domain,
        kind=kind,
        title=content.title,
        reason=content.reason,
        back_out=content.back_out,
        approvals_needed=content.approvals_needed,
        requester_id=actor.person_id,
        last_editor_id=actor.person_id,
        created_at=now,
        edited_at=now,
    )
    moves.note_editor(change)
    _plan(change, nodes, content)
    moves.set_digest(change)
    moves.note(actor, "change.drafted", change, after=moves.summary_of(change), reason=content.reason)
    return moves.fresh(actor, change)


@decision
def edit_change(
    *,
    actor: Actor,
    change_id: int,
    expected_version: int,
    content: Content,
    node_ids: Sequence[int] = (),
) -> Change:
    """Change a change before it starts. It goes back to draft, and approvals of what it was count no more.

    What changes nothing writes nothing. Raises Stale, Conflict where it has started or is over, Invalid.
    """
    change = moves.locked(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    if actor.person_id is None:
        raise NotAllowed(_("a change is edited by a person or a service account"), code="person_required")
    moves.require_version(change, expected_version)
    if change.state not in EDITABLE:
        raise Conflict(
            say("the change is %(state)s, it cannot be edited", state=word(change.state)),
            code="change_state",
            state=change.state,
        )
    content = _checked(change.kind, content)
    nodes = _nodes(change.domain, node_ids)
    if _is_same(change, nodes, content) and moves.says_what_was_asked(change):
        return change
    before = moves.summary_of(change)
    change.title, change.reason, change.back_out = content.title, content.reason, content.back_out
    change.approvals_needed = content.approvals_needed
    change.last_editor_id, change.edited_at = actor.person_id, clock.now()
    change.revision += 1
    change.version += 1
    change.state = State.DRAFT.value
    change.save()
    moves.note_editor(change)
    change.targets.all().delete()
    change.stages.all().delete()
    _plan(change, nodes, content)
    moves.set_digest(change)
    moves.note(actor, "change.edited", change, before=before, after=moves.summary_of(change))
    return moves.fresh(actor, change)


@decision
def submit_change(*, actor: Actor, change_id: int, expected_version: int) -> Change:
    """Ask for approval. Raises Conflict where it is no draft, Stale."""
    change = moves.locked(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    moves.move(change, to=State.SUBMITTED, expected_version=expected_version, submitted_at=clock.now())
    moves.note(actor, "change.submitted", change, after={"digest": change.content_digest})
    return moves.fresh(actor, change)


@decision
def cancel_change(*, actor: Actor, change_id: int, expected_version: int, reason: str) -> Change:
    """Take a change back before it starts. Raises Invalid, Conflict where it has started or is over, Stale."""
    change = moves.locked(actor, change_id)
    moves.may_write(actor, change.cluster.scope_id)
    text = require_reason(reason)
    moves.move(
        change,
        to=State.CANCELLED,
        expected_version=expected_version,
        ended_at=clock.now(),
        ended_reason=text,
    )
    moves.note(actor, "change.cancelled", change, reason=text)
    return moves.fresh(actor, change)


def stages_for(nodes: Sequence[Node], soak_s: Sequence[int] = DEFAULT_SOAK_S) -> tuple[StagePlan, ...]:
    """The stages in which a change of these nodes would go."""
    return default_stages(_with_sub_domain(nodes), soak_s=soak_s)


def plan_targets(change: Change, wishes_of: dict[int, Sequence[Wish]], stages: Sequence[StagePlan]) -> None:
    """Write stages and targets, with what each node runs now beside what it is to run."""
    versions = reported_versions(list(wishes_of))
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


def _plan(change: Change, nodes: Sequence[Node], content: Content) -> None:
    plan_targets(change, {node.pk: content.wishes for node in nodes}, stages_for(nodes, content.soak_s))


def _with_sub_domain(nodes: Sequence[Node]) -> list[tuple[int, str]]:
    cards = Accelerator.objects.filter(node__in=nodes, index=0).values_list("node_id", "sub_domain__name")
    home = dict(cards)
    return [(node.pk, home.get(node.pk) or "") for node in nodes]


def _nodes(domain: Domain, node_ids: Sequence[int]) -> list[Node]:
    nodes = Node.objects.in_use().under(domain).order_by("index", "name")
    found = list(nodes.filter(pk__in=node_ids)) if node_ids else list(nodes)
    if not found or (node_ids and len(found) != len(set(node_ids))):
        message = (
            say("not all of these nodes are in use in %(name)s", name=domain.name)
            if node_ids
            else say("%(name)s has no nodes in use", name=domain.name)
        )
        raise Invalid(message, errors=[FieldError(pointer="/nodes", message=message)])
    return found


def _is_same(change: Change, nodes: Sequence[Node], content: Content) -> bool:
    held = (change.title, change.reason, change.back_out, change.approvals_needed)
    asked = (content.title, content.reason, content.back_out, content.approvals_needed)
    targets = {(row.node_id, row.component): tuple(row.values) for row in change.targets.all()}
    wanted = {(node.pk, wish.component): wish.values for node in nodes for wish in content.wishes}
    soaks = [stage.soak_s for stage in change.stages.all()]
    planned = [stage.soak_s for stage in stages_for(nodes, content.soak_s)]
    return held == asked and targets == wanted and soaks == planned


def _checked(kind: str, content: Content) -> Content:
    """The content without blanks around its texts. Raises Invalid that names everything that is wrong."""
    errors = [*_wrong_texts(kind, content), *_wrong_wishes(content.wishes)]
    if not 1 <= content.approvals_needed <= MOST_APPROVALS:
        message = say("say 1 to %(most_approvals)s", most_approvals=MOST_APPROVALS)
        errors.append(FieldError(pointer="/approvals_needed", message=message))
    if len(content.soak_s) != len(DEFAULT_SOAK_S) or not all(
        0 <= soak_s <= LONGEST_SOAK_S for soak_s in content.soak_s
    ):
        message = say(
            "say %(count)s times of 0 to %(longest_soak_s)s s",
            count=len(DEFAULT_SOAK_S),
            longest_soak_s=LONGEST_SOAK_S,
        )
        errors.append(FieldError(pointer="/soak_s", message=message))
    if errors:
        raise Invalid(errors[0].message, code="change", errors=errors)
    return Content(
        title=content.title.strip()[:200],
        reason=content.reason.strip(),
        back_out=content.back_out.strip(),
        approvals_needed=content.approvals_needed,
        soak_s=tuple(content.soak_s),
        wishes=tuple(
            Wish(component=wish.component.strip(), values=tuple(v.strip() for v in wish.values if v.strip()))
            for wish in content.wishes
        ),
    )


def _wrong_texts(kind: str, content: Content) -> list[FieldError]:
    errors = []
    if kind not in ChangeKind.values or kind == ChangeKind.ROLLBACK:
        kinds = ", ".join(value for value in ChangeKind.values if value != ChangeKind.ROLLBACK)
        errors.append(
            FieldError(pointer="/kind", message=say("%(kind)s: say one of %(kinds)s", kind=kind, kinds=kinds))
        )
    if not says_something(content.title):
        errors.append(FieldError(pointer="/title", message=_("say what is changed")))
    if not says_something(content.reason):
        errors.append(FieldError(pointer="/reason", message=_("say why")))
    return errors


def _wrong_wishes(wishes: Sequence[Wish]) -> list[FieldError]:
    if not wishes:
        return [FieldError(pointer="/items", message=_("name at least one component and its version"))]
    errors, seen = [], set()
    for place, wish in enumerate(wishes):
        name = wish.component.strip()
        if not name or len(name) > 60 or not any(value.strip() for value in wish.values):
            errors.append(FieldError(pointer=f"/items/{place}", message=_("name a component and a version")))
        elif name in seen:
            errors.append(
                FieldError(
                    pointer=f"/items/{place}/component", message=say("%(name)s is named twice", name=name)
                )
            )
        seen.add(name)
    return errors
