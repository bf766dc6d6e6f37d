"""API of scheduler files."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import actor_of, with_version
from apps.core.errors import FieldError, Invalid
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.core.whole_numbers import whole_number
from apps.fleet import queries
from apps.fleet.api.imports import ImportOut
from apps.fleet.queries.schedulers import comparison_of, scheduler_file
from apps.fleet.services.schedulers import import_from_file
from apps.jobs.answers import JobOut, accepted


class NoteOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class SchedulerFileOut(serializers.Serializer[Any]):
    file_name = serializers.CharField()
    text = serializers.CharField()
    notes = NoteOut(many=True, help_text="What the format cannot say, and what stands beside it.")


class DifferenceOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    subject = serializers.CharField()
    message = serializers.CharField()
    ours = serializers.CharField(help_text="On record.")
    theirs = serializers.CharField(help_text="In the file.")


class ComparisonOut(serializers.Serializer[Any]):
    receipt = serializers.IntegerField(source="receipt.pk")
    kind = serializers.CharField(source="receipt.kind")
    has_problems = serializers.BooleanField(help_text="The file contradicts itself.")
    differences = DifferenceOut(many=True)


class SchedulerFile(APIView):
    parameters = {"GET": frozenset({"domain"})}

    @extend_schema(
        responses=SchedulerFileOut,
        operation_id="clusters_scheduler_file",
        parameters=[OpenApiParameter("domain", int, description="One domain instead of the cluster.")],
    )
    def get(self, request: Request, slug: str, form: str) -> Response:
        """The fleet for a scheduler: slurm_tree, slurm_block, slurm_yaml, hypernode, kueue, kubectl_labels,
        nccl_hints, hostfile."""
        actor = actor_of(request)
        cluster = queries.cluster_for(actor, slug)
        raw = request.query_params.get("domain", "")
        domain_id = whole_number(raw)
        if raw and domain_id is None:
            raise Invalid(say("domain: an id"), errors=[FieldError(pointer="?domain", message=say("an id"))])
        domain = None if domain_id is None else queries.domain_for(actor, domain_id)
        return Response(SchedulerFileOut(scheduler_file(cluster, form=form, domain=domain)).data)


class CompareFile(APIView):
    token_scopes = {"POST": TokenScope.FLEET_WRITE}

    @extend_schema(responses=ComparisonOut, operation_id="clusters_topology_file_compare")
    def get(self, request: Request, slug: str, receipt_id: int) -> Response:
        """A delivered topology file against the fleet on record: every difference."""
        actor = actor_of(request)
        found = comparison_of(actor, queries.cluster_for(actor, slug), receipt_id)
        return Response(ComparisonOut(found).data)

    @extend_schema(
        request=None,
        responses={201: ImportOut, 202: JobOut},
        operation_id="clusters_topology_file_import",
    )
    def post(self, request: Request, slug: str, receipt_id: int) -> Response:
        """Make an import of what the file says; it is looked at and applied like any other."""
        actor = actor_of(request)
        cluster = queries.cluster_for(actor, slug, Right.OPERATE)
        row = import_from_file(actor=actor, cluster_id=cluster.pk, receipt_id=receipt_id)
        if row.job is not None:
            return accepted(row.job)
        return with_version(Response(ImportOut(row).data, status=201), row.version)
