"""Questions about jobs, schedules and webhooks: who may see what, and what is still under way."""

from __future__ import annotations

import time
from datetime import datetime, timedelta

from django.conf import settings
from django.db.models import Q, QuerySet

from apps.core.actor import Actor
from apps.core.errors import Missing, NotAllowed
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.jobs.models import ACTIVE, Heartbeat, Job, JobState, Schedule, WebhookDelivery, WebhookEndpoint

WORKER = "worker"
# App of a kind of work to the scopes of tokens that may ask for it.
_SCOPES_OF = {
    "audit": {TokenScope.AUDIT_READ},
    "environments": {TokenScope.ENVIRONMENT_WRITE, TokenScope.EVIDENCE_WRITE},
    "fleet": {TokenScope.FLEET_WRITE},
    "health": {TokenScope.ENVIRONMENT_WRITE},
    "launches": {TokenScope.LAUNCH_WRITE, TokenScope.GATE_EVALUATE},
    "planning": {TokenScope.PLAN_WRITE},
    "portal": {TokenScope.EVIDENCE_WRITE},
}
# What who may only read a cluster may ask for there, and so stop and repeat.
_READERS_ASK_FOR = {"environments.check_drift", "fleet.play_what_if", "launches.evaluate", "planning.study"}
_LOOK_EVERY_S = 0.5


def jobs_visible_to(actor: Actor) -> QuerySet[Job]:
    """Jobs of scopes that the actor may read, of no scope those that they asked for, and for administrators all.

    Who lost a scope, or comes by a token that is not for it, sees nothing there, not even what they asked for.
    """
    jobs = Job.objects.select_related("requested_by", "scope")
    if actor.may(Right.ADMIN, None):
        return jobs
    readable = actor.scope_ids(Right.READ)
    own = Q(requested_by_id=actor.person_id, scope__isnull=True) if actor.person_id else Q(pk__in=())
    in_scope = Q(scope__isnull=False) if readable is None else Q(scope_id__in=readable)
    return jobs.filter(own | in_scope)


def job(job_id: int, *, actor: Actor) -> Job:
    """One job. Raises Missing."""
    found = jobs_visible_to(actor).filter(pk=job_id).first()
    if found is None:
        raise Missing()
    return found


def may_control(job: Job, actor: Actor) -> bool:
    """Whether the actor may cancel or retry: who asked and still may ask, operators of its scope, administrators."""
    if actor.may(Right.ADMIN, job.scope_id):
        return True
    is_own = actor.person_id is not None and job.requested_by_id == actor.person_id
    if job.scope_id is None:
        return is_own
    needed = Right.READ if is_own and job.kind in _READERS_ASK_FOR else Right.OPERATE
    return actor.may(needed, job.scope_id)


def job_to_control(job_id: int, *, actor: Actor) -> Job:
    """A job that the actor may cancel or retry. Raises Missing and NotAllowed (role, token_scope).

    By token only what its owner asked for, and of a kind that the token may ask for itself.
    """
    found = job(job_id, actor=actor)
    if actor.token_scopes is not None:
        asks_for_it = not actor.token_scopes.isdisjoint(_SCOPES_OF.get(found.kind.partition(".")[0], ()))
        if found.requested_by_id != actor.person_id or not asks_for_it:
            raise NotAllowed(
                say("a token stops and repeats only work that it may ask for and that its owner asked for"),
                code="token_scope",
            )
    if not may_control(found, actor):
        raise NotAllowed(
            say("this needs the right to operate, or to have asked for the job"),
            code="role",
            right=Right.OPERATE.value,
        )
    return found


def wait_for(job_id: int, *, actor: Actor, seconds: float) -> Job:
    """The job as soon as it is over, or as it is after so many seconds. Raises Missing."""
    until = time.monotonic() + seconds
    found = job(job_id, actor=actor)
    while found.state in ACTIVE and (left := until - time.monotonic()) > 0:
        time.sleep(min(_LOOK_EVERY_S, left))
        found = job(job_id, actor=actor)
    return found


def running_jobs(actor: Actor) -> QuerySet[Job]:
    """What the actor asked for and is not over yet, newest first."""
    return jobs_visible_to(actor).filter(state__in=ACTIVE, requested_by_id=actor.person_id).order_by("-id")


def schedules_visible_to(actor: Actor) -> QuerySet[Schedule]:
    """All schedules. Raises NotAllowed (role) for who is no administrator everywhere."""
    actor.require(Right.ADMIN, None)
    return Schedule.objects.all()


def schedule(schedule_id: int, *, actor: Actor) -> Schedule:
    """One schedule. Raises Missing and NotAllowed (role)."""
    found = schedules_visible_to(actor).filter(pk=schedule_id).first()
    if found is None:
        raise Missing()
    return found


def endpoints_visible_to(actor: Actor) -> QuerySet[WebhookEndpoint]:
    """Webhook endpoints of the scopes that the actor administers. Raises NotAllowed (role) where there is none."""
    actor.require_anywhere(Right.ADMIN)
    endpoints, scope_ids = WebhookEndpoint.objects.select_related("scope"), actor.scope_ids(Right.ADMIN)
    return endpoints if scope_ids is None else endpoints.filter(scope_id__in=scope_ids)


def endpoint(endpoint_id: int, *, actor: Actor) -> WebhookEndpoint:
    """One endpoint. Raises Missing and NotAllowed (role)."""
    found = endpoints_visible_to(actor).filter(pk=endpoint_id).first()
    if found is None:
        raise Missing()
    return found


def deliveries_visible_to(actor: Actor) -> QuerySet[WebhookDelivery]:
    """Deliveries to the endpoints that the actor administers. Raises NotAllowed (role)."""
    endpoints = endpoints_visible_to(actor)
    return WebhookDelivery.objects.filter(endpoint__in=endpoints).select_related("endpoint")


def due_deliveries(now: datetime) -> QuerySet[WebhookDelivery]:
    """Deliveries whose next attempt is due, oldest first."""
    return WebhookDelivery.objects.filter(
        delivered_at__isnull=True, dead_at__isnull=True, next_attempt_at__lte=now
    ).order_by("next_attempt_at")


def worker_seen(now: datetime) -> bool:
    """Whether a worker gave a sign of life lately: by the tick, or by renewing the lease of a job."""
    since = now - timedelta(seconds=max(120, 4 * settings.TICK_S))
    if Heartbeat.objects.filter(name=WORKER, at__gte=since).exists():
        return True
    return Job.objects.filter(state=JobState.RUNNING, lease_until__gt=now).exists()
