"""API of matrices and their versions."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.actor import Actor
from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.errors import Invalid
from apps.core.rights import TokenScope
from apps.core.texts import say
from apps.core.whole_numbers import whole_number
from apps.environments import filters, queries, services
from apps.environments.api import serializers as s
from apps.environments.engine import exchange
from apps.environments.engine.matrix_diff import compare_entries
from apps.environments.models import Matrix, MatrixVersion
from apps.fleet.queries import cluster_for

WRITES = dict.fromkeys(("POST", "PUT", "PATCH", "DELETE"), TokenScope.ENVIRONMENT_WRITE)
AS = OpenApiParameter("as", str, enum=["yaml", "csv"], description="The file's format, yaml unless said.")
TO = OpenApiParameter("to", int, required=True, description="The version to compare with.")


def _answer(version: MatrixVersion, *, status: int = 200) -> Response:
    return with_version(Response(s.OneVersionOut(version).data, status=status), version.version)


class Matrices(generics.ListAPIView):
    """Matrices of clusters that you may read."""

    serializer_class = s.MatrixOut
    filterset_class = filters.MatrixFilter
    queryset = Matrix.objects.none()

    def get_queryset(self) -> Any:
        return queries.matrices_visible(actor_of(self.request))


class Versions(generics.ListAPIView):
    """Versions of matrices; their entries are in each one's own document."""

    token_scopes = WRITES
    serializer_class = s.VersionOut
    filterset_class = filters.VersionFilter
    queryset = MatrixVersion.objects.none()

    def get_queryset(self) -> Any:
        return queries.versions_visible(actor_of(self.request))

    @extend_schema(request=s.DraftIn, responses={201: s.OneVersionOut})
    def post(self, request: Request) -> Response:
        """Draft a version for a domain, or for a whole cluster: from what nodes report, a file, or a version."""
        return _answer(_drafted(actor_of(request), checked(s.DraftIn, request)), status=201)


def _drafted(actor: Actor, data: dict[str, Any]) -> MatrixVersion:
    slug = data.get("cluster")
    home = {"cluster_id": cluster_for(actor, slug).pk} if slug else {"domain_id": data.get("domain_id")}
    said = home | {"name": data["name"], "note": data["note"]}
    if "from_version_id" in data:
        return services.draft_from_version(actor=actor, version_id=data["from_version_id"], **said)
    if "text" in data:
        return services.draft_from_file(
            actor=actor, text=data["text"], file_format=data["file_format"], **said
        )
    return services.draft_from_reports(actor=actor, **said)


class OneVersion(APIView):
    @extend_schema(responses=s.OneVersionOut, operation_id="matrix_versions_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One version with its entries; its ETag goes into If-Match."""
        return _answer(queries.matrix_version_for(actor_of(request), pk))


class Entries(APIView):
    token_scopes = WRITES

    @extend_schema(
        request=s.FileIn,
        responses=s.OneVersionOut,
        parameters=[IF_MATCH],
        operation_id="matrix_versions_replace_entries",
    )
    def put(self, request: Request, pk: int) -> Response:
        """Put the entries of a YAML or CSV file in the place of all that a draft asks for."""
        version = services.replace_entries(
            actor=actor_of(request),
            version_id=pk,
            expected_version=version_seen(request),
            **checked(s.FileIn, request),
        )
        return _answer(version)


class OneEntry(APIView):
    token_scopes = WRITES

    @extend_schema(
        request=s.EntryIn,
        responses=s.OneVersionOut,
        parameters=[IF_MATCH],
        operation_id="matrix_versions_set_entry",
    )
    def put(self, request: Request, pk: int, component: str) -> Response:
        """Set what a draft asks of one component."""
        version = services.set_entry(
            actor=actor_of(request),
            version_id=pk,
            expected_version=version_seen(request),
            component=component,
            **checked(s.EntryIn, request),
        )
        return _answer(version)

    @extend_schema(
        responses=s.OneVersionOut, parameters=[IF_MATCH], operation_id="matrix_versions_remove_entry"
    )
    def delete(self, request: Request, pk: int, component: str) -> Response:
        """Ask nothing of a component any more."""
        version = services.remove_entry(
            actor=actor_of(request),
            version_id=pk,
            expected_version=version_seen(request),
            component=component,
        )
        return _answer(version)


class Lock(APIView):
    token_scopes = WRITES

    @extend_schema(
        request=s.LockIn,
        responses=s.OneVersionOut,
        parameters=[IF_MATCH],
        operation_id="matrix_versions_lock",
    )
    def post(self, request: Request, pk: int) -> Response:
        """Lock a draft; 409 rules_broken names the rules that need a reason. Its domains are checked then."""
        version = services.lock_matrix(
            actor=actor_of(request),
            version_id=pk,
            expected_version=version_seen(request),
            **checked(s.LockIn, request),
        )
        services.request_checks_of(actor=actor_of(request), version=version)
        return _answer(version)


class Retire(APIView):
    token_scopes = WRITES

    @extend_schema(
        request=s.RetireIn,
        responses=s.OneVersionOut,
        parameters=[IF_MATCH],
        operation_id="matrix_versions_retire",
    )
    def post(self, request: Request, pk: int) -> Response:
        """Take a locked version out of force, or put a draft away."""
        version = services.retire_matrix(
            actor=actor_of(request),
            version_id=pk,
            expected_version=version_seen(request),
            **checked(s.RetireIn, request),
        )
        services.request_checks_of(actor=actor_of(request), version=version)
        return _answer(version)


class Compatibility(APIView):
    @extend_schema(
        responses=s.RuleResultOut(many=True), operation_id="matrix_versions_compatibility", filters=False
    )
    def get(self, request: Request, pk: int) -> Response:
        """What the rules between components say of a version, with what the nodes run besides."""
        version = queries.matrix_version_for(actor_of(request), pk)
        return Response(s.RuleResultOut(queries.compatibility_of(version), many=True).data)


class Differences(APIView):
    parameters = {"GET": frozenset({"to"})}

    @extend_schema(
        responses=s.EntryChangeOut(many=True),
        parameters=[TO],
        operation_id="matrix_versions_differences",
        filters=False,
    )
    def get(self, request: Request, pk: int) -> Response:
        """What changes from this version to another."""
        actor, other_id = actor_of(request), whole_number(request.query_params.get("to", ""))
        if other_id is None:
            raise Invalid(say("to: say the id of the version to compare with"), code="to")
        older = queries.matrix_version_for(actor, pk)
        newer = queries.matrix_version_for(actor, other_id)
        changes = compare_entries(
            queries.entries_of(older.entries.all()), queries.entries_of(newer.entries.all())
        )
        return Response(s.EntryChangeOut(changes, many=True).data)


class Export(APIView):
    parameters = {"GET": frozenset({"as"})}

    @extend_schema(
        responses={(200, "text/plain"): OpenApiTypes.STR},
        parameters=[AS],
        operation_id="matrix_versions_export",
    )
    def get(self, request: Request, pk: int) -> HttpResponse:
        """The version as a file that can be imported again."""
        version = queries.matrix_version_for(actor_of(request), pk)
        writers = {"yaml": exchange.to_yaml, "csv": exchange.to_csv}
        file_format = request.query_params.get("as", "yaml")
        if file_format not in writers:
            raise Invalid(say("as: say yaml or csv"), code="file_format")
        text = writers[file_format](queries.entries_of(version.entries.all()))
        return HttpResponse(text, content_type="text/plain; charset=utf-8")
