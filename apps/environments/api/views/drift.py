"""API of drift: checks, findings, and how a cluster wants its nodes watched."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.errors import Missing
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.environments import filters, queries, services
from apps.environments.api import serializers as s
from apps.environments.models import DriftCheck, DriftFinding, EnvironmentPolicy
from apps.fleet.queries import cluster_for
from apps.jobs.answers import JobOut, accepted

# A check writes what is known and takes a worker's time: a token that may only read asks for none.
_ASKS = {"POST": frozenset({TokenScope.EVIDENCE_WRITE, TokenScope.ENVIRONMENT_WRITE})}
_WRITES = {"PATCH": TokenScope.ENVIRONMENT_WRITE, "PUT": TokenScope.ENVIRONMENT_WRITE}


class Checks(generics.ListAPIView):
    """Drift checks; a check that finds the same as the one before it only moves checked_at."""

    token_scopes = _ASKS
    serializer_class = s.CheckOut
    filterset_class = filters.CheckFilter
    queryset = DriftCheck.objects.none()

    def get_queryset(self) -> Any:
        rows = queries.checks_visible(actor_of(self.request))
        return rows.defer("groups", "odd_ones", "shortest_boards", "components")

    @extend_schema(request=s.CheckIn, responses={202: JobOut})
    def post(self, request: Request) -> Response:
        """Ask for a check of a domain; the answer is the job that makes it."""
        return accepted(services.request_check(actor=actor_of(request), **checked(s.CheckIn, request)))


class OneCheck(APIView):
    @extend_schema(responses=s.OneCheckOut, operation_id="drift_checks_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One check with its heat map by groups of identical nodes."""
        check = queries.checks_visible(actor_of(request)).filter(pk=pk).first()
        if check is None:
            raise Missing(say("there is no such check, or you may not see it"))
        return Response(s.OneCheckOut(check).data)


class DomainIntent(APIView):
    @extend_schema(responses=s.IntentOut, operation_id="domains_intent_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """What is asked of a domain now: by its own matrix, and by its cluster's of what the own one leaves out."""
        intent = queries.intent_of(queries.domain_for(actor_of(request), pk))
        return Response(s.IntentOut(_intent(intent)).data)


def _intent(intent: queries.Intent) -> dict[str, Any]:
    version_id = intent.version.pk if intent.version else None
    wide_id = intent.wide.pk if intent.wide else None
    is_wide = intent.version is not None and intent.version.matrix.domain_id is None
    return {
        "matrix_version_id": version_id,
        "wide_version_id": wide_id,
        "entries": [
            {
                "component": entry.component,
                "rule": entry.rule.value,
                "values": entry.values,
                "matrix_version_id": wide_id if entry.component in intent.of_wide else version_id,
                "of_whole_cluster": is_wide or entry.component in intent.of_wide,
            }
            for entry in intent.entries
        ],
    }


class Findings(generics.ListAPIView):
    """Findings of drift, open and resolved."""

    serializer_class = s.FindingOut
    filterset_class = filters.FindingFilter
    queryset = DriftFinding.objects.none()

    def get_queryset(self) -> Any:
        return queries.findings_visible(actor_of(self.request))


class OneFinding(APIView):
    token_scopes = _WRITES

    @extend_schema(responses=s.FindingOut, operation_id="drift_findings_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One finding."""
        return Response(s.FindingOut(queries.finding_for(actor_of(request), pk)).data)

    @extend_schema(request=s.AssignIn, responses=s.FindingOut, operation_id="drift_findings_assign")
    def patch(self, request: Request, pk: int) -> Response:
        """Give an open finding to somebody, or to nobody."""
        data = checked(s.AssignIn, request)
        finding = services.assign_finding(actor=actor_of(request), finding_id=pk, **data)
        return Response(s.FindingOut(finding).data)


def _policy(policy: EnvironmentPolicy) -> Response:
    return with_version(Response(s.PolicyOut(policy).data), policy.version)


class Policy(APIView):
    token_scopes = _WRITES

    @extend_schema(responses=s.PolicyOut, operation_id="environment_policies_retrieve")
    def get(self, request: Request, slug: str) -> Response:
        """After how long a report is stale, and how often domains are checked."""
        return _policy(queries.policy_of(cluster_for(actor_of(request), slug)))

    @extend_schema(
        request=s.PolicyIn,
        responses=s.PolicyOut,
        parameters=[IF_MATCH],
        operation_id="environment_policies_update",
    )
    def put(self, request: Request, slug: str) -> Response:
        """Set both; needs the right to administrate the cluster."""
        actor = actor_of(request)
        cluster = cluster_for(actor, slug, Right.ADMIN)
        seen, data = version_seen(request), checked(s.PolicyIn, request)
        return _policy(services.set_policy(actor=actor, cluster_id=cluster.pk, expected_version=seen, **data))
