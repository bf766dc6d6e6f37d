"""API of the placement check; it computes and writes nothing."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema, extend_schema_field
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import actor_of, checked
from apps.core.rights import TokenScope
from apps.core.verdicts import VERDICT_CHOICES
from apps.fleet import queries
from apps.fleet.engine.parallel import DEFAULT_ORDER, Dimension, ParallelSizes
from apps.fleet.engine.placement import Boundary
from apps.fleet.engine.rank_inputs import read_ranks, read_values
from apps.fleet.queries.placement import checked_placement

COMPUTES = frozenset(
    {TokenScope.FLEET_WRITE, TokenScope.PLAN_WRITE, TokenScope.LAUNCH_WRITE, TokenScope.GATE_EVALUATE}
)
_DIMENSIONS = [(one.value, one.value) for one in Dimension]


class PlacementIn(serializers.Serializer[Any]):
    ranks = serializers.JSONField(
        help_text="A text (hostfile, node list such as sn[01-18], or kubectl get pods -o wide), a list of nodes, one "
        "per rank, or of node lists such as sn[01-18] with per_node ranks on each node, a map from rank to node, a "
        "list of {rank, node}, or pods: a list of {name, node}, or what kubectl get pods -o json gives."
    )
    per_node = serializers.IntegerField(default=8, min_value=1, max_value=1024)
    tp = serializers.IntegerField(default=1, min_value=1)
    cp = serializers.IntegerField(default=1, min_value=1)
    ep = serializers.IntegerField(default=1, min_value=1)
    dp = serializers.IntegerField(default=1, min_value=1)
    pp = serializers.IntegerField(default=1, min_value=1)
    expert_tp = serializers.IntegerField(required=False, min_value=1)
    order = serializers.CharField(default=DEFAULT_ORDER, max_length=40)


class ViolationOut(serializers.Serializer[Any]):
    dimension = serializers.ChoiceField(choices=_DIMENSIONS)
    group = serializers.IntegerField()
    boundary = serializers.ChoiceField(choices=[(one.value, one.value) for one in Boundary])
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    ranks = serializers.ListField(child=serializers.IntegerField())
    where = serializers.ListField(child=serializers.CharField())


class CrossingsOut(serializers.Serializer[Any]):
    dimension = serializers.ChoiceField(choices=_DIMENSIONS)
    groups = serializers.IntegerField()
    cross_domains = serializers.IntegerField()
    cross_sub_domains = serializers.IntegerField()


class BetterOrderOut(serializers.Serializer[Any]):
    order = serializers.CharField()
    nodes = serializers.SerializerMethodField(help_text="One node per rank.")
    leave_domain = serializers.SerializerMethodField()
    leave_sub_domain = serializers.SerializerMethodField()

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_nodes(self, better: Any) -> list[str]:
        return [seat.node for seat in better.seats]

    def get_leave_domain(self, better: Any) -> int:
        return int(better.violations[0])

    def get_leave_sub_domain(self, better: Any) -> int:
        return int(better.violations[1])


class PlacementOut(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    order = serializers.CharField()
    ranks = serializers.SerializerMethodField()
    violations = ViolationOut(many=True)
    crossings = CrossingsOut(many=True)
    better = BetterOrderOut(allow_null=True)

    def get_ranks(self, found: Any) -> int:
        return len(found.seats)


class PlacementCheck(APIView):
    token_scopes = {"POST": COMPUTES}

    @extend_schema(request=PlacementIn, responses=PlacementOut, operation_id="clusters_placement_check")
    def post(self, request: Request, slug: str) -> Response:
        """Do TP and EP groups stay inside one domain, and one sub-domain where it is large enough?"""
        cluster = queries.cluster_for(actor_of(request), slug)
        data = checked(PlacementIn, request)
        given, per_node, order = data.pop("ranks"), data.pop("per_node"), data.pop("order")
        ranks = (read_ranks if isinstance(given, str) else read_values)(given, per_node=per_node)
        found = checked_placement(cluster, ranks, ParallelSizes(**data), order=order)
        return Response(PlacementOut(found).data)
