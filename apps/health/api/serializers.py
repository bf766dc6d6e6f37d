"""What the API of health takes and gives."""

from __future__ import annotations

from typing import Any

from rest_framework import serializers

from apps.core.verdicts import VERDICT_CHOICES
from apps.health.models import (
    FaultRecord,
    HealthPolicy,
    HealthState,
    MaintenanceRecord,
    MaintenanceTask,
    MetricsAuth,
    MetricsSource,
    Upkeep,
)

LIMIT_TEXT = 8 * 2**20


class FaultOut(serializers.ModelSerializer[FaultRecord]):
    cluster = serializers.SlugField(source="node.cluster.slug")
    node_id = serializers.IntegerField()
    node = serializers.CharField(source="node.name")
    kind = serializers.CharField(help_text="xid or sxid.")
    severity = serializers.CharField(help_text="info, warning or critical.")
    resolved_by_id = serializers.IntegerField(allow_null=True)

    class Meta:
        model = FaultRecord
        fields = ["id", "cluster", "node_id", "node", "kind", "code", "device", "severity", "action"]
        fields += ["action_class", "cordon", "text", "line", "count", "at_text", "first_seen_at"]
        fields += ["last_seen_at", "sha256", "resolved_at", "resolved_by_id", "resolution"]


class ResolveIn(serializers.Serializer[Any]):
    resolution = serializers.CharField(max_length=300, help_text="What was done.")


class StateOut(serializers.ModelSerializer[HealthState]):
    cluster = serializers.SlugField(source="node.cluster.slug")
    node_id = serializers.IntegerField()
    node = serializers.CharField(source="node.name")
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)

    class Meta:
        model = HealthState
        fields = ["id", "cluster", "node_id", "node", "rule", "device", "verdict", "value", "detail"]
        fields += ["observed_at", "since", "sha256"]


class ProposalOut(serializers.Serializer[Any]):
    node_id = serializers.IntegerField(source="node.pk")
    node = serializers.CharField(source="node.name")
    cluster = serializers.SlugField(source="node.cluster.slug")
    step = serializers.CharField(source="proposal.step", help_text="sub_healthy or quarantine.")
    action_class = serializers.CharField(source="proposal.action_class")
    reasons = serializers.ListField(child=serializers.CharField(), source="proposal.reasons")
    held_back = serializers.CharField(
        source="proposal.held_back",
        allow_blank=True,
        help_text="Why the portal leaves it to a person: policy, person, share, or nothing.",
    )
    hold_id = serializers.IntegerField(
        source="held.pk", allow_null=True, default=None, help_text="The quarantine that it is in already."
    )


class RuleOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    signal = serializers.CharField()
    title = serializers.CharField()
    why = serializers.CharField()
    direction = serializers.CharField(help_text="above or below: which side is bad.")
    warn = serializers.FloatField(allow_null=True)
    fail = serializers.FloatField(allow_null=True)
    unit = serializers.CharField()
    enabled = serializers.BooleanField(source="is_enabled")
    immediate = serializers.BooleanField(source="is_immediate")
    version = serializers.IntegerField(help_text="For If-Match; 0: nothing was set here yet.")


class RuleIn(serializers.Serializer[Any]):
    enabled = serializers.BooleanField()
    warn = serializers.FloatField(allow_null=True)
    fail = serializers.FloatField(allow_null=True)
    reason = serializers.CharField(max_length=300)


class HealthPolicyOut(serializers.ModelSerializer[HealthPolicy]):
    cluster = serializers.SlugField(source="cluster.slug")
    version = serializers.IntegerField(help_text="0: the portal's defaults.")

    class Meta:
        model = HealthPolicy
        fields = ["cluster", "automatic_quarantine", "most_share", "version"]


class HealthPolicyIn(serializers.Serializer[Any]):
    automatic_quarantine = serializers.BooleanField()
    most_share = serializers.FloatField(min_value=0, max_value=1)


class CauseOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    weight = serializers.IntegerField(help_text="1 (rare) to 5 (usual).")
    text = serializers.CharField()
    check_first = serializers.CharField()
    remedy = serializers.CharField()


class KnowledgeOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    xids = serializers.ListField(child=serializers.IntegerField())
    causes = CauseOut(many=True)


class SightingOut(serializers.Serializer[Any]):
    line = serializers.IntegerField()
    text = serializers.CharField(allow_blank=True)
    shown_by = serializers.CharField()


class RankedCauseOut(CauseOut):
    evidence = serializers.ListField(child=serializers.IntegerField(), help_text="Lines that speak for it.")


class SymptomOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    title = serializers.CharField()
    text = serializers.CharField()
    count = serializers.IntegerField(help_text="Lines that show it.")
    sightings = SightingOut(many=True)
    causes = RankedCauseOut(many=True, help_text="Likeliest first.")


class DiagnosisIn(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=LIMIT_TEXT, trim_whitespace=False)


class DiagnosisOut(serializers.Serializer[Any]):
    lines = serializers.IntegerField()
    symptoms = SymptomOut(many=True, help_text="Most likely first; none is no proof of health.")


class UpkeepOut(serializers.ModelSerializer[MaintenanceTask]):
    cluster = serializers.SlugField(source="cluster.slug")
    domain_id = serializers.IntegerField(allow_null=True)
    kind = serializers.CharField()

    class Meta:
        model = MaintenanceTask
        fields = ["id", "cluster", "domain_id", "kind", "title", "every_days", "due_on", "downgrade_path"]
        fields += ["retired_at", "version"]


class UpkeepIn(serializers.Serializer[Any]):
    cluster = serializers.SlugField()
    domain_id = serializers.IntegerField(required=False, allow_null=True, default=None, min_value=1)
    kind = serializers.CharField(help_text=", ".join(Upkeep.values), max_length=20)
    title = serializers.CharField(max_length=200)
    every_days = serializers.IntegerField(min_value=1, max_value=3660)
    due_on = serializers.DateField(required=False, allow_null=True, default=None)
    downgrade_path = serializers.CharField(required=False, allow_blank=True, default="", max_length=4000)


class UpkeepRecordOut(serializers.ModelSerializer[MaintenanceRecord]):
    done_by_id = serializers.IntegerField()

    class Meta:
        model = MaintenanceRecord
        fields = ["id", "due_on", "done_on", "done_by_id", "note", "recorded_at"]


class UpkeepRecordIn(serializers.Serializer[Any]):
    note = serializers.CharField(max_length=500)
    done_on = serializers.DateField(required=False, allow_null=True, default=None)


class UpkeepRetireIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=300)


class MetricsSourceOut(serializers.ModelSerializer[MetricsSource]):
    """Where metrics are fetched from. What the server is told who asks with is never shown again."""

    cluster = serializers.SlugField(source="cluster.slug")
    has_secret = serializers.BooleanField(help_text="Whether a token or password is on record.")

    class Meta:
        model = MetricsSource
        fields = ["cluster", "url", "host_label", "enabled", "every_s", "auth", "username", "has_secret"]
        fields += ["asked_at", "host_count", "error", "version"]


class MetricsSourceIn(serializers.Serializer[Any]):
    url = serializers.CharField(max_length=500, help_text="Of Prometheus, without /api/v1.")
    host_label = serializers.CharField(
        max_length=60, default="Hostname", help_text="The label that names the host."
    )
    enabled = serializers.BooleanField(default=True)
    every_s = serializers.IntegerField(default=300, help_text="Seconds from one look to the next, from 60.")
    auth = serializers.ChoiceField(choices=MetricsAuth.choices, default=MetricsAuth.NONE)
    username = serializers.CharField(max_length=120, default="", allow_blank=True, help_text="For basic.")
    secret = serializers.CharField(
        max_length=4096,
        default="",
        allow_blank=True,
        trim_whitespace=False,
        write_only=True,
        help_text="The token or password. Left out, the one on record stays, as long as the address is the same.",
    )
