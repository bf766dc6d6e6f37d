"""API of a version's ablations: the list with commands, and measured beside predicted."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import actor_of
from apps.planning import queries
from apps.planning.commands import commands_for
from apps.planning.queries.ablations import ListedAblation, listed_ablations


class AblationOut(serializers.Serializer[Any]):
    """One layout to run for real; times are seconds per step."""

    tp = serializers.IntegerField()
    pp = serializers.IntegerField()
    dp = serializers.IntegerField()
    question = serializers.CharField()
    problems = serializers.ListField(child=serializers.CharField())
    fits = serializers.BooleanField(allow_null=True)
    predicted_s = serializers.FloatField(allow_null=True)
    measured_s = serializers.FloatField(allow_null=True, help_text="Mean of the measured steps that count.")
    ratio = serializers.FloatField(allow_null=True, help_text="Measured over predicted without calibration.")
    version = serializers.IntegerField(allow_null=True, help_text="The plan's version that has this layout.")
    commands = serializers.DictField(child=serializers.CharField())


class Ablations(APIView):
    @extend_schema(responses=AblationOut(many=True), operation_id="plans_versions_ablations")
    def get(self, request: Request, plan_id: int, number: int) -> Response:
        """The layouts that tell most about the cluster, with commands, predicted and measured."""
        version = queries.version_for(actor_of(request), plan_id, number)
        per_node = queries.accelerators_per_node(version.plan.domain)
        return Response([_row(one, per_node) for one in listed_ablations(version)])


def _row(one: ListedAblation, per_node: int) -> dict[str, Any]:
    ablation = one.ablation
    row: dict[str, Any] = {
        "tp": ablation.tp,
        "pp": ablation.pp,
        "dp": ablation.dp,
        "question": ablation.question,
        "problems": list(ablation.problems),
        "fits": ablation.prediction.memory.fits if ablation.prediction else None,
        "predicted_s": ablation.prediction.iteration_time_s if ablation.prediction else None,
        "measured_s": one.measured_s,
        "ratio": one.ratio,
        "version": one.version.number if one.version else None,
        "commands": {},
    }
    if ablation.plan is not None:
        row["commands"] = {item["key"]: item["text"] for item in commands_for(ablation.plan, per_node)}
    return dict(AblationOut(row).data)
