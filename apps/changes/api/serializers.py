"""What the API of changes takes and gives."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.changes.engine.stages import DEFAULT_SOAK_S
from apps.changes.models import Approval, Change, ChangeKind, ChangeState, Snapshot
from apps.changes.queries import AgainstMatrix, snapshot_versions
from apps.changes.services import Content, Wish
from apps.changes.services.drafting import LONGEST_SOAK_S, MOST_APPROVALS

ASKED_KINDS = [(value, value) for value in ChangeKind.values if value != ChangeKind.ROLLBACK]


class ItemIn(serializers.Serializer[Any]):
    component = serializers.CharField(max_length=60)
    versions = serializers.ListField(
        child=serializers.CharField(max_length=300),
        min_length=1,
        max_length=20,
        help_text="Raw versions of which any is right.",
    )


class ContentIn(serializers.Serializer[Any]):
    """What a change says."""

    title = serializers.CharField(max_length=200)
    reason = serializers.CharField(max_length=4000)
    items = ItemIn(many=True, allow_empty=False, max_length=60)
    nodes = serializers.CharField(
        required=False,
        default="",
        allow_blank=True,
        max_length=20_000,
        help_text="Node list such as sn[01-18]; empty means all nodes of the domain.",
    )
    back_out = serializers.CharField(required=False, default="", allow_blank=True, max_length=4000)
    approvals_needed = serializers.IntegerField(
        required=False, default=1, min_value=1, max_value=MOST_APPROVALS
    )
    soak_s = serializers.ListField(
        child=serializers.IntegerField(min_value=0, max_value=LONGEST_SOAK_S),
        required=False,
        default=list(DEFAULT_SOAK_S),
        min_length=2,
        max_length=2,
        help_text="How long the first and the second stage hold, in seconds.",
    )


class ChangeIn(ContentIn):
    domain_id = serializers.IntegerField(min_value=1)
    kind = serializers.ChoiceField(choices=ASKED_KINDS)


class NoteIn(serializers.Serializer[Any]):
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=2000)


class RefusalIn(serializers.Serializer[Any]):
    note = serializers.CharField(max_length=2000)


class ChangeReasonIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=2000)


class ReviewIn(serializers.Serializer[Any]):
    review = serializers.CharField(max_length=4000)


class RollbackIn(serializers.Serializer[Any]):
    """Back to a version that was known good, on the nodes that differ from it."""

    domain_id = serializers.IntegerField(min_value=1)
    reason = serializers.CharField(max_length=2000)
    matrix_version_id = serializers.IntegerField(
        required=False,
        allow_null=True,
        default=None,
        min_value=1,
        help_text="The newest known-good by default.",
    )
    nodes = serializers.CharField(required=False, default="", allow_blank=True, max_length=20_000)


class ChangeOut(serializers.ModelSerializer[Change]):
    """One change as lists show it."""

    cluster = serializers.SlugField(source="cluster.slug")
    domain_id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=ChangeKind.choices)
    state = serializers.ChoiceField(choices=ChangeState.choices)
    requester_id = serializers.IntegerField()
    executor_id = serializers.IntegerField(allow_null=True)
    reverses_id = serializers.IntegerField(allow_null=True, help_text="The change that this rollback undoes.")
    restores_version_id = serializers.IntegerField(
        allow_null=True, help_text="The matrix version that this rollback goes back to."
    )
    reviewed_by_id = serializers.IntegerField(allow_null=True)
    node_count = serializers.IntegerField(read_only=True)
    html_url = serializers.SerializerMethodField()

    class Meta:
        model = Change
        fields = ["id", "html_url", "cluster", "domain_id", "kind", "title", "reason", "back_out", "state"]
        fields += ["content_digest", "revision", "approvals_needed", "node_count", "requester_id"]
        fields += ["executor_id", "created_at", "submitted_at", "started_at", "ended_at", "ended_reason"]
        fields += ["reverses_id", "restores_version_id", "reviewed_by_id", "reviewed_at", "review", "version"]

    def get_html_url(self, change: Change) -> str:
        return str(self.context["request"].build_absolute_uri(reverse("changes:change", args=[change.pk])))


class WantedOut(serializers.Serializer[Any]):
    component = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())
    nodes = serializers.CharField(help_text="Node list such as sn[01-18].")
    count = serializers.IntegerField()


class WaitOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    message = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())


class StageOut(serializers.Serializer[Any]):
    number = serializers.IntegerField(source="stage.number")
    name = serializers.CharField(source="stage.name")
    state = serializers.CharField(source="stage.state")
    soak_s = serializers.IntegerField(source="stage.soak_s")
    nodes = serializers.CharField()
    targets = serializers.IntegerField()
    reached = serializers.IntegerField()
    started_at = serializers.DateTimeField(source="stage.started_at", allow_null=True)
    reached_at = serializers.DateTimeField(source="stage.reached_at", allow_null=True)
    passed_at = serializers.DateTimeField(source="stage.passed_at", allow_null=True)
    waits = WaitOut(many=True)


class ApprovalOut(serializers.ModelSerializer[Approval]):
    person_id = serializers.IntegerField()

    class Meta:
        model = Approval
        fields = ["person_id", "content_digest", "approves", "note", "at"]


class SnapshotOut(serializers.ModelSerializer[Snapshot]):
    matrix_version_id = serializers.IntegerField(allow_null=True)

    class Meta:
        model = Snapshot
        fields = ["taken_at", "matrix_version_id", "digest"]


class SnapshotWholeOut(SnapshotOut):
    versions = serializers.SerializerMethodField()

    class Meta(SnapshotOut.Meta):
        fields = [*SnapshotOut.Meta.fields, "body", "versions"]

    @extend_schema_field(
        {
            "type": "object",
            "additionalProperties": {
                "type": "object",
                "additionalProperties": {"type": "array", "items": {"type": "string"}},
            },
        }
    )
    def get_versions(self, snapshot: Snapshot) -> dict[str, dict[str, list[str]]]:
        return snapshot_versions(snapshot)


class AgainstMatrixOut(serializers.Serializer[AgainstMatrix]):
    component = serializers.CharField()
    values = serializers.ListField(
        child=serializers.CharField(), help_text="The wanted versions that do not fit what is asked for."
    )
    rule = serializers.CharField(source="asked.rule.value")
    asked = serializers.ListField(source="asked.values", child=serializers.CharField())
    matrix_version_id = serializers.IntegerField(source="matrix_version.pk")
    matrix_version = serializers.CharField(help_text="The name and number of the version that asks for it.")


class PartsOut(serializers.Serializer[Any]):
    """Everything that was decided about a change, beside the change itself."""

    wanted = WantedOut(many=True)
    changes_nothing = serializers.BooleanField(
        help_text="It has not started, and every node of it reports the wanted versions already."
    )
    against_matrix = AgainstMatrixOut(
        many=True,
        help_text="It is not over, and the locked matrix in force asks for other versions: success would be drift.",
    )
    stages = StageOut(many=True)
    approvals = ApprovalOut(many=True)
    approvals_counting = serializers.IntegerField()
    snapshot = SnapshotOut(allow_null=True)
    rollback_ids = serializers.ListField(child=serializers.IntegerField())


class OneChangeOut(ChangeOut, PartsOut):
    """One change with everything that was decided about it."""

    class Meta(ChangeOut.Meta):
        fields = [*ChangeOut.Meta.fields, "wanted", "changes_nothing", "against_matrix", "stages"]
        fields += ["approvals", "approvals_counting", "snapshot", "rollback_ids"]


def content_of(data: dict[str, Any]) -> Content:
    """A valid body as services take it."""
    return Content(
        title=data["title"],
        reason=data["reason"],
        back_out=data["back_out"],
        approvals_needed=data["approvals_needed"],
        soak_s=tuple(data["soak_s"]),
        wishes=tuple(
            Wish(component=item["component"], values=tuple(item["versions"])) for item in data["items"]
        ),
    )
