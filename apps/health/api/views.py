"""API of health: faults, figures, proposals, rules, policy, knowledge, diagnosis, upkeep."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.errors import Missing
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet.models import Cluster
from apps.fleet.queries import cluster_for
from apps.health import filters, queries, services
from apps.health.api import serializers as s
from apps.health.engine.diagnose import diagnose_text
from apps.health.engine.knowledge import knowledge, search
from apps.health.engine.thresholds import HealthRule
from apps.health.models import FaultRecord, HealthPolicy, HealthState, MaintenanceTask
from apps.health.words import told_item, told_symptom

_WRITES = {"POST": TokenScope.FLEET_WRITE}
CLUSTER = OpenApiParameter("cluster", str, description="A cluster's slug; left out: all, or everywhere.")
WORDS = OpenApiParameter("q", str, description="Words that must all be there, in any language.")
_OF_CLUSTER = frozenset({"cluster"})


def _cluster(request: Request, right: Right = Right.READ) -> Cluster | None:
    slug = request.query_params.get("cluster", "")
    return cluster_for(actor_of(request), slug, right) if slug else None


class Faults(generics.ListAPIView):
    """Faults that nodes' kernel logs reported, open and resolved, newest first."""

    serializer_class = s.FaultOut
    filterset_class = filters.FaultFilter
    queryset = FaultRecord.objects.none()

    def get_queryset(self) -> Any:
        return queries.faults_visible(actor_of(self.request))


