"""Forms of clusters, domains and nodes."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.accelerators import Accelerator
from apps.catalogue.queries import accelerators_for
from apps.catalogue.words import full_name
from apps.core.units import gb
from apps.fleet.engine.layout import MAX_BYTES_PER_S
from apps.fleet.engine.layouts import at_card_speed
from apps.fleet.engine.life_cycle import MOVES, Stage
from apps.fleet.engine.tables import MAX_INDEX
from apps.fleet.engine.templates import TEMPLATES, template
from apps.fleet.models import BY_HAND, Cluster, LifeCycle, Node
from apps.fleet.queries.domains import bandwidth_of
from apps.fleet.words import layout_title


class NewClusterForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    slug = forms.CharField(
        label=_("Short name"),
        max_length=64,
        required=False,
        help_text=_(
            "Small letters, digits and dashes; it stands in addresses and cannot be changed. Empty: made of the name, "
            "or cluster-1 and so on."
        ),
    )
    owner_team = forms.CharField(label=_("Team that runs it"), max_length=120, required=False)
    description = forms.CharField(label=_("Description"), required=False, widget=forms.Textarea({"rows": 3}))


class ClusterForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    owner_team = forms.CharField(label=_("Team that runs it"), max_length=120, required=False)
    description = forms.CharField(label=_("Description"), required=False, widget=forms.Textarea({"rows": 3}))
    version = forms.IntegerField(widget=forms.HiddenInput)

    @staticmethod
    def values_of(cluster: Cluster) -> dict[str, Any]:
        return {name: getattr(cluster, name) for name in ("name", "owner_team", "description", "version")}


MAX_GB_PER_S = int(MAX_BYTES_PER_S / 1e9)
USUAL_ACCELERATOR = "nvidia-gb200"  # that of the layout which the wizard begins with


def accelerator_choices() -> list[tuple[str, str]]:
    """The accelerators of the catalogue, by vendor and name."""
    parts = sorted(accelerators_for(None).values(), key=lambda part: (part.vendor, part.name))
    return [(part.id, full_name(part)) for part in parts]


class DomainForm(forms.Form):
    layout = forms.ChoiceField(
        label=_("Layout"),
        choices=[(layout.key, layout_title(layout)) for layout in TEMPLATES],
        initial="144-as-4x36",
    )
    name = forms.CharField(
        label=_("Name of the domain"),
        max_length=60,
        help_text=_("Node names start with it, such as sn1-n01."),
    )
    accelerator_model = forms.ChoiceField(
        label=_("Accelerator"), choices=accelerator_choices, initial=USUAL_ACCELERATOR
    )
    first_node = forms.IntegerField(
        label=_("Number of the first node"), min_value=0, max_value=MAX_INDEX, initial=1
    )
    scale_out_gb_per_s = forms.FloatField(
        label=_("Scale-out network, per accelerator, one way"),
        required=False,
        min_value=0.001,
        max_value=MAX_GB_PER_S,
        initial=50,
        help_text=_("In GB/s; 400 Gbit/s are 50 GB/s."),
    )

    def build_values(self, parts: Mapping[str, Accelerator]) -> dict[str, Any]:
        """What the service and the preview take. parts: the catalogue, whose bandwidth of the card it is drawn at."""
        values = self.cleaned_data
        scale_out = values["scale_out_gb_per_s"]
        return {
            "name": values["name"].strip(),
            "layout": at_card_speed(
                template(values["layout"]), bandwidth_of(parts, values["accelerator_model"])
            ),
            "accelerator_model": values["accelerator_model"],
            "first_node": values["first_node"],
            "scale_out_bytes_per_s": gb(scale_out) if scale_out else None,
        }


class ReasonForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=300)


class HoldForm(ReasonForm):
    kind = forms.ChoiceField(label=_("Take out for"), choices=[(kind.value, kind.label) for kind in BY_HAND])
    field_order = ["kind", "reason"]


class AliasForm(forms.Form):
    name = forms.CharField(label=_("Another name"), max_length=255)


class NodeForm(forms.Form):
    rack = forms.CharField(label=_("Rack"), max_length=80, required=False)
    position = forms.CharField(label=_("Position in the rack"), max_length=40, required=False)
    serial = forms.CharField(label=_("Serial of the board"), max_length=120, required=False)
    version = forms.IntegerField(widget=forms.HiddenInput)

    @staticmethod
    def values_of(node: Node) -> dict[str, Any]:
        return {name: getattr(node, name) for name in ("rack", "position", "serial", "version")}


class MoveForm(ReasonForm):
    to = forms.ChoiceField(label=_("Becomes"))
    version = forms.IntegerField(widget=forms.HiddenInput)
    field_order = ["to", "reason", "version"]

    def __init__(self, *args: Any, node: Node, **kwargs: Any) -> None:
        super().__init__(*args, initial={"version": node.version}, **kwargs)
        words = dict(LifeCycle.choices)
        self.fields["to"].choices = [(to.value, words[to.value]) for to in MOVES[Stage(node.life_cycle)]]
