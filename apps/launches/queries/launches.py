"""Launches and where they stand now."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.core.exceptions import ValidationError
from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from apps.accounts.queries import people_with
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.core.verdicts import Verdict
from apps.jobs.models import JobState
from apps.launches.engine.checklist import parse_items
from apps.launches.engine.standing import EXIT_CODES, ExitCode, Standing, standing_of
from apps.launches.engine.telling import Ground, Told, told
from apps.launches.models import Evaluation, Launch, LaunchEditor, LaunchState, SignOff
from apps.launches.queries.inputs import current_inputs, inputs_of

_LOST = (JobState.FAILED, JobState.CANCELLED, JobState.SKIPPED)


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """Where a launch stands, and on what.

    changed: names of inputs that are not what the evaluation rests on any more. has_failed: the job that was to
    evaluate ended without doing so. over: the state of a launch that has ended; nothing lets its job start any more.
    """

    standing: Standing
    evaluation: Evaluation | None
    changed: tuple[str, ...] = ()
    is_expired: bool = False
    has_failed: bool = False
    over: str = ""

    @property
    def is_stale(self) -> bool:
        """Whether the evaluation no longer stands: its time is over, or an input has changed."""
        return self.is_expired or bool(self.changed)

    @property
    def exit_code(self) -> ExitCode:
        return EXIT_CODES[self.standing]

    @property
    def told(self) -> Told:
        """Why it stands there, and what helps; English, for the API."""
        ground = Ground(
            items=self.evaluation.items if self.evaluation else (),
            changed=self.changed,
            is_expired=self.is_expired,
            is_asked=self.evaluation is not None,
            has_failed=self.has_failed,
            over=self.over,
        )
        return told(self.standing, ground)


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
        raise Missing(_("there is no such launch, or you may not see it"))
    actor.require(right, launch.cluster.scope_id)
    return launch


def evaluation_for(actor: Actor, evaluation_id: uuid.UUID | str) -> Evaluation:
    """One evaluation with its launch. Raises Missing."""
    try:
        evaluation = (
            Evaluation.objects.select_related(
                "launch__cluster", "launch__domain", "launch__template", "launch__plan", "job"
            )
            .filter(pk=evaluation_id)
            .first()
        )
    except ValidationError:
        evaluation = None
    if evaluation is None or not actor.may(Right.READ, evaluation.launch.cluster.scope_id):
        raise Missing(_("there is no such evaluation, or you may not see it"))
    return evaluation


def manual_items(launch: Launch) -> list[str]:
    """Keys of the items that people answer."""
    return [item.key for item in parse_items(launch.template.items) if item.manual]


def editors_of(launches: Sequence[Launch]) -> dict[uuid.UUID, set[int]]:
    """Launch id to the people who had a hand in it, by themselves or by a token, in one query."""
    found = {launch.pk: {launch.opened_by_id} for launch in launches}
    rows = LaunchEditor.objects.filter(launch__in=list(found))
    for launch_id, person_id in rows.order_by().values_list("launch_id", "person_id"):
        found[launch_id].add(person_id)
    return found


def on_exactly(launches: QuerySet[Launch], names: list[str]) -> QuerySet[Launch]:
    """Of these launches those whose nodes are exactly the ones named, by name."""
    wanted = sorted(set(names))
    return launches.annotate(
        node_count=Count("nodes", distinct=True),
        named_count=Count("nodes", filter=Q(nodes__node__name__in=wanted), distinct=True),
    ).filter(node_count=len(wanted), named_count=len(wanted))


def decision_of(launch: Launch, *, now: datetime | None = None) -> Decision:
    """Where the launch stands: its newest evaluation, held against the inputs as they are now."""
    return decisions_of([launch], now=now)[launch.pk]


def decisions_of(launches: Sequence[Launch], *, now: datetime | None = None) -> dict[uuid.UUID, Decision]:
    """Launch id to where it stands, for a whole page of launches.

    The number of queries grows with the clusters and domains of the launches, not with the launches.
    """
    newest = (
        Evaluation.objects.filter(launch=OuterRef("pk")).order_by("-requested_at", "-job_id").values("pk")
    )
    found = Evaluation.objects.filter(
        pk__in=Launch.objects.filter(pk__in=[launch.pk for launch in launches])
        .annotate(newest=Subquery(newest[:1]))
        .values("newest")
    ).select_related("matrix_version__matrix", "job")
    evaluations = {evaluation.launch_id: evaluation for evaluation in found}
    done = [launch for launch in launches if launch.pk in evaluations and evaluations[launch.pk].done_at]
    inputs = inputs_of(done) if done else {}
    voices = _voices([evaluations[launch.pk] for launch in done], done)
    now = now or clock.now()
    decisions = {}
    for launch in launches:
        evaluation = evaluations.get(launch.pk)
        if evaluation is None or evaluation.done_at is None:
            decisions[launch.pk] = _undone(launch, evaluation)
        else:
            decisions[launch.pk] = _decided(
                launch, evaluation, inputs[launch.pk], voices[evaluation.pk], now=now
            )
    return decisions


def shown_states(launches: Sequence[Launch]) -> dict[uuid.UUID, str]:
    """Launch id to what a list says of it: where the gate of an open one stands, else that it runs or how it ended."""
    decided = decisions_of([launch for launch in launches if launch.state == LaunchState.OPEN])
    return {
        launch.pk: decided[launch.pk].standing.value if launch.pk in decided else launch.state
        for launch in launches
    }


def decision_on(launch: Launch, evaluation: Evaluation, *, now: datetime | None = None) -> Decision:
    """Where one evaluation of a launch stands now; an older one than the newest is stale."""
    if evaluation.done_at is None:
        return _undone(launch, evaluation)
    return _decisions_on(launch, [evaluation], now=now)[0]


def history_of(launch: Launch, *, limit: int) -> tuple[Decision, list[Decision]]:
    """Where the launch stands, and where each of its last done evaluations does, newest first.

    The inputs as they are now are computed once for all of them.
    """
    rows = launch.evaluations.select_related("matrix_version__matrix", "job")
    rows = rows.order_by("-requested_at", "-job_id")
    newest = rows.first()
    done = _decisions_on(launch, list(rows.filter(done_at__isnull=False)[:limit]))
    return (done[0] if newest is not None and newest.done_at else _undone(launch, newest)), done


def _decisions_on(
    launch: Launch, evaluations: Sequence[Evaluation], *, now: datetime | None = None
) -> list[Decision]:
    """Where each of these evaluations of a launch stands now; all of them are done."""
    if not evaluations:
        return []
    newest = launch.evaluations.filter(done_at__isnull=False).order_by("-requested_at", "-job_id").first()
    current, voices = current_inputs(launch), _voices(evaluations, [launch])
    return [
        _decided(
            launch,
            evaluation,
            current,
            voices[evaluation.pk],
            now=now or clock.now(),
            also_changed=() if newest == evaluation else ("newer_evaluation",),
        )
        for evaluation in evaluations
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Voices:
    """Signatures on an evaluation: those for it that still count, and those against it."""

    go: int = 0
    no_go: int = 0


def _voices(evaluations: Sequence[Evaluation], launches: Sequence[Launch]) -> dict[uuid.UUID, _Voices]:
    """A signature for GO counts while its giver may still sign here and did not edit; one against always does."""
    by_launch = {launch.pk: launch for launch in launches}
    able: dict[int, set[int]] = {}
    signed: dict[uuid.UUID, list[tuple[int, bool]]] = {evaluation.pk: [] for evaluation in evaluations}
    rows = SignOff.objects.filter(evaluation__in=list(signed)).values_list("evaluation_id", "person_id", "go")
    for evaluation_id, person_id, go in rows:
        signed[evaluation_id].append((person_id, go))
    editors = editors_of(launches)
    found = {}
    for evaluation in evaluations:
        voices = signed[evaluation.pk]
        scope_id = by_launch[evaluation.launch_id].cluster.scope_id
        if voices and scope_id not in able:
            able[scope_id] = {person.pk for person in people_with(Right.SIGN, scope_id=scope_id)}
        counting = able.get(scope_id, set()) - editors[evaluation.launch_id]
        found[evaluation.pk] = _Voices(
            go=sum(go and person_id in counting for person_id, go in voices),
            no_go=sum(not go for _person_id, go in voices),
        )
    return found


def _undone(launch: Launch, evaluation: Evaluation | None) -> Decision:
    """Pending while a worker is expected; unknown where its job ended without an evaluation."""
    if launch.is_over:
        return _over(launch, evaluation)
    if evaluation is not None and evaluation.job is not None and evaluation.job.state in _LOST:
        return Decision(standing=Standing.UNKNOWN, evaluation=evaluation, has_failed=True)
    return Decision(standing=Standing.PENDING, evaluation=evaluation)


def _decided(
    launch: Launch,
    evaluation: Evaluation,
    current: Mapping[str, str],
    voices: _Voices,
    *,
    now: datetime,
    also_changed: tuple[str, ...] = (),
) -> Decision:
    if launch.is_over:
        return _over(launch, evaluation)
    names = sorted(set(current) | set(evaluation.inputs))
    changed = tuple(name for name in names if current.get(name) != evaluation.inputs.get(name)) + also_changed
    is_expired = evaluation.valid_until is None or evaluation.valid_until <= now
    standing = standing_of(
        verdict=Verdict(evaluation.verdict),
        is_stale=is_expired or bool(changed),
        signed_go=voices.go,
        signed_no_go=voices.no_go,
        needed=launch.template.sign_offs,
    )
    return Decision(standing=standing, evaluation=evaluation, changed=changed, is_expired=is_expired)


def _over(launch: Launch, evaluation: Evaluation | None) -> Decision:
    """A signature lets one job start: what asks after its end is another job."""
    return Decision(standing=Standing.UNKNOWN, evaluation=evaluation, over=launch.state)
