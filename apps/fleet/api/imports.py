"""API of imports and exports."""

from __future__ import annotations

import json
from typing import Any

from django.http import HttpResponseBase
from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics, serializers
from rest_framework.parsers import MultiPartParser
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.parsing import PlainJSONParser
from apps.core.rights import Right, TokenScope
from apps.core.storable import require_storable_value
from apps.fleet import filters, queries
from apps.fleet.engine.decoding import Form
from apps.fleet.engine.importing import Mode
from apps.fleet.engine.outcomes import Fate
from apps.fleet.engine.tables import Table
from apps.fleet.models import BulkImport, ImportState
from apps.fleet.page import download
from apps.fleet.queries.exports import export
from apps.fleet.queries.imports import import_for, imports_visible, outcomes
from apps.fleet.services import imports as service
from apps.jobs.answers import JobOut, accepted

_SHOWN_ERRORS = 1000
_TABLE = [(table.value, table.value) for table in Table]
_FORM = [(form.value, form.value) for form in Form]


class ColumnsIn(serializers.JSONField):
    """JSON within a form, which no parser of bodies has looked at."""

    def to_internal_value(self, data: Any) -> Any:
        try:
            value = super().to_internal_value(data)
            require_storable_value(value)
        except RecursionError:
            self.fail("invalid")
        return value


class ImportIn(serializers.Serializer[Any]):
    """Rows as a file (multipart/form-data) or as JSON in the body."""

    cluster = serializers.SlugField()
    file = serializers.FileField(required=False, help_text="CSV, JSON or YAML, up to 64 MiB.")
    rows = serializers.DictField(required=False, help_text="Instead of a file: table to list of rows.")
    mode = serializers.ChoiceField(choices=[(one.value, one.value) for one in Mode], default="upsert")
    form = serializers.ChoiceField(choices=_FORM, required=False, help_text="Recognised where left out.")
    table = serializers.ChoiceField(choices=_TABLE, required=False, help_text="What a CSV file holds.")
    columns = ColumnsIn(
        required=False, help_text="Name in the CSV file to our column; other columns are left out then."
    )
    dry_run = serializers.BooleanField(
        default=True,
        help_text="false: a worker applies it. Where a row is wrong nothing is written, and the job fails.",
    )

    def validate_columns(self, columns: Any) -> dict[str, str]:
        if not isinstance(columns, dict) or not all(isinstance(one, str) for one in columns.values()):
            raise serializers.ValidationError("an object from names in the file to our columns")
        return columns

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("file" in attrs) == ("rows" in attrs):
            raise serializers.ValidationError({"file": "give either file or rows"})
        return attrs


class ImportOut(serializers.ModelSerializer[BulkImport]):
    cluster = serializers.SlugField(source="cluster.slug")
    mode = serializers.ChoiceField(choices=[(one.value, one.value) for one in Mode])
    state = serializers.ChoiceField(choices=ImportState.choices)
    job = serializers.IntegerField(source="job_id", allow_null=True)
    columns_in_file = serializers.ListField(child=serializers.CharField(), source="head")
    counts = serializers.DictField(
        child=serializers.DictField(child=serializers.IntegerField()), help_text="Per table."
    )
    error_count = serializers.IntegerField(
        help_text="Rows with errors; while there are any, nothing is written."
    )
    problem = serializers.DictField(allow_null=True, help_text="Why the file cannot be read.")

    class Meta:
        model = BulkImport
        fields = ["id", "cluster", "file_name", "sha256", "size_bytes", "form", "table", "mode", "state"]
        fields += ["row_count", "columns_in_file", "counts", "error_count", "problem", "job"]
        fields += ["asked_label", "asked_at", "applied_label", "applied_at", "version"]


class OutcomeOut(serializers.Serializer[Any]):
    table = serializers.CharField()
    row = serializers.IntegerField(
        allow_null=True,
        help_text="CSV: the line of the file, whose head is line 1. JSON and YAML: which entry of its table, from 1; "
        "0: all of them.",
    )
    fate = serializers.ChoiceField(choices=[(one.value, one.value) for one in Fate])
    key = serializers.CharField(required=False)
    column = serializers.CharField(required=False, help_text="Of an error.")
    value = serializers.CharField(required=False)
    message = serializers.CharField(required=False)
    code = serializers.CharField(required=False)
    changes = serializers.DictField(required=False, help_text="Column to [before, after].")


