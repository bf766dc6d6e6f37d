"""What the API of the fleet takes and gives. Bandwidth is bytes per second, one way."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema_field
from rest_framework import serializers

from apps.core.verdicts import VERDICT_CHOICES
from apps.fleet.engine.fit import Fit, Pattern, Purpose
from apps.fleet.engine.graph import TopologyKind
from apps.fleet.engine.layout import MAX_BYTES_PER_S
from apps.fleet.engine.layout_values import as_values
from apps.fleet.engine.node_state import NodeState
from apps.fleet.engine.tables import MAX_INDEX
from apps.fleet.models import (
    STAGE_CHOICES,
    Accelerator,
    Cluster,
    Domain,
    HardwareChange,
    Hold,
    HoldKind,
    LifeCycle,
    Link,
    Node,
    NodeAlias,
    NodeHealth,
    Part,
    PartKind,
    SubDomain,
    Switch,
)
from apps.fleet.queries import state_of

STATE_CHOICES = [(state.value, state.value) for state in NodeState]


class ClusterOut(serializers.ModelSerializer[Cluster]):
    class Meta:
        model = Cluster
        fields = ["id", "slug", "name", "description", "owner_team", "is_demo", "created_at", "version"]


class ClusterIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    slug = serializers.SlugField(max_length=64, required=False, default="")
    description = serializers.CharField(required=False, default="", allow_blank=True, max_length=4000)
    owner_team = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)


class ClusterEditIn(serializers.Serializer[Any]):
    name = serializers.CharField(max_length=120)
    description = serializers.CharField(allow_blank=True, max_length=4000)
    owner_team = serializers.CharField(allow_blank=True, max_length=120)


class SubDomainOut(serializers.ModelSerializer[SubDomain]):
    class Meta:
        model = SubDomain
        fields = ["id", "name", "index"]


class DomainOut(serializers.ModelSerializer[Domain]):
    cluster = serializers.SlugField(source="cluster.slug")
    sub_domains = SubDomainOut(many=True)

    class Meta:
        model = Domain
        fields = ["id", "cluster", "name", "layout", "topology", "accelerator_model", "sub_domains"]
        fields += ["unidirectional_bytes_per_s", "scale_out_bytes_per_s", "parameters", "version"]


class DomainIn(serializers.Serializer[Any]):
    cluster = serializers.SlugField(help_text="The cluster's slug.")
    name = serializers.CharField(max_length=60)
    template = serializers.CharField(
        required=False,
        max_length=40,
        help_text="Key of a layout template, at the bandwidth of the accelerator; or give layout.",
    )
    layout = serializers.DictField(
        required=False, help_text="A free layout, in the form that /layout-templates/ gives."
    )
    accelerator_model = serializers.CharField(max_length=80)
    first_node = serializers.IntegerField(min_value=0, max_value=MAX_INDEX, default=1)
    scale_out_bytes_per_s = serializers.FloatField(
        required=False, allow_null=True, default=None, min_value=1, max_value=MAX_BYTES_PER_S
    )

    def validate(self, attrs: dict[str, Any]) -> dict[str, Any]:
        if ("template" in attrs) == ("layout" in attrs):
            raise serializers.ValidationError({"template": "give either template or layout"})
        return attrs


class LayoutOut(serializers.Serializer[Any]):
    key = serializers.CharField()
    title = serializers.CharField()
    accelerators = serializers.IntegerField()
    unidirectional_bytes_per_s = serializers.FloatField()
    values = serializers.SerializerMethodField(help_text="What `layout` of a new domain takes.")

    @extend_schema_field({"type": "object", "additionalProperties": True})
    def get_values(self, layout: Any) -> dict[str, Any]:
        return as_values(layout)


class ReasonOut(serializers.Serializer[Any]):
    code = serializers.CharField()
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    message = serializers.CharField()


class FitOut(serializers.Serializer[Fit]):
    pattern = serializers.ChoiceField(choices=[(one.value, one.value) for one in Pattern])
    purpose = serializers.ChoiceField(choices=[(one.value, one.value) for one in Purpose])
    verdict = serializers.ChoiceField(choices=VERDICT_CHOICES)
    reasons = ReasonOut(many=True)


class TierOut(serializers.Serializer[Any]):
    level = serializers.IntegerField()
    switches = serializers.IntegerField()
    down_bytes_per_s = serializers.IntegerField()
    up_bytes_per_s = serializers.IntegerField()
    ratio = serializers.FloatField()


class FabricOut(serializers.Serializer[Any]):
    """Figures of a fabric; bandwidth is one way."""

    topology = serializers.ChoiceField(
        choices=[(kind.value, kind.value) for kind in TopologyKind], source="kind"
    )
    accelerators = serializers.IntegerField(source="metrics.endpoints")
    injection_bytes_per_s = serializers.IntegerField(source="metrics.injection_bytes_per_s")
    bisection_bytes_per_s = serializers.IntegerField(source="metrics.bisection.bandwidth_bytes_per_s")
    bisection_lower_bound_bytes_per_s = serializers.IntegerField(
        source="metrics.bisection.lower_bound_bytes_per_s"
    )
    bisection_share = serializers.FloatField()
    bisection_method = serializers.CharField(source="metrics.bisection.method.value")
    all_to_all_share = serializers.FloatField()
    diameter_links = serializers.IntegerField(source="metrics.distances.diameter_links")
    mean_links = serializers.FloatField(source="metrics.distances.mean_links")
    tiers = TierOut(source="metrics.tiers", many=True)
    switches = serializers.IntegerField(source="metrics.parts.switches")
    endpoint_ports = serializers.IntegerField(source="metrics.parts.endpoint_ports")
    switch_ports = serializers.IntegerField(source="metrics.parts.switch_ports")
    cables = serializers.IntegerField(source="metrics.parts.cables")
    optics = serializers.IntegerField(source="metrics.parts.optics")
    fits = FitOut(many=True)


class DomainPreviewOut(serializers.Serializer[Any]):
    name = serializers.CharField()
    accelerators = serializers.IntegerField(source="layout.accelerators")
    nodes = serializers.SerializerMethodField()
    sub_domain_sizes = serializers.ListField(
        child=serializers.IntegerField(), source="layout.sub_domain_sizes"
    )
    unidirectional_bytes_per_s = serializers.FloatField(source="layout.unidirectional_bytes_per_s")
    taken = serializers.ListField(child=serializers.CharField())
    doubts = serializers.ListField(child=serializers.CharField())
    fabric = FabricOut()

    @extend_schema_field({"type": "array", "items": {"type": "string"}})
    def get_nodes(self, preview: Any) -> list[str]:
        return [node.name for node in preview.fleet.nodes]


class HoldOut(serializers.ModelSerializer[Hold]):
    node = serializers.CharField(source="node.name")
    node_id = serializers.IntegerField()
    kind = serializers.ChoiceField(choices=HoldKind.choices)

    class Meta:
        model = Hold
        fields = ["id", "node_id", "node", "kind", "owner", "reason", "by_label", "automatic"]
        fields += ["since", "released_at", "released_by_label"]


class ActiveHoldOut(serializers.ModelSerializer[Hold]):
    kind = serializers.ChoiceField(choices=HoldKind.choices)

    class Meta:
        model = Hold
        fields = ["id", "kind", "owner", "reason", "by_label", "automatic", "since"]


class NodeOut(serializers.ModelSerializer[Node]):
    cluster = serializers.SlugField(source="cluster.slug")
    domain = serializers.CharField(source="domain.name", allow_null=True, default=None)
    domain_id = serializers.IntegerField(allow_null=True)
    life_cycle = serializers.ChoiceField(choices=LifeCycle.choices)
    health = serializers.ChoiceField(choices=NodeHealth.choices)
    state = serializers.SerializerMethodField()
    accelerator_count = serializers.IntegerField()
    holds = ActiveHoldOut(source="active_holds", many=True)

    class Meta:
        model = Node
        fields = ["id", "cluster", "name", "domain", "domain_id", "index", "state", "life_cycle", "health"]
        fields += [
            "rack",
            "position",
            "serial",
            "system_serial",
            "accelerator_count",
            "holds",
            "last_reported_at",
            "version",
        ]

    @extend_schema_field(serializers.ChoiceField(choices=STATE_CHOICES))
    def get_state(self, node: Node) -> str:
        return state_of(node).value


class NodePlaceIn(serializers.Serializer[Any]):
    rack = serializers.CharField(max_length=80, allow_blank=True)
    position = serializers.CharField(max_length=40, allow_blank=True)
    serial = serializers.CharField(max_length=120, allow_blank=True)


class MoveIn(serializers.Serializer[Any]):
    to = serializers.ChoiceField(choices=LifeCycle.choices)
    reason = serializers.CharField(max_length=300)


class HoldIn(serializers.Serializer[Any]):
    node_id = serializers.IntegerField(min_value=1)
    kind = serializers.ChoiceField(
        choices=HoldKind.choices,
        help_text="maintenance or quarantine; the others are taken by what they are for",
    )
    reason = serializers.CharField(max_length=300)


class ReleaseIn(serializers.Serializer[Any]):
    reason = serializers.CharField(max_length=300)


class AcceleratorOut(serializers.ModelSerializer[Accelerator]):
    node = serializers.CharField(source="node.name")
    node_id = serializers.IntegerField()
    sub_domain = serializers.CharField(source="sub_domain.name", allow_null=True, default=None)

    class Meta:
        model = Accelerator
        fields = ["id", "node_id", "node", "index", "sub_domain", "model", "uuid", "serial", "bus_id"]


class SwitchOut(serializers.ModelSerializer[Switch]):
    cluster = serializers.SlugField(source="cluster.slug")
    domain = serializers.CharField(source="domain.name", allow_null=True, default=None)

    class Meta:
        model = Switch
        fields = ["id", "cluster", "domain", "name", "tier", "index", "ports"]


class LinkOut(serializers.ModelSerializer[Link]):
    upper = serializers.CharField(source="upper.name")
    lower = serializers.SerializerMethodField(help_text="A switch, a node, or an accelerator as node/index.")

    class Meta:
        model = Link
        fields = ["id", "upper", "lower", "count", "unidirectional_bytes_per_s", "optical"]

    def get_lower(self, link: Link) -> str:
        return link.lower_end


class AliasOut(serializers.ModelSerializer[NodeAlias]):
    cluster = serializers.SlugField(source="cluster.slug")
    node = serializers.CharField(source="node.name")
    node_id = serializers.IntegerField()

    class Meta:
        model = NodeAlias
        fields = ["id", "cluster", "node_id", "node", "name"]


class AliasIn(serializers.Serializer[Any]):
    node_id = serializers.IntegerField(min_value=1)
    name = serializers.CharField(max_length=255)


class HardwareChangeOut(serializers.ModelSerializer[HardwareChange]):
    node = serializers.CharField(source="node.name")
    node_id = serializers.IntegerField()

    class Meta:
        model = HardwareChange
        fields = ["id", "node_id", "node", "slot", "what", "before", "after", "seen_at", "sha256"]


class PartOut(serializers.ModelSerializer[Part]):
    cluster = serializers.SlugField(source="cluster.slug")
    kind = serializers.ChoiceField(choices=PartKind.choices)
    stage = serializers.ChoiceField(choices=STAGE_CHOICES)
    node = serializers.CharField(
        source="node.name", allow_null=True, default=None, help_text="The node it is in, or was in last."
    )

    class Meta:
        model = Part
        fields = ["id", "cluster", "kind", "model", "serial", "uuid", "stage", "node", "slot", "note"]
        fields += ["changed_at", "version"]


class PartIn(serializers.Serializer[Any]):
    cluster = serializers.SlugField(help_text="The cluster's slug.")
    kind = serializers.ChoiceField(choices=PartKind.choices)
    model = serializers.CharField(required=False, default="", allow_blank=True, max_length=120)
    serial = serializers.CharField(required=False, default="", allow_blank=True, max_length=80)
    uuid = serializers.CharField(required=False, default="", allow_blank=True, max_length=80)
    note = serializers.CharField(required=False, default="", allow_blank=True, max_length=300)


class PartMoveIn(serializers.Serializer[Any]):
    to = serializers.ChoiceField(choices=STAGE_CHOICES)
    reason = serializers.CharField(max_length=300)
