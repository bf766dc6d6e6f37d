"""API of boards and cards outside of nodes: spares, repairs (RMA), what swaps left over."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.rights import TokenScope
from apps.fleet import filters, queries, services
from apps.fleet.api import serializers as s
from apps.fleet.engine.part_life import PartStage
from apps.fleet.models import Part, PartKind

_WRITES = {"POST": TokenScope.FLEET_WRITE}


class Parts(generics.ListAPIView):
    """Boards and cards on the shelf, in repair, taken out of nodes or put back, newest first."""

    token_scopes = _WRITES
    serializer_class = s.PartOut
    filterset_class = filters.PartFilter
    queryset = Part.objects.none()

    def get_queryset(self) -> Any:
        return queries.parts_visible(actor_of(self.request))

    @extend_schema(request=s.PartIn, responses={201: s.PartOut})
    def post(self, request: Request) -> Response:
        """Put a board or card on the shelf."""
        data = checked(s.PartIn, request)
        actor = actor_of(request)
        cluster = queries.cluster_for(actor, data.pop("cluster"))
        kind = PartKind(data.pop("kind"))
        part = services.add_spare(actor=actor, cluster_id=cluster.pk, kind=kind, **data)
        return with_version(Response(s.PartOut(part).data, status=201), part.version)


class OnePart(APIView):
    @extend_schema(responses=s.PartOut, operation_id="parts_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One board or card; its ETag goes into If-Match."""
        part = queries.part_for(actor_of(request), pk)
        return with_version(Response(s.PartOut(part).data), part.version)


class MovePart(APIView):
    token_scopes = _WRITES

    @extend_schema(
        request=s.PartMoveIn, responses=s.PartOut, parameters=[IF_MATCH], operation_id="parts_move"
    )
    def post(self, request: Request, pk: int) -> Response:
        """Say what becomes of it: spare, repair, retired; reports of nodes tell the rest."""
        data = checked(s.PartMoveIn, request)
        part = services.move_part(
            actor=actor_of(request),
            part_id=pk,
            expected_version=version_seen(request),
            to=PartStage(data["to"]),
            reason=data["reason"],
        )
        return with_version(Response(s.PartOut(part).data), part.version)
