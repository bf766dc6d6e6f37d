"""API of what nodes report, of the component catalogue, and of the environment of jobs."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.catalogue.engine.components import components
from apps.core.api import actor_of, checked
from apps.core.rights import TokenScope
from apps.environments import filters, queries
from apps.environments.api import serializers as s
from apps.environments.engine import job_env
from apps.environments.models import NodeFact
from apps.fleet.models import Node
from apps.fleet.queries import cluster_for, node_for


class Facts(generics.ListAPIView):
    """What nodes reported of their components, by change: each row from when it was said until it was no more."""

    serializer_class = s.FactOut
    filterset_class = filters.FactFilter
    queryset = NodeFact.objects.none()

    def get_queryset(self) -> Any:
        return queries.facts_visible(actor_of(self.request))


class Reported(APIView):
    @extend_schema(
        responses=s.ReportedOut(many=True), operation_id="reported_versions_retrieve", filters=False
    )
    def get(self, request: Request, pk: int) -> Response:
        """What counts of each component of a node now, where several kinds of evidence state it."""
        node = node_for(actor_of(request), pk)
        held = queries.reported_versions([node.pk]).get(node.pk, {})
        rows = [
            {
                "component": name,
                "loaded": one.loaded,
                "declared": one.declared,
                "contradicting": one.contradicting,
                "seen_at": one.seen_at,
            }
            for name, one in sorted(held.items())
        ]
        return Response(s.ReportedOut(rows, many=True).data)


class HardwareFaults(APIView):
    @extend_schema(
        responses=s.HardwareFaultOut(many=True), operation_id="hardware_faults_list", filters=False
    )
    def get(self, request: Request, slug: str) -> Response:
        """Nodes of a cluster that report other accelerators, or not as many, as are on record for them."""
        cluster = cluster_for(actor_of(request), slug)
        nodes = Node.objects.in_use().filter(cluster=cluster).order_by()
        faults = queries.hardware_faults(nodes.values("pk"))
        names = nodes.filter(pk__in=list(faults)).order_by("name").values_list("pk", "name")
        rows = [
            {
                "node_id": pk,
                "node": name,
                "verdict": faults[pk].verdict,
                "code": faults[pk].code,
                "found": faults[pk].found,
                "held_against": faults[pk].held_against,
            }
            for pk, name in names
        ]
        return Response(s.HardwareFaultOut(rows, many=True).data)


class Components(APIView):
    @extend_schema(responses=s.ComponentOut(many=True), operation_id="components_list", filters=False)
    def get(self, request: Request) -> Response:
        """The component catalogue: how versions are read, and which rule holds unless a matrix says otherwise."""
        return Response(s.ComponentOut(list(components().values()), many=True).data)


class JobChecks(APIView):
    token_scopes = {"POST": frozenset(TokenScope) - {TokenScope.AUDIT_READ}}

    @extend_schema(
        request=s.JobCheckIn, responses=s.JobCheckOut, operation_id="job_environment_checks_create"
    )
    def post(self, request: Request) -> Response:
        """Check what a job exports: env output, a launch script, a Slurm or Kubernetes file. Nothing is kept."""
        data = checked(s.JobCheckIn, request)
        report = job_env.check_text(data["text"], nccl_version=data["nccl_version"])
        return Response(s.JobCheckOut(report).data)
