"""Launches: opened, edited, started, finished, cancelled."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db.models import F
from django.urls import reverse
from django.utils.translation import gettext as _

from apps.accounts.queries import token_makers
from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, NotAllowed, Stale
from apps.core.reasons import require_reason, says_something
from apps.core.rights import Right, TokenScope
from apps.core.texts import say, word
from apps.environments import services as environments
from apps.fleet import services as fleet
from apps.fleet.models import Domain, HoldKind, Node
from apps.fleet.queries import domain_for
from apps.jobs.services.webhooks import announce
from apps.launches import queries
from apps.launches.engine.standing import STANDING_WORDS, Standing
from apps.launches.models import Evaluation, Launch, LaunchEditor, LaunchNode, LaunchState
from apps.launches.services.templates import standard_template
from apps.planning.models import PlanVersion


@decision
def open_launch(
    *,
    actor: Actor,
    domain_id: int,
    title: str,
    node_ids: Sequence[int] = (),
    plan_version_id: int | None = None,
    job_environment: str = "",
) -> Launch:
    """Open a launch on nodes of one domain in rank order (all of them in their order where none are named).

    Raises Invalid (title, nodes, plan), NotAllowed.
    """
    domain = domain_for(actor, domain_id)
    may_write(actor, domain.cluster.scope_id)
    if actor.person_id is None:
        raise NotAllowed(_("a launch is opened by a person or a service account"), code="person_required")
    nodes = _nodes(domain, node_ids)
    _check_title(title)
    launch = Launch.objects.create(
        cluster=domain.cluster,
        domain=domain,
        title=title.strip()[:200],
        template=standard_template(),
        plan=_plan(domain, plan_version_id),
        job_environment=job_environment.replace("\x00", ""),
        opened_by_id=actor.person_id,
        opened_at=clock.now(),
    )
    LaunchNode.objects.bulk_create(
        LaunchNode(launch=launch, node=node, place=place) for place, node in enumerate(nodes)
    )
    _note_editor(actor, launch)
    note(actor, "launch.opened", launch, after=_facts(launch) | {"nodes": [node.name for node in nodes]})
    return queries.launch_for(actor, launch.pk)


@decision
def edit_launch(
    *,
    actor: Actor,
    launch_id: Any,
    expected_version: int,
    title: str,
    plan_version_id: int | None,
    job_environment: str,
) -> Launch:
    """Change an open launch; evaluations of what it was no longer stand. Raises Stale, Conflict, Invalid."""
    launch = locked(actor, launch_id)
    may_write(actor, launch.cluster.scope_id)
    _check_title(title)
    before = _facts(launch)
    plan = _plan(launch.domain, plan_version_id)
    move(
        launch,
        LaunchState.OPEN,
        LaunchState.OPEN,
        expected_version,
        title=title.strip()[:200],
        plan=plan,
        job_environment=job_environment.replace("\x00", ""),
    )
    launch = queries.launch_for(actor, launch_id)
    if _facts(launch) != before:
        _note_editor(actor, launch)
        note(actor, "launch.edited", launch, before=before, after=_facts(launch))
    return launch


@decision
def start_launch(*, actor: Actor, launch_id: Any, expected_version: int) -> Launch:
    """The job starts: only on GO. Its nodes are held for training, and the matrix has earned known-good.

    Raises Conflict: launch_state where it runs or is over, gate_closed with where it stands; Stale.
    """
    launch = locked(actor, launch_id)
    may_write(actor, launch.cluster.scope_id)
    if launch.state != LaunchState.OPEN:
        raise not_in_state(launch)
    decided = queries.decision_of(launch)
    if decided.standing is not Standing.GO or decided.evaluation is None:
        raise Conflict(
            say("the gate is %(standing)s", standing=STANDING_WORDS[decided.standing]),
            code="gate_closed",
            standing=decided.standing.value,
        )
    move(launch, LaunchState.OPEN, LaunchState.RUNNING, expected_version, started_at=clock.now())
    node_ids = list(launch.nodes.values_list("node_id", flat=True))
    fleet.take_holds(
        actor=actor, node_ids=node_ids, kind=HoldKind.TRAINING, owner=launch.owner, reason=launch.title
    )
    note(actor, "launch.started", launch, after={"evaluation": str(decided.evaluation.pk)})
    _earn_known_good(actor, launch, decided.evaluation)
    return queries.launch_for(actor, launch_id)


@decision
def finish_launch(*, actor: Actor, launch_id: Any, expected_version: int, reason: str = "") -> Launch:
    """The job is over; its nodes are free again. Raises Conflict, Stale."""
    launch = locked(actor, launch_id)
    may_write(actor, launch.cluster.scope_id)
    move(
        launch,
        LaunchState.RUNNING,
        LaunchState.FINISHED,
        expected_version,
        ended_at=clock.now(),
        ended_reason=reason.strip(),
    )
    fleet.release_holds(actor=actor, owner=launch.owner, reason=say("the job is over"))
    note(actor, "launch.finished", launch, reason=reason)
    return queries.launch_for(actor, launch_id)


@decision
def cancel_launch(*, actor: Actor, launch_id: Any, expected_version: int, reason: str) -> Launch:
    """The job will not start. Raises Invalid without a reason, Conflict, Stale."""
    launch = locked(actor, launch_id)
    may_write(actor, launch.cluster.scope_id)
    require_reason(reason)
    move(
        launch,
        LaunchState.OPEN,
        LaunchState.CANCELLED,
        expected_version,
        ended_at=clock.now(),
        ended_reason=reason.strip(),
    )
    note(actor, "launch.cancelled", launch, reason=reason)
    return queries.launch_for(actor, launch_id)


def locked(actor: Actor, launch_id: Any, right: Right = Right.READ) -> Launch:
    """A launch whose row is locked, so that what is decided next is decided on what it is now.

    Without the lock a job could start on PostgreSQL beside a signature against it. Raises Missing, NotAllowed.
    """
    launch = queries.launch_for(actor, launch_id, right)
    lock(launch.pk)
    return queries.launch_for(actor, launch_id, right)


def lock(launch_id: Any) -> None:
    """Wait until nobody else decides on the launch, and keep others waiting until this decision is over."""
    list(Launch.objects.select_for_update().filter(pk=launch_id).order_by().values_list("pk"))


def may_write(actor: Actor, scope_id: int) -> None:
    """Needs OPERATE in the scope, and launch:write of a token."""
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.LAUNCH_WRITE)


def move(launch: Launch, current: LaunchState, to: LaunchState, expected_version: int, **fields: Any) -> None:
    """Conditional update on state and version. Raises Stale, Conflict."""
    moved = Launch.objects.filter(pk=launch.pk, state=current, version=expected_version).update(
        state=to, version=F("version") + 1, **fields
    )
    if moved:
        return
    launch.refresh_from_db()
    if launch.version != expected_version:
        raise Stale(
            say("the launch was changed meanwhile (now version %(version)s)", version=launch.version),
            version=launch.version,
        )
    raise not_in_state(launch)


def not_in_state(launch: Launch) -> Conflict:
    """What is said where a launch is not in the state in which something can be done."""
    message = say("the launch is %(state)s", state=word(launch.state))
    if launch.is_over:
        message = say(
            "this launch is over: %(state)s on %(at)s UTC; a next job needs a new launch with its own evaluation",
            state=word(launch.state),
            at=f"{launch.ended_at:%Y-%m-%d %H:%M}",
        )
    return Conflict(message, code="launch_state", state=launch.state, ended_at=launch.ended_at)


def _note_editor(actor: Actor, launch: Launch) -> None:
    """Keep for good who had a hand in a launch: the actor, and who made tokens of a service account."""
    if actor.person_id is None:
        return
    for person_id in sorted({actor.person_id} | token_makers(actor.person_id)):
        LaunchEditor.objects.get_or_create(launch=launch, person_id=person_id, defaults={"at": clock.now()})


def note(actor: Actor, action: str, launch: Launch, **said: Any) -> None:
    """The audit event of a decision about a launch."""
    record(actor=actor, action=action, on=launch, scope_id=launch.cluster.scope_id, **said)


def tell(event: str, launch: Launch, said: dict[str, Any]) -> None:
    """Tell the team's own automation; the message says where to look, not everything that was decided on."""
    payload = {
        "launch": str(launch.pk),
        "title": launch.title,
        "cluster": launch.cluster.slug,
        "domain": launch.domain.name,
        "path": reverse("launches:launch", args=[launch.pk]),
    }
    announce(event, payload | said, launch.cluster.scope_id)


