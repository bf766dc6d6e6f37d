"""API of the catalogue."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.queries import scope_by_slug
from apps.catalogue import queries, services
from apps.catalogue.engine.component_files import to_yaml
from apps.catalogue.engine.overlays import KIND_CHOICES, VERSION_TABLES, Confidence, Kind
from apps.catalogue.models import CatalogueEdit
from apps.core.actor import Actor
from apps.core.api import actor_of, checked
from apps.core.rights import TokenScope

_CONFIDENCES = [(one.value, one.value) for one in Confidence]
_ANY = {"type": ["string", "number", "null"]}
_CLUSTER = OpenApiParameter("cluster", str, description="As this team has it; else as everybody has it.")
_OF_CLUSTER = {"GET": frozenset({"cluster"})}
_WRITES = {"POST": TokenScope.FLEET_WRITE, "DELETE": TokenScope.FLEET_WRITE}


@extend_schema_field(_ANY)
class AnyValue(serializers.JSONField):
    """A text, a number, or null for what is not known."""


class CatalogueFigureOut(serializers.Serializer[Any]):
    path = serializers.CharField()
    unit = serializers.CharField()
    value = AnyValue(allow_null=True)
    shipped = AnyValue(allow_null=True)
    confidence = serializers.CharField()
    edit_id = serializers.IntegerField(source="edit.pk", allow_null=True, default=None)
    source = serializers.CharField(source="edit.source", allow_null=True, default=None)


class CatalogueEntryOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    name = serializers.CharField()
    vendor = serializers.CharField()
    is_shipped = serializers.BooleanField()
    sources = serializers.ListField(child=serializers.CharField())
    figures = CatalogueFigureOut(many=True)


class CatalogueEditIn(serializers.Serializer[Any]):
    cluster = serializers.SlugField(allow_null=True, help_text="null is every cluster.")
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    entry = serializers.CharField(max_length=80, help_text="An id that is new makes a new entry.")
    path = serializers.CharField(max_length=80)
    value = AnyValue(allow_null=True)
    source = serializers.CharField(max_length=300)
    confidence = serializers.ChoiceField(choices=_CONFIDENCES)


class ComponentsFileIn(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=2**20, trim_whitespace=False)
    source = serializers.CharField(max_length=300)


class CatalogueEditOut(serializers.ModelSerializer[CatalogueEdit]):
    cluster = serializers.SlugField(source="scope.slug", allow_null=True, default=None)
    kind = serializers.ChoiceField(choices=KIND_CHOICES)
    value = AnyValue(allow_null=True)
    confidence = serializers.ChoiceField(choices=_CONFIDENCES)

    class Meta:
        model = CatalogueEdit
        fields = ["id", "cluster", "kind", "entry", "path", "value", "source", "confidence"]
        fields += ["edited_label", "edited_at"]


class Accelerators(APIView):
    parameters = _OF_CLUSTER

    @extend_schema(
        responses=CatalogueEntryOut(many=True),
        parameters=[_CLUSTER],
        operation_id="catalogue_accelerators_list",
    )
    def get(self, request: Request) -> Response:
        """Accelerators, each figure with its confidence and, where a team set it, its source."""
        return Response(CatalogueEntryOut(_entries(request, Kind.ACCELERATOR), many=True).data)


class Supernodes(APIView):
    parameters = _OF_CLUSTER

    @extend_schema(
        responses=CatalogueEntryOut(many=True),
        parameters=[_CLUSTER],
        operation_id="catalogue_supernodes_list",
    )
    def get(self, request: Request) -> Response:
        """Scale-up systems."""
        return Response(CatalogueEntryOut(_entries(request, Kind.SUPERNODE), many=True).data)


class Components(APIView):
    @extend_schema(responses=CatalogueEntryOut(many=True), operation_id="catalogue_components_list")
    def get(self, request: Request) -> Response:
        """What nodes are made of, field by field, with the source of what was set. The same for every cluster."""
        actor_of(request)
        return Response(CatalogueEntryOut(queries.entries_for(None, Kind.COMPONENT), many=True).data)


class ComponentsFile(APIView):
    token_scopes = {"PUT": TokenScope.FLEET_WRITE}

    @extend_schema(
        responses={(200, "text/plain"): OpenApiTypes.STR}, operation_id="catalogue_components_export"
    )
    def get(self, request: Request) -> HttpResponse:
        """The components in force as a YAML file that can be imported again."""
        actor_of(request)
        text = to_yaml(queries.rows_for(None, Kind.COMPONENT).values())
        return HttpResponse(text, content_type="text/plain; charset=utf-8")

    @extend_schema(
        request=ComponentsFileIn,
        responses=CatalogueEditOut(many=True),
        operation_id="catalogue_components_import",
    )
    def put(self, request: Request) -> Response:
        """Set every field in which a file differs from what is in force; the answer is what was set."""
        data = checked(ComponentsFileIn, request)
        edits = services.import_components(actor=actor_of(request), **data)
        return Response(CatalogueEditOut(edits, many=True).data)


class VersionTables(APIView):
    parameters = _OF_CLUSTER

    @extend_schema(
        responses=CatalogueEntryOut(many=True),
        parameters=[_CLUSTER],
        operation_id="catalogue_version_tables_list",
    )
    def get(self, request: Request) -> Response:
        """Which versions go together, as rules between components look them up; set by edits of the four kinds."""
        actor = actor_of(request)
        scope_id = _scope_id(actor, request.query_params.get("cluster", ""))
        found = [entry for kind in VERSION_TABLES for entry in queries.entries_for(scope_id, kind)]
        return Response(CatalogueEntryOut(found, many=True).data)


class Edits(APIView):
    token_scopes = _WRITES

    @extend_schema(
        request=CatalogueEditIn, responses={201: CatalogueEditOut}, operation_id="catalogue_edits_create"
    )
    def post(self, request: Request) -> Response:
        """Set one figure, for a team or for everybody; of version tables no token can."""
        actor, data = actor_of(request), checked(CatalogueEditIn, request)
        row = services.set_figure(
            actor=actor,
            scope_id=_scope_id(actor, data.pop("cluster") or ""),
            kind=Kind(data.pop("kind")),
            confidence=Confidence(data.pop("confidence")),
            **data,
        )
        return Response(CatalogueEditOut(row).data, status=201)


class OneEdit(APIView):
    token_scopes = _WRITES

    @extend_schema(responses={204: None}, operation_id="catalogue_edits_destroy")
    def delete(self, request: Request, edit_id: int) -> Response:
        """Give a figure back to what is shipped."""
        services.clear_figure(actor=actor_of(request), edit_id=edit_id)
        return Response(status=204)


def _entries(request: Request, kind: Kind) -> list[queries.Entry]:
    actor = actor_of(request)
    return queries.entries_for(_scope_id(actor, request.query_params.get("cluster", "")), kind)


def _scope_id(actor: Actor, slug: str) -> int | None:
    return scope_by_slug(slug, actor=actor).pk if slug else None