class OneFault(APIView):
    @extend_schema(responses=s.FaultOut, operation_id="faults_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One fault."""
        return Response(s.FaultOut(queries.fault_for(actor_of(request), pk)).data)


class Resolve(APIView):
    token_scopes = _WRITES

    @extend_schema(request=s.ResolveIn, responses=s.FaultOut, operation_id="faults_resolve")
    def post(self, request: Request, pk: int) -> Response:
        """Say what was done about a fault; the node's health follows."""
        data = checked(s.ResolveIn, request)
        return Response(s.FaultOut(services.resolve_fault(actor=actor_of(request), fault_id=pk, **data)).data)


class States(generics.ListAPIView):
    """What each rule says of each device, settled over observations."""

    serializer_class = s.StateOut
    filterset_class = filters.StateFilter
    queryset = HealthState.objects.none()

    def get_queryset(self) -> Any:
        return queries.states_visible(actor_of(self.request))


class Proposals(APIView):
    parameters = {"GET": _OF_CLUSTER}

    @extend_schema(
        responses=s.ProposalOut(many=True),
        parameters=[CLUSTER],
        operation_id="quarantine_proposals_list",
        filters=False,
    )
    def get(self, request: Request) -> Response:
        """Nodes that should leave scheduling. Carry one out by a hold of kind quarantine on the node."""
        cluster = _cluster(request)
        found = queries.proposals(actor_of(request), cluster_id=cluster.pk if cluster else None)
        return Response(s.ProposalOut(found, many=True).data)


def _rule(rule: HealthRule, version: int) -> dict[str, Any]:
    return asdict(rule) | {"version": version}


class Rules(APIView):
    parameters = {"GET": _OF_CLUSTER}

    @extend_schema(
        responses=s.RuleOut(many=True), parameters=[CLUSTER], operation_id="health_rules_list", filters=False
    )
    def get(self, request: Request) -> Response:
        """The rules as they hold everywhere, or in one cluster."""
        cluster = _cluster(request)
        cluster_id = cluster.pk if cluster else None
        own = queries.rule_settings(cluster_id)
        rows = [
            _rule(rule, own[rule.id].version if rule.id in own else 0)
            for rule in queries.rules_of(cluster_id)
        ]
        return Response(s.RuleOut(rows, many=True).data)


class OneRule(APIView):
    rights = {"PUT": Right.ADMIN}
    parameters = {"PUT": _OF_CLUSTER}

    @extend_schema(
        request=s.RuleIn,
        responses=s.RuleOut,
        parameters=[IF_MATCH, CLUSTER],
        operation_id="health_rules_update",
    )
    def put(self, request: Request, rule_id: str) -> Response:
        """Switch a rule or set its limits; needs the right to administrate there. No token can."""
        cluster = _cluster(request, Right.ADMIN)
        setting = services.set_rule(
            actor=actor_of(request),
            rule_id=rule_id,
            cluster_id=cluster.pk if cluster else None,
            expected_version=version_seen(request),
            **checked(s.RuleIn, request),
        )
        rules = queries.rules_of(setting.cluster_id)
        rule = next(one for one in rules if one.id == rule_id)
        return with_version(Response(s.RuleOut(_rule(rule, setting.version)).data), setting.version)


def _policy(policy: HealthPolicy) -> Response:
    return with_version(Response(s.HealthPolicyOut(policy).data), policy.version)


class Policy(APIView):
    @extend_schema(responses=s.HealthPolicyOut, operation_id="health_policies_retrieve")
    def get(self, request: Request, slug: str) -> Response:
        """Whether nodes of a cluster are quarantined without asking."""
        return _policy(queries.policy_of(cluster_for(actor_of(request), slug).pk))

    @extend_schema(
        request=s.HealthPolicyIn,
        responses=s.HealthPolicyOut,
        parameters=[IF_MATCH],
        operation_id="health_policies_update",
    )
    def put(self, request: Request, slug: str) -> Response:
        """Set it; needs the right to administrate the cluster. No token can."""
        actor = actor_of(request)
        cluster = cluster_for(actor, slug, Right.ADMIN)
        seen, data = version_seen(request), checked(s.HealthPolicyIn, request)
        return _policy(services.set_policy(actor=actor, cluster_id=cluster.pk, expected_version=seen, **data))


class Knowledge(APIView):
    parameters = {"GET": frozenset({"q"})}

    @extend_schema(
        responses=s.KnowledgeOut(many=True),
        parameters=[WORDS],
        operation_id="knowledge_list",
        filters=False,
    )
    def get(self, request: Request) -> Response:
        """Symptoms with causes, checks and remedies, in the language of Accept-Language."""
        found = search(request.query_params.get("q", ""))
        return Response(s.KnowledgeOut([told_item(item) for item in found], many=True).data)


class OneItem(APIView):
    @extend_schema(responses=s.KnowledgeOut, operation_id="knowledge_retrieve")
    def get(self, request: Request, item_id: str) -> Response:
        """One symptom."""
        item = next((one for one in knowledge() if one.id == item_id), None)
        if item is None:
            raise Missing(say("there is no such item"))
        return Response(s.KnowledgeOut(told_item(item)).data)


class Diagnoses(APIView):
    token_scopes = {"POST": frozenset(TokenScope) - {TokenScope.AUDIT_READ}}

    @extend_schema(request=s.DiagnosisIn, responses=s.DiagnosisOut, operation_id="diagnoses_create")
    def post(self, request: Request) -> Response:
        """Hold a log against the knowledge: what it shows, in which lines, likeliest causes first. Nothing is kept."""
        found = diagnose_text(checked(s.DiagnosisIn, request)["text"])
        body = {"lines": found.lines, "symptoms": [told_symptom(one) for one in found.symptoms]}
        return Response(s.DiagnosisOut(body).data)


class Upkeep(generics.ListAPIView):
    """Upkeep on the calendar; `due_before` of today gives what is overdue."""

    token_scopes = _WRITES
    serializer_class = s.UpkeepOut
    filterset_class = filters.UpkeepFilter
    queryset = MaintenanceTask.objects.none()

    def get_queryset(self) -> Any:
        return queries.tasks_visible(actor_of(self.request))

    @extend_schema(request=s.UpkeepIn, responses={201: s.UpkeepOut})
    def post(self, request: Request) -> Response:
        """Put upkeep on the calendar of a cluster or of one of its domains."""
        actor, data = actor_of(request), checked(s.UpkeepIn, request)
        cluster = cluster_for(actor, data.pop("cluster"), Right.OPERATE)
        task = services.plan_upkeep(actor=actor, cluster_id=cluster.pk, **data)
        return with_version(Response(s.UpkeepOut(task).data, status=201), task.version)


class OneUpkeep(APIView):
    @extend_schema(responses=s.UpkeepOut, operation_id="upkeep_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One task; its ETag goes into If-Match."""
        task = queries.task_for(actor_of(request), pk)
        return with_version(Response(s.UpkeepOut(task).data), task.version)


class UpkeepRecords(APIView):
    token_scopes = _WRITES

    @extend_schema(responses=s.UpkeepRecordOut(many=True), operation_id="upkeep_records_list", filters=False)
    def get(self, request: Request, pk: int) -> Response:
        """When a task was done, by whom, and what was found; the newest hundred."""
        task = queries.task_for(actor_of(request), pk)
        return Response(s.UpkeepRecordOut(task.records.all()[:100], many=True).data)

    @extend_schema(
        request=s.UpkeepRecordIn,
        responses={201: s.UpkeepRecordOut},
        parameters=[IF_MATCH],
        operation_id="upkeep_records_create",
    )
    def post(self, request: Request, pk: int) -> Response:
        """Upkeep was done."""
        done = services.record_upkeep(
            actor=actor_of(request),
            task_id=pk,
            expected_version=version_seen(request),
            **checked(s.UpkeepRecordIn, request),
        )
        return Response(s.UpkeepRecordOut(done).data, status=201)


class RetireUpkeep(APIView):
    token_scopes = _WRITES

    @extend_schema(
        request=s.UpkeepRetireIn,
        responses=s.UpkeepOut,
        parameters=[IF_MATCH],
        operation_id="upkeep_retire",
    )
    def post(self, request: Request, pk: int) -> Response:
        """Take upkeep off the calendar; what was recorded stays."""
        task = services.retire_upkeep(
            actor=actor_of(request),
            task_id=pk,
            expected_version=version_seen(request),
            **checked(s.UpkeepRetireIn, request),
        )
        return Response(s.UpkeepOut(task).data)
