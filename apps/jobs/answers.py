"""How the API of every app answers with a job: 202, where to look, and when."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers
from rest_framework.response import Response

from apps.jobs.models import Job, JobState

LOOK_AGAIN_S = 2


class ProgressOut(serializers.Serializer[Any]):
    done = serializers.IntegerField()
    total = serializers.IntegerField(allow_null=True)
    phase = serializers.CharField(allow_blank=True)


class JobOut(serializers.ModelSerializer[Job]):
    url = serializers.SerializerMethodField()
    state = serializers.ChoiceField(choices=JobState.choices)
    cluster = serializers.SlugField(source="scope.slug", allow_null=True, default=None)
    requested_by = serializers.IntegerField(source="requested_by_id", allow_null=True)
    progress = serializers.SerializerMethodField()

    class Meta:
        model = Job
        fields = ["id", "url", "kind", "state", "cluster", "requested_by", "created_at", "started_at"]
        fields += ["finished_at", "attempt", "max_attempts", "lost", "cancel_requested", "progress"]
        fields += ["result", "result_url", "problem"]

    def get_url(self, job: Job) -> str:
        return address_of(job)

    @extend_schema_field(ProgressOut)
    def get_progress(self, job: Job) -> dict[str, Any]:
        return {"done": job.done, "total": job.total, "phase": job.phase}


def address_of(job: Job) -> str:
    return reverse("api_jobs:job", args=[job.pk])


def accepted(job: Job) -> Response:
    """202 with the job, its address as Location, and when to look again."""
    headers = {"Location": address_of(job), "Retry-After": str(LOOK_AGAIN_S)}
    return Response(JobOut(job).data, status=202, headers=headers)
