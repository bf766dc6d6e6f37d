"""Launches and where they stand now."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db.models import Count, Q, QuerySet

from apps.accounts.queries import active_person_ids
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.core.verdicts import Verdict
from apps.launches.engine.standing import EXIT_CODES, ExitCode, Standing, standing_of
from apps.launches.models import Evaluation, Launch
from apps.launches.queries.inputs import current_inputs


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Where a launch stands, and on what.

    changed: names of inputs that are not what the evaluation rests on any more.
    """

    standing: Standing
    evaluation: Evaluation | None
    changed: tuple[str, ...] = ()
    is_expired: bool = False

    @property
    def is_stale(self) -> bool:
        """Whether the evaluation no longer stands: its time is over, or an input has changed."""
        return self.is_expired or bool(self.changed)

    @property
    def exit_code(self) -> ExitCode:
        return EXIT_CODES[self.standing]


def launches_visible(actor: Actor) -> QuerySet[Launch]:
    """Launches of clusters that the actor may read, newest first."""
    rows = Launch.objects.select_related("cluster", "domain", "template", "plan__plan", "opened_by")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def launch_for(actor: Actor, launch_id: uuid.UUID | str, right: Right = Right.READ) -> Launch:
    """One launch. Raises Missing, NotAllowed."""
    try:
        launch = launches_visible(actor).filter(pk=launch_id).first()
    except ValidationError:
        launch = None
    if launch is None:
        raise Missing("there is no such launch, or you may not see it")
    actor.require(right, launch.cluster.scope_id)
    return launch


def evaluation_for(actor: Actor, evaluation_id: uuid.UUID | str) -> Evaluation:
    """One evaluation with its launch. Raises Missing."""
    try:
        evaluation = (
            Evaluation.objects.select_related("launch__cluster", "launch__domain", "launch__template")
            .filter(pk=evaluation_id)
            .first()
        )
    except ValidationError:
        evaluation = None
    if evaluation is None or not actor.may(Right.READ, evaluation.launch.cluster.scope_id):
        raise Missing("there is no such evaluation, or you may not see it")
    return evaluation


def on_exactly(launches: QuerySet[Launch], names: list[str]) -> QuerySet[Launch]:
    """Of these launches those whose nodes are exactly the ones named, by name."""
    wanted = sorted(set(names))
    return launches.annotate(
        node_count=Count("nodes", distinct=True),
        named_count=Count("nodes", filter=Q(nodes__node__name__in=wanted), distinct=True),
    ).filter(node_count=len(wanted), named_count=len(wanted))


def decision_of(launch: Launch, *, now: datetime | None = None) -> Decision:
    """Where the launch stands: its newest evaluation, held against the inputs as they are now."""
    evaluation = launch.evaluations.select_related("matrix_version").first()
    if evaluation is None:
        return Decision(standing=Standing.PENDING, evaluation=None)
    return decision_on(launch, evaluation, now=now)


def decision_on(launch: Launch, evaluation: Evaluation, *, now: datetime | None = None) -> Decision:
    """Where one evaluation of a launch stands now; an older one than the newest is stale."""
    if evaluation.done_at is None:
        return Decision(standing=Standing.PENDING, evaluation=evaluation)
    now = now or clock.now()
    current = current_inputs(launch)
    names = sorted(set(current) | set(evaluation.inputs))
    changed = tuple(name for name in names if current.get(name) != evaluation.inputs.get(name))
    newest = launch.evaluations.filter(done_at__isnull=False).first()
    if newest is not None and newest.pk != evaluation.pk:
        changed += ("newer_evaluation",)
    is_expired = evaluation.valid_until is None or evaluation.valid_until <= now
    signatures = list(evaluation.sign_offs.values_list("person_id", "go"))
    active = active_person_ids({person_id for person_id, _go in signatures})
    standing = standing_of(
        verdict=Verdict(evaluation.verdict),
        is_stale=is_expired or bool(changed),
        signed_go=sum(go for person_id, go in signatures if person_id in active),
        signed_no_go=sum(not go for _person_id, go in signatures),
        needed=launch.template.sign_offs,
    )
    return Decision(standing=standing, evaluation=evaluation, changed=changed, is_expired=is_expired)
