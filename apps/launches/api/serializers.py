"""What the API of launches takes and gives."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from rest_framework import serializers

from apps.core.verdicts import VERDICT_CHOICES, Verdict
from apps.launches.engine.standing import Standing
from apps.launches.models import Answer, Evaluation, Launch, SignOff, Waiver

STANDING_CHOICES = [(standing.value, standing.value) for standing in Standing]
ANSWER_CHOICES = [(verdict.value, verdict.value) for verdict in (Verdict.PASS, Verdict.WARN, Verdict.FAIL)]


class LaunchOut(serializers.ModelSerializer[Launch]):
    cluster = serializers.SlugField(source="cluster.slug")
    domain_id = serializers.IntegerField()
    plan_version_id = serializers.IntegerField(source="plan_id", allow_null=True)
    opened_by_id = serializers.IntegerField()
    html_url = serializers.SerializerMethodField()

    class Meta:
        model = Launch
        fields = ["id", "cluster", "domain_id", "title", "state", "plan_version_id", "job_environment"]
        fields += [
            "opened_by_id",
            "opened_at",
            "started_at",
            "ended_at",
            "ended_reason",
            "version",
            "html_url",
        ]

    def get_html_url(self, launch: Launch) -> str:
        return str(self.context["request"].build_absolute_uri(reverse("launches:launch", args=[launch.pk])))


class LaunchIn(serializers.Serializer[Any]):
    cluster = serializers.SlugField()
    domain_id = serializers.IntegerField(min_value=1)
    title = serializers.CharField(max_length=200)
    nodes = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=20_000,
        help_text="Node list in rank order, such as sn[01-18]; empty means all nodes of the domain.",
    )
    plan_version_id = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    job_environment = serializers.CharField(
        required=False, allow_blank=True, default="", max_length=65536, trim_whitespace=False
    )


class LaunchEditIn(serializers.Serializer[Any]):
    title = serializers.CharField(max_length=200)
    plan_version_id = serializers.IntegerField(allow_null=True, min_value=1)
    job_environment = serializers.CharField(allow_blank=True, max_length=65536, trim_whitespace=False)


class EvaluateIn(serializers.Serializer[Any]):
    anew = serializers.BooleanField(
        required=False,
        default=False,
        help_text="Replace an evaluation that stands, with its signatures; needs the right to operate.",
    )


class EndIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=2000, allow_blank=True, default="", required=False)


class ProofOut(serializers.Serializer[Any]):
    label = serializers.CharField()
    url = serializers.CharField(allow_blank=True)
    sha256 = serializers.CharField(allow_blank=True)


class ItemOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    group = serializers.CharField()
    manual = serializers.BooleanField()
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    code = serializers.CharField(help_text="A stable word for the reason.")
    message = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())
    proofs = ProofOut(many=True)
    offer_rollback = serializers.BooleanField()


class EvaluationOut(serializers.ModelSerializer[Evaluation]):
    launch_id = serializers.UUIDField()
    standing = serializers.ChoiceField(choices=STANDING_CHOICES)
    exit_code = serializers.IntegerField(help_text="What the client's gate command ends with.")
    is_stale = serializers.BooleanField()
    changed = serializers.ListField(
        child=serializers.CharField(), help_text="Inputs that are not what the evaluation rests on."
    )
    items = ItemOut(many=True)
    inputs = serializers.DictField(child=serializers.CharField(allow_blank=True))

    class Meta:
        model = Evaluation
        fields = [
            "id",
            "launch_id",
            "standing",
            "exit_code",
            "is_stale",
            "changed",
            "requested_at",
            "done_at",
        ]
        fields += ["valid_until", "digest", "items", "inputs"]


class GateOut(serializers.Serializer[Any]):
    """Where a launch stands now."""

    launch_id = serializers.UUIDField()
    standing = serializers.ChoiceField(choices=STANDING_CHOICES)
    exit_code = serializers.IntegerField()
    message = serializers.CharField(help_text="Why it stands there.")
    hint = serializers.CharField(allow_blank=True, help_text="What moves it on; empty on GO.")
    evaluation = serializers.UUIDField(allow_null=True)
    is_stale = serializers.BooleanField()
    changed = serializers.ListField(child=serializers.CharField())
    valid_until = serializers.DateTimeField(allow_null=True)
    digest = serializers.CharField(allow_blank=True)
    suite = serializers.CharField(help_text="Cluster and matrix, as the name of a test suite.")
    items = ItemOut(many=True)
    html_url = serializers.CharField()


class AnswerIn(serializers.Serializer[Any]):
    item = serializers.CharField(max_length=60)
    verdict = serializers.ChoiceField(choices=ANSWER_CHOICES)
    note = serializers.CharField(max_length=2000)


class AnswerOut(serializers.ModelSerializer[Answer]):
    person_id = serializers.IntegerField()

    class Meta:
        model = Answer
        fields = ["id", "item", "verdict", "note", "person_id", "at"]


class WaiverIn(serializers.Serializer[Any]):
    item = serializers.CharField(max_length=60)
    reason = serializers.CharField(max_length=2000)
    expires_at = serializers.DateTimeField()


class WaiverOut(serializers.ModelSerializer[Waiver]):
    requested_by_id = serializers.IntegerField()
    approved_by_id = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Waiver
        fields = ["id", "item", "reason", "requested_by_id", "requested_at", "approved_by_id", "approved_at"]
        fields += ["expires_at", "revoked_at"]


class SignIn(serializers.Serializer[Any]):
    digest = serializers.CharField(max_length=64, help_text="Digest of the evaluation that you have seen.")
    go = serializers.BooleanField()
    comment = serializers.CharField(max_length=2000, allow_blank=True, default="", required=False)


class SignOffOut(serializers.ModelSerializer[SignOff]):
    person_id = serializers.IntegerField()
    evaluation_id = serializers.UUIDField()

    class Meta:
        model = SignOff
        fields = ["id", "evaluation_id", "person_id", "evaluation_digest", "go", "comment", "at"]
