"""What the API of environments takes and gives."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.catalogue.engine.components import Component, RuleKind
from apps.core.verdicts import VERDICT_CHOICES
from apps.environments.engine.exchange import LIMIT_TEXT
from apps.environments.engine.facts import kinds_that_state
from apps.environments.engine.hardware import AtOdds
from apps.environments.models import (
    DriftCheck,
    DriftFinding,
    EnvironmentPolicy,
    Matrix,
    MatrixEntry,
    MatrixVersion,
    NodeFact,
)
from apps.environments.services.policy import CHECK_EVERY_S, STALE_AFTER_S
from apps.environments.words import remedies_of

RULE_CHOICES = [(rule.value, rule.value) for rule in RuleKind]
FORMAT_CHOICES = [("yaml", "yaml"), ("csv", "csv")]
_LIMIT_FILE = 2**20


class MatrixOut(serializers.ModelSerializer[Matrix]):
    cluster = serializers.SlugField(source="cluster.slug")
    domain_id = serializers.IntegerField(allow_null=True, help_text="Null: the whole cluster.")

    class Meta:
        model = Matrix
        fields = ["id", "cluster", "domain_id", "name", "created_at"]


class EntryOut(serializers.ModelSerializer[MatrixEntry]):
    values = serializers.ListField(child=serializers.CharField())

    class Meta:
        model = MatrixEntry
        fields = ["component", "rule", "values", "scheme", "branch_depth", "note"]


class EntryIn(serializers.Serializer[Any]):
    rule = serializers.ChoiceField(choices=RULE_CHOICES)
    values = serializers.ListField(
        child=serializers.CharField(max_length=LIMIT_TEXT), max_length=100, required=False, default=list
    )
    note = serializers.CharField(max_length=300, required=False, allow_blank=True, default="")


class IntentEntryOut(serializers.Serializer[Any]):
    """One component that is asked for of a domain, and by which matrix."""

    component = serializers.CharField()
    rule = serializers.ChoiceField(choices=RULE_CHOICES)
    values = serializers.ListField(child=serializers.CharField())
    matrix_version_id = serializers.IntegerField()
    of_whole_cluster = serializers.BooleanField()


class IntentOut(serializers.Serializer[Any]):
    matrix_version_id = serializers.IntegerField(allow_null=True, help_text="The matrix in force.")
    wide_version_id = serializers.IntegerField(
        allow_null=True, help_text="The whole cluster's, where it holds beneath the domain's own."
    )
    entries = IntentEntryOut(many=True)


class DraftNoteOut(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="tie, minority, missing, units_differ, unknown_form or few.")
    component = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())
    nodes = serializers.ListField(child=serializers.CharField())
    of_nodes = serializers.IntegerField(
        default=0, help_text="How many nodes report anything at all, for few; else 0."
    )


class VersionOut(serializers.ModelSerializer[MatrixVersion]):
    matrix_id = serializers.IntegerField()
    matrix = serializers.CharField(source="matrix.name")
    cluster = serializers.SlugField(source="matrix.cluster.slug")
    domain_id = serializers.IntegerField(source="matrix.domain_id", allow_null=True)
    state = serializers.CharField(help_text="draft, locked or retired.")
    created_by_id = serializers.IntegerField(allow_null=True)
    locked_by_id = serializers.IntegerField(allow_null=True)
    html_url = serializers.SerializerMethodField()

    class Meta:
        model = MatrixVersion
        fields = ["id", "matrix_id", "matrix", "cluster", "domain_id", "number", "state", "note", "digest"]
        fields += ["created_by_id", "created_at", "locked_by_id", "locked_at", "override_reason"]
        fields += ["retired_at", "known_good_at", "version", "html_url"]

    def get_html_url(self, version: MatrixVersion) -> str:
        return reverse("environments:version", args=[version.pk])


class OneVersionOut(VersionOut):
    entries = EntryOut(many=True)
    draft_notes = DraftNoteOut(many=True)

    class Meta(VersionOut.Meta):
        fields = [*VersionOut.Meta.fields, "entries", "draft_notes"]


class DraftIn(serializers.Serializer[Any]):
    """What a draft is for, and where it comes from: a version, a file or (without) the reports of the nodes.

    A version alone gives the next one of its own matrix; with a domain or a cluster, a draft for that.
    """

    domain_id = serializers.IntegerField(required=False, min_value=1)
    cluster = serializers.SlugField(required=False, help_text="For a matrix of the whole cluster: its slug.")
    from_version_id = serializers.IntegerField(required=False, min_value=1)
    text = serializers.CharField(required=False, max_length=_LIMIT_FILE, trim_whitespace=False)
    file_format = serializers.ChoiceField(choices=FORMAT_CHOICES, required=False, default="yaml")
    name = serializers.CharField(required=False, max_length=120, allow_blank=True, default="")
    note = serializers.CharField(required=False, max_length=2000, allow_blank=True, default="")

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        homes = sum(name in attrs for name in ("domain_id", "cluster"))
        if homes > 1 or (not homes and "from_version_id" not in attrs):
            raise serializers.ValidationError(
                {"domain_id": "give domain_id or cluster, or from_version_id alone"}
            )
        if "from_version_id" in attrs and "text" in attrs:
            raise serializers.ValidationError({"text": "give from_version_id or text"})
        return attrs


class FileIn(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=_LIMIT_FILE, trim_whitespace=False)
    file_format = serializers.ChoiceField(choices=FORMAT_CHOICES, default="yaml")


class LockIn(serializers.Serializer[Any]):
    override_reason = serializers.CharField(
        required=False,
        allow_blank=True,
        max_length=2000,
        default="",
        help_text="Why it is locked although a rule between components is broken (needed) or warns (kept).",
    )


class RetireIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=2000)


class RuleResultOut(serializers.Serializer[Any]):
    rule = serializers.CharField()
    title = serializers.CharField(source="definition.title")
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    reason = serializers.CharField(help_text="holds, broken, not_stated, not_in_table or not_comparable.")
    component = serializers.CharField(source="clause.component")
    found = serializers.ListField(child=serializers.CharField())
    expected = serializers.ListField(child=serializers.CharField())
    why = serializers.CharField(source="definition.why")
    remedy = serializers.CharField(source="definition.remedy")
    source = serializers.CharField(source="definition.source")


class CompatibilityRuleOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    title = serializers.CharField()
    definition = serializers.JSONField(help_text="when, then, severity, unlisted, why, remedy, source …")
    is_enabled = serializers.BooleanField()
    is_shipped = serializers.BooleanField()
    reason = serializers.CharField(source="edit.reason", default="")
    changed_at = serializers.DateTimeField(source="edit.changed_at", default=None, allow_null=True)
    version = serializers.IntegerField(source="own_version", help_text="0: nothing was set here.")


class CompatibilityRuleIn(serializers.Serializer[Any]):
    definition = serializers.DictField(allow_null=True, help_text="Null switches the rule off.")
    reason = serializers.CharField(max_length=300)


class AskedOut(serializers.Serializer[Any]):
    rule = serializers.CharField()
    values = serializers.ListField(child=serializers.CharField())


class EntryChangeOut(serializers.Serializer[Any]):
    kind = serializers.CharField(help_text="added, removed or changed.")
    component = serializers.CharField()
    before = AskedOut(allow_null=True)
    after = AskedOut(allow_null=True)
    direction = serializers.IntegerField(
        allow_null=True, help_text="1 up, -1 down, 0 alike, null: not known."
    )


class CellOut(serializers.Serializer[Any]):
    component = serializers.CharField(allow_blank=True)
    outcome = serializers.CharField(help_text="match, drift, missing, extra, unknown_form, stale …")
    reason = serializers.CharField()
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    expected = serializers.CharField(allow_blank=True)
    found = serializers.ListField(child=serializers.CharField())
    declared = serializers.ListField(child=serializers.CharField())
    loaded_differs = serializers.BooleanField()
    contradicting = serializers.ListField(child=serializers.CharField())


class GroupOut(serializers.Serializer[Any]):
    fingerprint = serializers.CharField()
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    nodes = serializers.ListField(child=serializers.CharField())
    cells = serializers.ListField(child=CellOut(allow_null=True), help_text="In the order of components.")


class OddOneOut(serializers.Serializer[Any]):
    component = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())
    found = serializers.ListField(child=serializers.CharField())
    majority = serializers.ListField(child=serializers.CharField())
    majority_count = serializers.IntegerField()


class ShortestBoardOut(serializers.Serializer[Any]):
    component = serializers.CharField()
    value = serializers.CharField()
    newest = serializers.CharField()
    nodes = serializers.ListField(child=serializers.CharField())


class CheckOut(serializers.ModelSerializer[DriftCheck]):
    cluster = serializers.SlugField(source="domain.cluster.slug")
    domain_id = serializers.IntegerField()
    matrix_version_id = serializers.IntegerField(allow_null=True)
    wide_version_id = serializers.IntegerField(
        allow_null=True, help_text="The whole cluster's matrix, where it held beneath the domain's own."
    )
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)

    class Meta:
        model = DriftCheck
        fields = ["id", "cluster", "domain_id", "matrix_version_id", "wide_version_id", "first_checked_at"]
        fields += ["checked_at", "times", "verdict", "input_digest", "node_count", "finding_count"]


class OneCheckOut(CheckOut):
    components = serializers.ListField(child=serializers.CharField(allow_blank=True))
    groups = GroupOut(many=True)
    odd_ones = OddOneOut(many=True)
    shortest_boards = ShortestBoardOut(many=True)

    class Meta(CheckOut.Meta):
        fields = [*CheckOut.Meta.fields, "components", "groups", "odd_ones", "shortest_boards"]


class CheckIn(serializers.Serializer[Any]):
    domain_id = serializers.IntegerField(min_value=1)


class FindingOut(serializers.ModelSerializer[DriftFinding]):
    cluster = serializers.SlugField(source="domain.cluster.slug")
    domain_id = serializers.IntegerField()
    node_id = serializers.IntegerField(allow_null=True)
    node = serializers.CharField(source="node.name", allow_null=True, help_text="Null: the whole domain.")
    kind = serializers.CharField(help_text="drift, loaded_differs, contradiction or no_intent.")
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    owner_id = serializers.IntegerField(allow_null=True)
    intended = serializers.CharField(
        allow_blank=True,
        help_text="What is asked for; of loaded_differs what the package declares, of contradiction what the "
        "other kinds of reports say.",
    )
    remedy = serializers.SerializerMethodField(help_text="What to do about it.")

    class Meta:
        model = DriftFinding
        fields = ["id", "cluster", "domain_id", "node_id", "node", "component", "kind", "outcome", "reason"]
        fields += ["verdict", "intended", "reported", "first_seen_at", "last_seen_at", "resolved_at"]
        fields += ["remedy", "owner_id"]

    def get_remedy(self, finding: DriftFinding) -> str:
        return str(remedies_of(finding.kind, finding.reason))


class AssignIn(serializers.Serializer[Any]):
    owner_id = serializers.IntegerField(allow_null=True, min_value=1, help_text="Null gives it to nobody.")


class FactOut(serializers.ModelSerializer[NodeFact]):
    cluster = serializers.SlugField(source="node.cluster.slug")
    node_id = serializers.IntegerField()
    node = serializers.CharField(source="node.name")
    kind = serializers.CharField(help_text="The kind of evidence.")
    standing = serializers.CharField(help_text="declared or loaded.")

    class Meta:
        model = NodeFact
        fields = ["id", "cluster", "node_id", "node", "component", "kind", "standing", "value", "count"]
        fields += ["since", "until", "sha256"]


class ReportedOut(serializers.Serializer[Any]):
    component = serializers.CharField()
    loaded = serializers.ListField(child=serializers.CharField())
    declared = serializers.ListField(child=serializers.CharField())
    contradicting = serializers.ListField(child=serializers.CharField())
    seen_at = serializers.DateTimeField()


class HardwareFaultOut(serializers.Serializer[Any]):
    node_id = serializers.IntegerField()
    node = serializers.CharField()
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    code = serializers.ChoiceField(choices=[(code.value, code.value) for code in AtOdds])
    found = serializers.CharField(help_text="A count, a model or the memory of one, as reported.")
    held_against = serializers.CharField()


class PolicyOut(serializers.ModelSerializer[EnvironmentPolicy]):
    cluster = serializers.SlugField(source="cluster.slug")
    version = serializers.IntegerField(help_text="0: the portal's defaults.")

    class Meta:
        model = EnvironmentPolicy
        fields = ["cluster", "stale_after_s", "check_every_s", "version"]


class PolicyIn(serializers.Serializer[Any]):
    stale_after_s = serializers.IntegerField(min_value=STALE_AFTER_S[0], max_value=STALE_AFTER_S[1])
    check_every_s = serializers.IntegerField(min_value=CHECK_EVERY_S[0], max_value=CHECK_EVERY_S[1])


class ComponentOut(serializers.Serializer[Any]):
    id = serializers.CharField()
    label = serializers.CharField()
    vendor = serializers.CharField()
    area = serializers.CharField()
    scheme = serializers.CharField()
    branch_depth = serializers.IntegerField(allow_null=True)
    rule = serializers.CharField()
    is_multiple = serializers.BooleanField()
    read_from = serializers.SerializerMethodField(help_text="Kinds of evidence, the best witness first.")

    @extend_schema_field(list[str])
    def get_read_from(self, one: Component) -> list[str]:
        return [*dict.fromkeys((*one.read_from, *kinds_that_state(one.id)))]


class JobCheckIn(serializers.Serializer[Any]):
    text = serializers.CharField(max_length=_LIMIT_FILE, trim_whitespace=False)
    nccl_version = serializers.CharField(max_length=40, required=False, allow_blank=True, default="")


class JobFindingOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    severity = serializers.CharField(help_text="fail, warn or info.")
    name = serializers.CharField()
    value = serializers.CharField(allow_null=True)
    line = serializers.IntegerField()
    why = serializers.CharField()
    instead = serializers.CharField(allow_blank=True)
    suggestions = serializers.ListField(child=serializers.CharField())


class JobCheckOut(serializers.Serializer[Any]):
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    setting_count = serializers.SerializerMethodField()
    findings = JobFindingOut(many=True)

    @extend_schema_field(int)
    def get_setting_count(self, report: Any) -> int:
        return len(report.settings)
