"""What the API of plans takes and gives."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.catalogue.engine.model_catalogue import CatalogueModel
from apps.planning.documents import model_document
from apps.planning.models import MeasuredStep, Plan, PlanVersion


class PlanOut(serializers.ModelSerializer[Plan]):
    cluster = serializers.SlugField(source="scope.slug")
    domain_id = serializers.IntegerField(allow_null=True)
    created_by_id = serializers.IntegerField(allow_null=True)
    launch_version = serializers.IntegerField(source="launch_version.number", allow_null=True, default=None)
    html_url = serializers.SerializerMethodField()

    class Meta:
        model = Plan
        fields = [
            "id",
            "cluster",
            "domain_id",
            "name",
            "launch_version",
            "created_by_id",
            "created_at",
            "html_url",
        ]

    def get_html_url(self, plan: Plan) -> str:
        return str(self.context["request"].build_absolute_uri(f"/plans/{plan.pk}/"))


class PlanVersionOut(serializers.ModelSerializer[PlanVersion]):
    plan_id = serializers.IntegerField()
    job_id = serializers.IntegerField(allow_null=True)
    created_by_id = serializers.IntegerField(allow_null=True)
    input = serializers.DictField(help_text="What the planner was asked.")
    result = serializers.DictField(
        allow_null=True, help_text="What the planner answered; null while its job is under way."
    )

    class Meta:
        model = PlanVersion
        fields = ["plan_id", "number", "input", "input_digest", "result", "fits", "job_id", "engine_version"]
        fields += ["created_by_id", "created_at", "done_at"]


class VersionSummaryOut(serializers.ModelSerializer[PlanVersion]):
    plan_id = serializers.IntegerField()
    job_id = serializers.IntegerField(allow_null=True)

    class Meta:
        model = PlanVersion
        fields = ["plan_id", "number", "input_digest", "fits", "job_id", "created_at", "done_at"]


class MeasuredStepOut(serializers.ModelSerializer[MeasuredStep]):
    domain_id = serializers.IntegerField()
    plan_id = serializers.IntegerField(source="version.plan_id")
    number = serializers.IntegerField(source="version.number")
    noted_by_id = serializers.IntegerField(allow_null=True)
    withdrawn_by_id = serializers.IntegerField(allow_null=True)

    class Meta:
        model = MeasuredStep
        fields = [
            "id",
            "domain_id",
            "plan_id",
            "number",
            "measured_s",
            "predicted_s",
            "engine_version",
            "source",
        ]
        fields += ["noted_by_id", "noted_at", "withdrawn_by_id", "withdrawn_at", "withdrawn_reason"]


class CalibrationVersionOut(serializers.Serializer[Any]):
    number = serializers.IntegerField()
    since = serializers.DateTimeField()
    measured_step_id = serializers.IntegerField(source="step.pk")
    withdrawn = serializers.BooleanField(help_text="Whether the step was withdrawn then; else it was noted.")
    step_scale = serializers.FloatField(source="calibration.step_scale")
    spread = serializers.FloatField(source="calibration.spread")
    runs = serializers.IntegerField(source="calibration.runs")


class CalibrationOut(serializers.Serializer[Any]):
    step_scale = serializers.FloatField(help_text="Factor on step times; 1 without measurements.")
    spread = serializers.FloatField(help_text="Standard deviation of its logarithm.")
    runs = serializers.IntegerField(help_text="Measured steps that count.")
    versions = CalibrationVersionOut(many=True)


class ModelOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    name = serializers.CharField()
    maker = serializers.CharField()
    parameters = serializers.FloatField(source="published_params")
    confidence = serializers.CharField()
    shape = serializers.SerializerMethodField(help_text="As the model of a plan's document.")

    def get_shape(self, model: CatalogueModel) -> dict[str, Any]:
        return model_document(model.spec)


class MeasuredStepIn(serializers.Serializer[Any]):
    measured_s = serializers.FloatField(min_value=0, help_text="Seconds of one training step.")
    source = serializers.CharField(max_length=300, help_text="Where the figure is from: a job, a log.")


class WithdrawIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=500)


class DocumentIn(serializers.Serializer[Any]):
    document = serializers.DictField(
        help_text="model, system and parallel of one layout; or a search: model, system, global_batch, seq_len, "
        "precision and, where wished, objective and limits. model may be an id of the catalogue, or "
        '{"config": …} with a Hugging Face config.json; a system without an accelerator is that of the plan\'s '
        "domain, with what was measured there."
    )


class PlanIn(DocumentIn):
    cluster = serializers.SlugField()
    name = serializers.CharField(max_length=120)
    domain_id = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)


class AskIn(DocumentIn):
    cluster = serializers.SlugField(help_text="Whose operators may ask, and see the job.")


class TakeIn(serializers.Serializer[Any]):
    place = serializers.IntegerField(min_value=1, max_value=1000, help_text="Place in the list, from 1.")