class Imports(generics.ListAPIView):
    """Bulk imports, newest first."""

    token_scopes = {"POST": TokenScope.FLEET_WRITE}
    parser_classes = [PlainJSONParser, MultiPartParser]
    serializer_class = ImportOut
    filterset_class = filters.ImportFilter
    queryset = BulkImport.objects.none()

    def get_queryset(self) -> Any:
        return imports_visible(actor_of(self.request))

    @extend_schema(
        request={"multipart/form-data": ImportIn, "application/json": ImportIn},
        responses={201: ImportOut, 202: JobOut},
    )
    def post(self, request: Request) -> Response:
        """Hand rows in. 201 with what they would do; 202 with the job where a worker looks or applies."""
        actor, data = actor_of(request), checked(ImportIn, request)
        cluster = queries.cluster_for(actor, data["cluster"], Right.OPERATE)
        file = data.get("file")
        row = service.receive_import(
            actor=actor,
            cluster_id=cluster.pk,
            data=file.read() if file else json.dumps(data["rows"]).encode(),
            file_name=(file.name or "") if file else "",
            mode=Mode(data["mode"]),
            form=Form(data["form"]) if "form" in data else None if file else Form.JSON,
            table=Table(data["table"]) if "table" in data else None,
            columns=data.get("columns"),
            apply_at_once=not data["dry_run"],
        )
        if row.job is not None and row.state == ImportState.WAITING:
            answer = accepted(row.job)
            answer["Link"] = f'<{reverse("api_fleet:import", args=[row.pk])}>; rel="related"'
            return answer
        headers = {"Location": reverse("api_fleet:import", args=[row.pk])}
        return with_version(Response(ImportOut(row).data, status=201, headers=headers), row.version)


class OneImport(APIView):
    @extend_schema(responses=ImportOut, operation_id="imports_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One import; its ETag goes into If-Match."""
        row = import_for(actor_of(request), pk)
        return with_version(Response(ImportOut(row).data), row.version)


class ImportRows(APIView):
    parameters = {"GET": frozenset({"fate", "table"})}

    @extend_schema(
        responses=OutcomeOut(many=True),
        operation_id="imports_rows",
        parameters=[
            OpenApiParameter("fate", str, enum=[one.value for one in Fate]),
            OpenApiParameter("table", str, enum=[one.value for one in Table]),
        ],
    )
    def get(self, request: Request, pk: int) -> Response:
        """What becomes of each row, errors first; the first thousand."""
        row = import_for(actor_of(request), pk)
        given = request.query_params
        found = outcomes(row, fate=given.get("fate", ""), table=given.get("table", ""))
        return Response(OutcomeOut(found[:_SHOWN_ERRORS], many=True).data)


class ApplyImport(APIView):
    token_scopes = {"POST": TokenScope.FLEET_WRITE}

    @extend_schema(
        request=None,
        responses={200: ImportOut, 202: JobOut},
        parameters=[IF_MATCH],
        operation_id="imports_apply",
    )
    def post(self, request: Request, pk: int) -> Response:
        """Do what was looked at, all of it or nothing; 409 where the fleet moved on since."""
        row = service.apply_import(
            actor=actor_of(request), import_id=pk, expected_version=version_seen(request)
        )
        if row.state != ImportState.APPLIED and row.job is not None:
            return accepted(row.job)
        return with_version(Response(ImportOut(row).data), row.version)


class ExportFleet(APIView):
    parameters = {"GET": frozenset({"form", "table"})}

    @extend_schema(
        responses={
            (200, "application/json"): OpenApiTypes.OBJECT,
            (200, "application/yaml"): OpenApiTypes.OBJECT,
            (200, "text/csv"): OpenApiTypes.BINARY,
        },
        operation_id="clusters_export",
        parameters=[
            OpenApiParameter("form", str, enum=[one.value for one in Form]),
            OpenApiParameter("table", str, enum=[one.value for one in Table]),
        ],
    )
    def get(self, request: Request, slug: str) -> HttpResponseBase:
        """The fleet as a file (form: json, yaml, or csv with a table); it imports again unchanged."""
        cluster = queries.cluster_for(actor_of(request), slug)
        given = request.query_params
        return download(export(cluster, form=given.get("form", "json"), table=given.get("table") or None))
