"""API of nodes and what belongs to them: holds, aliases, accelerators, switches, links, hardware history."""

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
from apps.fleet.engine.life_cycle import Stage
from apps.fleet.models import (
    Accelerator,
    HardwareChange,
    Hold,
    HoldKind,
    Link,
    Node,
    NodeAlias,
    Switch,
)

_WRITES = {"PUT": TokenScope.FLEET_WRITE, "POST": TokenScope.FLEET_WRITE, "DELETE": TokenScope.FLEET_WRITE}


class Nodes(generics.ListAPIView):
    """Nodes of the clusters that you may see, with their state and active holds."""

    serializer_class = s.NodeOut
    filterset_class = filters.NodeFilter
    queryset = Node.objects.none()

    def get_queryset(self) -> Any:
        return queries.counted(queries.nodes_visible(actor_of(self.request)))


class OneNode(APIView):
    token_scopes = _WRITES

    @extend_schema(responses=s.NodeOut, operation_id="nodes_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One node; its ETag goes into If-Match."""
        return _node(request, pk)

    @extend_schema(
        request=s.NodePlaceIn, responses=s.NodeOut, parameters=[IF_MATCH], operation_id="nodes_update"
    )
    def put(self, request: Request, pk: int) -> Response:
        """Where a node stands, and the serial number of its board."""
        services.edit_node(
            actor=actor_of(request),
            node_id=pk,
            expected_version=version_seen(request),
            **checked(s.NodePlaceIn, request),
        )
        return _node(request, pk)


class MoveNode(APIView):
    token_scopes = _WRITES

    @extend_schema(request=s.MoveIn, responses=s.NodeOut, parameters=[IF_MATCH], operation_id="nodes_move")
    def post(self, request: Request, pk: int) -> Response:
        """Move a node to another stage of its life: in_service, spare, repair, retired."""
        data = checked(s.MoveIn, request)
        services.move_node(
            actor=actor_of(request),
            node_id=pk,
            expected_version=version_seen(request),
            to=Stage(data["to"]),
            reason=data["reason"],
        )
        return _node(request, pk)


def _node(request: Request, pk: int) -> Response:
    node = queries.counted(queries.nodes_visible(actor_of(request))).filter(pk=pk).first()
    if node is None:
        raise queries.missing_node()
    return with_version(Response(s.NodeOut(node).data), node.version)


class Holds(generics.ListAPIView):
    """What nodes are kept for, and were kept for, newest first."""

    token_scopes = _WRITES
    serializer_class = s.HoldOut
    filterset_class = filters.HoldFilter
    queryset = Hold.objects.none()

    def get_queryset(self) -> Any:
        return queries.holds_visible(actor_of(self.request))

    @extend_schema(request=s.HoldIn, responses={201: s.HoldOut})
    def post(self, request: Request) -> Response:
        """Take a node out of work: for maintenance, or into quarantine."""
        data = checked(s.HoldIn, request)
        hold = services.hold_node(
            actor=actor_of(request),
            node_id=data["node_id"],
            kind=HoldKind(data["kind"]),
            reason=data["reason"],
        )
        return Response(s.HoldOut(hold).data, status=201)


class ReleaseHold(APIView):
    token_scopes = _WRITES

    @extend_schema(request=s.ReleaseIn, responses=s.HoldOut, operation_id="holds_release")
    def post(self, request: Request, pk: int) -> Response:
        """Let go of a maintenance or a quarantine; changes and launches let go of their own."""
        data = checked(s.ReleaseIn, request)
        hold = services.release_hold(actor=actor_of(request), hold_id=pk, reason=data["reason"])
        return Response(s.HoldOut(hold).data)


class Aliases(generics.ListAPIView):
    """Other names by which reports and schedulers call nodes."""

    token_scopes = _WRITES
    serializer_class = s.AliasOut
    filterset_class = filters.AliasFilter
    queryset = NodeAlias.objects.none()

    def get_queryset(self) -> Any:
        return queries.aliases_visible(actor_of(self.request))

    @extend_schema(request=s.AliasIn, responses={201: s.AliasOut})
    def post(self, request: Request) -> Response:
        """Another name for a node."""
        alias = services.add_alias(actor=actor_of(request), **checked(s.AliasIn, request))
        return Response(s.AliasOut(alias).data, status=201)


class OneAlias(APIView):
    token_scopes = _WRITES

    @extend_schema(responses={204: None}, operation_id="node_aliases_destroy")
    def delete(self, request: Request, pk: int) -> Response:
        """Take a name away."""
        services.remove_alias(actor=actor_of(request), alias_id=pk)
        return Response(status=204)


class Accelerators(generics.ListAPIView):
    """Accelerators with their identities."""

    serializer_class = s.AcceleratorOut
    filterset_class = filters.AcceleratorFilter
    queryset = Accelerator.objects.none()

    def get_queryset(self) -> Any:
        return queries.accelerators_visible(actor_of(self.request))


class Switches(generics.ListAPIView):
    """Switches of scale-up fabrics and of the scale-out network."""

    serializer_class = s.SwitchOut
    filterset_class = filters.SwitchFilter
    queryset = Switch.objects.none()

    def get_queryset(self) -> Any:
        return queries.switches_visible(actor_of(self.request))


class Links(generics.ListAPIView):
    """Links between switches and what hangs below them."""

    serializer_class = s.LinkOut
    filterset_class = filters.LinkFilter
    queryset = Link.objects.none()

    def get_queryset(self) -> Any:
        return queries.links_visible(actor_of(self.request))


class HardwareChanges(generics.ListAPIView):
    """Boards and cards that were seen with another identity, newest first."""

    serializer_class = s.HardwareChangeOut
    filterset_class = filters.HardwareChangeFilter
    queryset = HardwareChange.objects.none()

    def get_queryset(self) -> Any:
        return queries.hardware_changes_visible(actor_of(self.request))