def _earn_known_good(actor: Actor, launch: Launch, evaluation: Evaluation) -> None:
    """The matrix is known-good where drift and benchmark passed by themselves, without waiver."""
    verdicts = {item["key"]: item["verdict"] for item in evaluation.items}
    earned = all(verdicts.get(key) in ("pass", "warn") for key in ("no_drift", "benchmark_accepted"))
    if evaluation.matrix_version_id is None or not earned:
        return
    digests = [proof["sha256"] for item in evaluation.items for proof in item["proofs"] if proof["sha256"]]
    environments.mark_known_good(
        actor=actor,
        version_id=evaluation.matrix_version_id,
        basis={"launch": str(launch.pk), "evaluation": str(evaluation.pk), "digest": evaluation.digest},
        digests=digests,
    )


def _nodes(domain: Domain, node_ids: Sequence[int]) -> list[Node]:
    rows = Node.objects.in_use().under(domain).order_by("index", "name")
    if not node_ids:
        nodes = list(rows)
    else:
        found = {node.pk: node for node in rows.filter(pk__in=node_ids)}
        if len(found) != len(node_ids):
            message = say(
                "not all of these nodes are in use in %(name)s, or one is named twice", name=domain.name
            )
            raise Invalid(message, errors=[FieldError(pointer="/nodes", message=message)])
        nodes = [found[node_id] for node_id in node_ids]
    if not nodes:
        message = say("%(name)s has no nodes in use", name=domain.name)
        raise Invalid(message, errors=[FieldError(pointer="/nodes", message=message)])
    return nodes


def _plan(domain: Domain, plan_version_id: int | None) -> PlanVersion | None:
    if plan_version_id is None:
        return None
    version = PlanVersion.objects.filter(pk=plan_version_id, plan__scope=domain.cluster.scope_id).first()
    if version is None:
        message = _("there is no such plan version for this cluster")
        raise Invalid(message, errors=[FieldError(pointer="/plan_version", message=message)])
    return version


def _check_title(title: str) -> None:
    if not says_something(title):
        message = _("say what is launched")
        raise Invalid(message, errors=[FieldError(pointer="/title", message=message)])


def _facts(launch: Launch) -> dict[str, Any]:
    return {
        "title": launch.title,
        "domain": launch.domain_id,
        "plan_version": launch.plan_id,
        "job_environment": launch.job_environment,
        "template": str(launch.template),
    }
