"""API of benchmarks: runs come in as evidence; here they are read, judged and made baselines."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.benchmarks import queries, services
from apps.benchmarks.api import serializers as s
from apps.benchmarks.filters import BaselineFilter, RunFilter
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.core.api import actor_of, checked
from apps.core.rights import Right, TokenScope


class Runs(generics.ListAPIView):
    """Benchmark runs, newest first, each with its verdict."""

    serializer_class = s.RunOut
    filterset_class = RunFilter
    queryset = BenchmarkRun.objects.none()

    def get_queryset(self) -> Any:
        return queries.runs_visible(actor_of(self.request)).defer("points")


class OneRun(APIView):
    @extend_schema(responses=s.RunWithPointsOut, operation_id="benchmark_runs_retrieve")
    def get(self, request: Request, run_id: int) -> Response:
        """One run with the rows that the tool printed."""
        run = queries.run_for(actor_of(request), run_id)
        return Response(s.RunWithPointsOut(run, context={"request": request}).data)


class StateCollective(APIView):
    rights = {"POST": Right.OPERATE}

    @extend_schema(request=s.CollectiveIn, responses=s.RunOut, operation_id="benchmark_runs_state_collective")
    def post(self, request: Request, run_id: int) -> Response:
        """Say which collective a run was of, where its output does not; needs a person who is signed in."""
        actor, data = actor_of(request), checked(s.CollectiveIn, request)
        run = services.state_collective(actor=actor, run_id=run_id, collective=data["collective"])
        return Response(s.RunOut(run, context={"request": request}).data)


class Baselines(generics.ListAPIView):
    """Baselines, those in force and those replaced."""

    serializer_class = s.BaselineOut
    filterset_class = BaselineFilter
    queryset = Baseline.objects.none()
    token_scopes = {"POST": TokenScope.BENCHMARK_WRITE}

    def get_queryset(self) -> Any:
        return queries.baselines_visible(actor_of(self.request))

    @extend_schema(request=s.BaselineIn, responses={201: s.BaselineOut})
    def post(self, request: Request) -> Response:
        """Later runs of the domain and collective are compared with this one; only an accepted run."""
        data = checked(s.BaselineIn, request)
        baseline = services.set_baseline(actor=actor_of(request), **data)
        return Response(s.BaselineOut(baseline).data, status=201)
