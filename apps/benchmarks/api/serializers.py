"""What the API of benchmarks takes and gives."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.benchmarks import queries
from apps.benchmarks.engine.acceptance import AcceptanceReason
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.benchmarks.words import COLLECTIVES
from apps.core import clock
from apps.core.verdicts import VERDICT_CHOICES

REASON_CHOICES = [(reason.value, reason.value) for reason in AcceptanceReason]
COLLECTIVE_CHOICES = [(name, name) for name in COLLECTIVES]


class AcceptanceOut(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    reason = serializers.ChoiceField(choices=REASON_CHOICES)
    share = serializers.FloatField(allow_null=True, help_text="Measured over theory.")
    needed_share = serializers.FloatField()


class SoakOut(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    hours = serializers.FloatField(help_text="Passed since the run arrived, at most the needed ones.")
    needed_hours = serializers.IntegerField()
    broken_by = serializers.ListField(child=serializers.CharField())
    unwatched = serializers.IntegerField(help_text="Nodes whose links nobody looked at since the soak ended.")


class DoubtOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()


class RunOut(serializers.ModelSerializer[BenchmarkRun]):
    cluster = serializers.SlugField(source="cluster.slug")
    domain_id = serializers.IntegerField(allow_null=True)
    matrix_version_id = serializers.IntegerField(allow_null=True)
    collective_stated_by_id = serializers.IntegerField(allow_null=True)
    acceptance = serializers.SerializerMethodField()
    doubts = DoubtOut(many=True)
    candidates = serializers.ListField(child=serializers.CharField())
    html_url = serializers.SerializerMethodField()

    class Meta:
        model = BenchmarkRun
        fields = [
            "id",
            "cluster",
            "domain_id",
            "tool",
            "tool_version",
            "collective",
            "collective_stated_by_id",
        ]
        fields += ["candidates", "dtype", "ranks", "node_count", "gpu_model", "status", "max_size_bytes"]
        fields += [
            "busbw_bytes_per_s",
            "wrong_total",
            "doubts",
            "acceptance",
            "sha256",
            "place",
            "received_at",
        ]
        fields += ["matrix_version_id", "versions_digest", "html_url"]

    @extend_schema_field(AcceptanceOut)
    def get_acceptance(self, run: BenchmarkRun) -> dict[str, Any]:
        return dict(AcceptanceOut(queries.acceptance_of(run)).data)

    def get_html_url(self, run: BenchmarkRun) -> str:
        return str(self.context["request"].build_absolute_uri(reverse("benchmarks:run", args=[run.pk])))


class RunWithPointsOut(RunOut):
    points = serializers.ListField(child=serializers.DictField(), help_text="Rows as the tool printed them.")
    soak = serializers.SerializerMethodField()

    class Meta(RunOut.Meta):
        fields = [*RunOut.Meta.fields, "soak", "points"]

    @extend_schema_field(SoakOut)
    def get_soak(self, run: BenchmarkRun) -> dict[str, Any]:
        return dict(SoakOut(queries.soak_of(run, clock.now())).data)


class CollectiveIn(serializers.Serializer[Any]):
    collective = serializers.ChoiceField(choices=COLLECTIVE_CHOICES)


class BaselineIn(serializers.Serializer[Any]):
    run_id = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=500)


class BaselineOut(serializers.ModelSerializer[Baseline]):
    run_id = serializers.IntegerField()
    domain_id = serializers.IntegerField()
    set_by_id = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Baseline
        fields = ["id", "domain_id", "collective", "run_id", "set_by_id", "set_at", "replaced_at"]
