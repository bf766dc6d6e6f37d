"""The form of a free layout: counts, links, bandwidth per link, tiers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.accelerators import Accelerator
from apps.core.errors import FieldError, Invalid
from apps.core.units import gb
from apps.fleet.engine.graph import Medium
from apps.fleet.engine.layout import Layout, Shape
from apps.fleet.engine.layout_values import from_values
from apps.fleet.engine.layouts import even_sub_domains
from apps.fleet.engine.tables import MAX_INDEX
from apps.fleet.forms.fleet import MAX_GB_PER_S, USUAL_ACCELERATOR, accelerator_choices
from apps.fleet.queries.domains import bandwidth_of
from apps.fleet.words import SHAPE_WORDS

MEDIUM_WORDS = {Medium.BOARD: _("on the board"), Medium.COPPER: _("copper"), Medium.OPTICAL: _("optical")}
_MEDIA = [(medium.value, word) for medium, word in MEDIUM_WORDS.items()]


class FreeLayoutForm(forms.Form):
    """A domain of one's own shape. The second tier is for the shape with an upper layer only."""

    name = forms.CharField(label=_("Name of the domain"), max_length=60)
    accelerator_model = forms.ChoiceField(
        label=_("Accelerator"), choices=accelerator_choices, initial=USUAL_ACCELERATOR
    )
    first_node = forms.IntegerField(
        label=_("Number of the first node"), min_value=0, max_value=MAX_INDEX, initial=1
    )
    scale_out_gb_per_s = forms.FloatField(
        label=_("Scale-out network per accelerator, one way (GB/s)"),
        required=False,
        min_value=0.001,
        max_value=MAX_GB_PER_S,
        initial=50,
    )
    shape = forms.ChoiceField(
        label=_("Shape"),
        choices=[(shape.value, word) for shape, word in SHAPE_WORDS.items()],
        initial=Shape.SINGLE_LAYER.value,
    )
    nodes = forms.IntegerField(label=_("Nodes"), min_value=1, max_value=2000, initial=16)
    accelerators_per_node = forms.IntegerField(
        label=_("Accelerators per node"), min_value=1, max_value=64, initial=8
    )
    sub_domains = forms.IntegerField(
        label=_("Equal sub-domains"), min_value=1, max_value=500, initial=1, help_text=_("1: none.")
    )
    sides = forms.CharField(
        label=_("Sides of the torus"), required=False, max_length=30, help_text=_("Such as 8×16 or 4×4×8.")
    )
    switches = forms.IntegerField(
        label=_("Switches of the first tier"),
        min_value=0,
        max_value=10_000,
        initial=18,
        help_text=_(
            "Of each sub-domain where there is an upper layer; 0 for mesh, ring, torus and fat tree."
        ),
    )
    links = forms.IntegerField(label=_("Links to each"), min_value=1, max_value=1000, initial=1)
    link_gb_per_s = forms.FloatField(
        label=_("One link, one way (GB/s)"),
        required=False,
        min_value=0.001,
        max_value=MAX_GB_PER_S,
        help_text=_("Empty: what the catalogue has for the accelerator."),
    )
    medium = forms.ChoiceField(label=_("Made of"), choices=_MEDIA, initial=Medium.COPPER.value)
    upper_switches = forms.IntegerField(
        label=_("Switches of the upper tier"), required=False, min_value=0, max_value=10_000
    )
    upper_links = forms.IntegerField(
        label=_("Links to each of them"), required=False, min_value=1, max_value=1000
    )
    upper_link_gb_per_s = forms.FloatField(
        label=_("One of these, one way (GB/s)"), required=False, min_value=0.001, max_value=MAX_GB_PER_S
    )
    upper_medium = forms.ChoiceField(label=_("Made of"), choices=_MEDIA, initial=Medium.OPTICAL.value)

    def build_values(self, parts: Mapping[str, Accelerator]) -> dict[str, Any]:
        """What the service and the preview take. Raises Invalid (layout)."""
        given = self.cleaned_data
        scale_out = given["scale_out_gb_per_s"]
        return {
            "name": given["name"].strip(),
            "layout": self.layout(parts),
            "accelerator_model": given["accelerator_model"],
            "first_node": given["first_node"],
            "scale_out_bytes_per_s": gb(scale_out) if scale_out else None,
        }

    def layout(self, parts: Mapping[str, Accelerator]) -> Layout:
        """The layout; a first tier without a speed gets that of the card. Raises Invalid with every wrong field."""
        speed = self.cleaned_data["link_gb_per_s"]
        if speed is not None:
            return self._at(speed)
        card = bandwidth_of(parts, self.cleaned_data["accelerator_model"])
        if card is None:
            message = _("The catalogue has no scale-up bandwidth of this accelerator; give it here.")
            raise Invalid(message, errors=[FieldError(pointer="/link_gb_per_s", message=message)])
        return self._at(card / self._at(1).unidirectional_bytes_per_s)

    def _at(self, speed_gb: float) -> Layout:
        given = self.cleaned_data
        two_layer = given["shape"] == Shape.TWO_LAYER
        cards = given["nodes"] * given["accelerators_per_node"]
        sizes = even_sub_domains(cards, given["sub_domains"]) if given["sub_domains"] > 1 else ()
        tiers = [_tier("tier 1", given["switches"], given["links"], speed_gb, given["medium"])]
        if two_layer:
            speed = given["upper_link_gb_per_s"] or speed_gb
            tiers.append(
                _tier(
                    "tier 2",
                    given["upper_switches"] or 0,
                    given["upper_links"] or 1,
                    speed,
                    given["upper_medium"],
                )
            )
        return from_values(
            {
                "nodes": given["nodes"],
                "accelerators_per_node": given["accelerators_per_node"],
                "shape": given["shape"],
                "tiers": tiers,
                "sub_domain_sizes": list(sizes),
                "lower_group": 0 if sizes or not two_layer else given["accelerators_per_node"],
                "sides": _sides(given["sides"]),
            }
        )


def _tier(name: str, switches: int, links: int, speed_gb: float, medium: str) -> dict[str, Any]:
    return {
        "name": name,
        "switches": switches,
        "links_to_each": links,
        "link_bytes_per_s": gb(speed_gb),
        "medium": medium,
    }


def _sides(text: str) -> list[int]:
    parts = text.replace("×", "x").replace("*", "x").lower().split("x") if text.strip() else []
    return [int(part) if part.strip().isdecimal() and len(part) < 7 else 0 for part in parts]
