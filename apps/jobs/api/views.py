"""API of jobs: looking, waiting, cancelling, doing again; schedules; work of the audit trail."""

from __future__ import annotations

import threading
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.errors import Invalid
from apps.core.rights import Right, TokenScope
from apps.core.whole_numbers import whole_number
from apps.jobs import queries, services
from apps.jobs.answers import JobOut, accepted
from apps.jobs.api import serializers as s
from apps.jobs.filters import JobFilter
from apps.jobs.models import Job, Schedule
from apps.jobs.services import audit_work
from apps.jobs.services.schedules import change_schedule

LONGEST_WAIT_S = 25
# Each waiter keeps a thread of the web server; who finds no place gets the standing of now.
_waiters = threading.BoundedSemaphore(4)
# Whoever may ask for work by token may also stop it; the service looks at the requester and the role.
_WRITING = frozenset(TokenScope) - {TokenScope.READ, TokenScope.AUDIT_READ}
_ANY_WRITE = {"DELETE": _WRITING, "POST": _WRITING}


class Jobs(generics.ListAPIView):
    """Jobs that you asked for, and those of clusters that you may read."""

    serializer_class = JobOut
    filterset_class = JobFilter
    queryset = Job.objects.none()

    def get_queryset(self) -> Any:
        return queries.jobs_visible_to(actor_of(self.request))


class OneJob(APIView):
    token_scopes = _ANY_WRITE
    parameters = {"GET": frozenset({"wait"})}

    @extend_schema(
        parameters=[
            OpenApiParameter(
                "wait", int, description=f"Seconds to wait for the end, {LONGEST_WAIT_S} at most."
            )
        ],
        responses=JobOut,
        operation_id="jobs_retrieve",
    )
    def get(self, request: Request, job_id: int) -> Response:
        """One job; with ?wait= the answer comes when it is over, or after so many seconds."""
        actor, seconds = actor_of(request), _wait_of(request)
        if seconds and _waiters.acquire(blocking=False):
            try:
                return Response(JobOut(queries.wait_for(job_id, actor=actor, seconds=seconds)).data)
            finally:
                _waiters.release()
        return Response(JobOut(queries.job(job_id, actor=actor)).data)

    @extend_schema(responses=JobOut, operation_id="jobs_cancel")
    def delete(self, request: Request, job_id: int) -> Response:
        """Ask for the job to stop: at once while it waits, at its next step while it runs."""
        return Response(JobOut(services.cancel(job_id=job_id, actor=actor_of(request))).data)


class Retry(APIView):
    token_scopes = _ANY_WRITE

    @extend_schema(request=None, responses={202: JobOut}, operation_id="jobs_retry")
    def post(self, request: Request, job_id: int) -> Response:
        """Ask anew for what failed or was cancelled; the answer is the new job."""
        return accepted(services.retry(job_id=job_id, actor=actor_of(request)))


class AuditVerifications(APIView):
    token_scopes = {"POST": TokenScope.AUDIT_READ}

    @extend_schema(request=None, responses={202: JobOut}, operation_id="audit_verifications_create")
    def post(self, request: Request) -> Response:
        """Walk the audit trail and compare it with the kept checkpoints; the job's result says what was found."""
        return accepted(audit_work.ask_for_verification(actor=actor_of(request)))


class AuditCheckpoints(APIView):
    @extend_schema(request=None, responses={202: JobOut}, operation_id="audit_checkpoints_create")
    def post(self, request: Request) -> Response:
        """Verify the audit trail and keep where it stands."""
        return accepted(audit_work.ask_for_checkpoint(actor=actor_of(request)))


class Schedules(generics.ListAPIView):
    """Work that is due again and again."""

    serializer_class = s.ScheduleOut
    queryset = Schedule.objects.none()

    def get_queryset(self) -> Any:
        return queries.schedules_visible_to(actor_of(self.request))


class OneSchedule(APIView):
    rights = {"PUT": Right.ADMIN}

    @extend_schema(responses=s.ScheduleOut, operation_id="schedules_retrieve")
    def get(self, request: Request, schedule_id: int) -> Response:
        """One schedule; its ETag goes into If-Match."""
        schedule = queries.schedule(schedule_id, actor=actor_of(request))
        return with_version(Response(s.ScheduleOut(schedule).data), schedule.version)

    @extend_schema(
        request=s.ScheduleIn,
        responses=s.ScheduleOut,
        parameters=[IF_MATCH],
        operation_id="schedules_update",
    )
    def put(self, request: Request, schedule_id: int) -> Response:
        """Set how often the work is due, or pause it."""
        data = checked(s.ScheduleIn, request)
        schedule = change_schedule(
            schedule_id=schedule_id, expected_version=version_seen(request), **data, actor=actor_of(request)
        )
        return with_version(Response(s.ScheduleOut(schedule).data), schedule.version)


def _wait_of(request: Request) -> int:
    raw = request.query_params.get("wait", "0")
    seconds = whole_number(raw)
    if seconds is None or seconds > LONGEST_WAIT_S:
        raise Invalid(f"wait={raw[:20]}: say 0 to {LONGEST_WAIT_S} seconds", code="wait")
    return seconds
