"""API of the rules between components, as they hold everywhere or in one cluster."""

from __future__ import annotations

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.rights import Right
from apps.environments import queries, services
from apps.environments.api import serializers as s
from apps.fleet.queries import cluster_for

_OF_CLUSTER = frozenset({"cluster"})
_CLUSTER = OpenApiParameter(
    "cluster", str, description="Its slug; without it, where no cluster says otherwise."
)


class CompatibilityRules(APIView):
    parameters = {"GET": _OF_CLUSTER}

    @extend_schema(
        responses=s.CompatibilityRuleOut(many=True),
        parameters=[_CLUSTER],
        operation_id="compatibility_rules_list",
        filters=False,
    )
    def get(self, request: Request) -> Response:
        """The rules that matrices are held against before they are locked."""
        rules = queries.compatibility_rules(_cluster_id(request))
        return Response(s.CompatibilityRuleOut(rules, many=True).data)


class OneCompatibilityRule(APIView):
    rights = {"PUT": Right.ADMIN}
    parameters = {"PUT": _OF_CLUSTER, "DELETE": _OF_CLUSTER}

    @extend_schema(
        request=s.CompatibilityRuleIn,
        responses=s.CompatibilityRuleOut,
        parameters=[IF_MATCH, _CLUSTER],
        operation_id="compatibility_rules_update",
    )
    def put(self, request: Request, rule_id: str) -> Response:
        """Set, add or switch off a rule; needs the right to administrate there. No token can."""
        cluster_id = _cluster_id(request, Right.ADMIN)
        edit = services.set_compatibility_rule(
            actor=actor_of(request),
            rule_id=rule_id,
            cluster_id=cluster_id,
            expected_version=version_seen(request),
            **checked(s.CompatibilityRuleIn, request),
        )
        held = next(one for one in queries.compatibility_rules(cluster_id) if one.id == rule_id)
        return with_version(Response(s.CompatibilityRuleOut(held).data), edit.version)

    @extend_schema(
        responses={204: None}, parameters=[IF_MATCH, _CLUSTER], operation_id="compatibility_rules_destroy"
    )
    def delete(self, request: Request, rule_id: str) -> Response:
        """Take back what was set here; the rule is again as everywhere, as shipped, or gone."""
        services.clear_compatibility_rule(
            actor=actor_of(request),
            rule_id=rule_id,
            cluster_id=_cluster_id(request, Right.ADMIN),
            expected_version=version_seen(request),
        )
        return Response(status=204)


def _cluster_id(request: Request, right: Right = Right.READ) -> int | None:
    slug = request.query_params.get("cluster", "")
    return cluster_for(actor_of(request), slug, right).pk if slug else None
