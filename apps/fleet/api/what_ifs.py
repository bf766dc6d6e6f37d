"""API of what-ifs: allocation as a job, mixed generations at once."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import actor_of, checked
from apps.fleet import queries
from apps.fleet.api.placement import COMPUTES
from apps.fleet.engine.job_mix import MAX_JOBS
from apps.fleet.engine.mixed import ComputeSource
from apps.fleet.engine.pool import Policy
from apps.fleet.queries.mixes import mixed_pool
from apps.fleet.services import what_ifs as service
from apps.jobs.answers import JobOut, accepted


class JobClassIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=40)
    cards = serializers.IntegerField(min_value=1, max_value=10_000_000)
    count = serializers.IntegerField(min_value=1, max_value=MAX_JOBS)
    duration_s = serializers.FloatField(min_value=1, max_value=1e10)
    first_at_s = serializers.FloatField(default=0.0, min_value=0, max_value=1e10)
    mean_gap_s = serializers.FloatField(default=0.0, min_value=0, max_value=1e10)


class WhatIfIn(serializers.Serializer[Any]):
    jobs = JobClassIn(many=True, allow_empty=False)
    policies = serializers.ListField(
        child=serializers.ChoiceField(choices=[(one.value, one.value) for one in Policy]),
        default=[one.value for one in Policy],
        allow_empty=False,
    )
    seed = serializers.IntegerField(default=1, min_value=0, max_value=2**31)
    block_cards = serializers.IntegerField(required=False, min_value=1, max_value=10_000_000)


class AllocationWhatIfs(APIView):
    token_scopes = {"POST": COMPUTES}

    @extend_schema(
        request=WhatIfIn, responses={202: JobOut}, operation_id="clusters_allocation_what_ifs_create"
    )
    def post(self, request: Request, slug: str) -> Response:
        """Play a job mix on the free accelerators under each policy; the job's result compares them."""
        actor = actor_of(request)
        cluster = queries.cluster_for(actor, slug)
        values = checked(WhatIfIn, request)
        values["jobs"] = [dict(job) for job in values["jobs"]]
        return accepted(service.ask_for_what_if(actor=actor, cluster_id=cluster.pk, values=values))


class MixedIn(serializers.Serializer[Any]):
    units = serializers.IntegerField(min_value=1, max_value=1_000_000)
    measured_flops = serializers.DictField(
        child=serializers.FloatField(min_value=1),
        required=False,
        help_text="Model to FLOPs per second of one.",
    )


class ShareOut(serializers.Serializer[Any]):
    model = serializers.CharField(source="generation.model")
    accelerators = serializers.IntegerField(source="generation.cards")
    compute_flops = serializers.FloatField(source="generation.compute_flops")
    source = serializers.ChoiceField(
        choices=[(one.value, one.value) for one in ComputeSource], source="generation.source"
    )
    units = serializers.IntegerField()
    work_share = serializers.FloatField()
    relative_time = serializers.FloatField(help_text="1 is a perfect split.")


class SplitOut(serializers.Serializer[Any]):
    shares = ShareOut(many=True)
    imbalance = serializers.FloatField()
    loss_share = serializers.FloatField()


class ModelGroupOut(serializers.Serializer[Any]):
    domain = serializers.CharField()
    model = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())
    accelerators = serializers.IntegerField(source="cards", allow_null=True)


class MixedOut(serializers.Serializer[Any]):
    equal = SplitOut(source="plan.equal")
    proportional = SplitOut(source="plan.proportional")
    mixed_sources = serializers.BooleanField(source="plan.mixed_sources")
    groups = ModelGroupOut(
        many=True, help_text="Nodes of one model in one domain: where TP and EP groups belong."
    )


class MixedSplit(APIView):
    token_scopes = {"POST": COMPUTES}

    @extend_schema(request=MixedIn, responses=MixedOut, operation_id="clusters_mixed_split")
    def post(self, request: Request, slug: str) -> Response:
        """Divide equal pieces of work over the cluster's generations: equally, and by compute."""
        cluster = queries.cluster_for(actor_of(request), slug)
        data = checked(MixedIn, request)
        pool = mixed_pool(cluster)
        plan = pool.plan(units=data["units"], measured=data.get("measured_flops", {}))
        return Response(MixedOut({"plan": plan, "groups": pool.groups}).data)
