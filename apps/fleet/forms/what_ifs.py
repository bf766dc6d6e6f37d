"""Forms of the allocation what-if and of mixed generations."""

from __future__ import annotations

from typing import Any

from django import forms
from django.forms import BaseFormSet, formset_factory
from django.utils.translation import gettext_lazy as _

from apps.catalogue.words import accelerator_name
from apps.fleet.engine.pool import Policy

POLICY_WORDS = {
    Policy.PER_CARD: _("per card"),
    Policy.TOPOLOGY_AWARE: _("topology-aware"),
    Policy.GANG: _("gang"),
    Policy.WHOLE_DOMAIN: _("whole domain"),
}
HOUR_S = 3600.0


class JobClassForm(forms.Form):
    """One class of equal jobs; spans in hours."""

    name = forms.CharField(label=_("Kind of job"), max_length=40, required=False)
    cards = forms.IntegerField(label=_("Accelerators"), min_value=1, required=False)
    count = forms.IntegerField(label=_("How many"), min_value=1, required=False)
    duration_h = forms.FloatField(label=_("Hours each"), min_value=0.01, required=False)
    mean_gap_h = forms.FloatField(label=_("Hours between"), min_value=0, required=False)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if any(cleaned.get(name) for name in ("name", "cards", "count", "duration_h")):
            for name in ("cards", "count", "duration_h"):
                if not cleaned.get(name) and name not in self.errors:
                    self.add_error(name, _("This is needed."))
        return cleaned

    def values(self) -> dict[str, Any] | None:
        """What the engine takes; None for an empty row."""
        given = self.cleaned_data
        if not given.get("cards"):
            return None
        return {
            "name": given["name"] or f"{given['cards']} cards",
            "cards": given["cards"],
            "count": given["count"],
            "duration_s": given["duration_h"] * HOUR_S,
            "mean_gap_s": (given.get("mean_gap_h") or 0) * HOUR_S,
        }


class _Mix(BaseFormSet):  # type: ignore[type-arg]  # Django has no subscript here at run time
    def values(self) -> list[dict[str, Any]]:
        return [row for form in self.forms if (row := form.values()) is not None]


MixFormSet = formset_factory(JobClassForm, formset=_Mix, extra=0, max_num=12, absolute_max=12)
FIRST_MIX = (
    {"name": "notebook", "cards": 1, "count": 60, "duration_h": 6, "mean_gap_h": 0.5},
    {"name": "fine-tune", "cards": 8, "count": 40, "duration_h": 12, "mean_gap_h": 1},
    {"name": "pre-train", "cards": 64, "count": 4, "duration_h": 48, "mean_gap_h": 12},
    {"name": "", "cards": None, "count": None, "duration_h": None, "mean_gap_h": None},
)


class WhatIfForm(forms.Form):
    policies = forms.MultipleChoiceField(
        label=_("Policies"),
        choices=[(policy.value, word) for policy, word in POLICY_WORDS.items()],
        widget=forms.CheckboxSelectMultiple,
        initial=[policy.value for policy in Policy],
    )
    block_cards = forms.IntegerField(
        label=_("Block that big jobs need"),
        min_value=1,
        required=False,
        help_text=_("Fragmentation is measured by it; empty takes the largest job, at most a domain."),
    )
    seed = forms.IntegerField(
        label=_("Seed"), min_value=0, max_value=2**31, initial=1, help_text=_("The same seed plays the same.")
    )


class MixedForm(forms.Form):
    """Units of work, and measured compute per model where it is known."""

    units = forms.IntegerField(
        label=_("Equal pieces of work"), min_value=1, max_value=1_000_000, initial=1024
    )

    def __init__(self, *args: Any, models: list[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.models = models
        for place, model in enumerate(models):
            label = _("%(model)s, measured TFLOPS") % {"model": accelerator_name(model)}
            self.fields[f"tflops_{place}"] = forms.FloatField(label=label, min_value=0.001, required=False)

    def measured_flops(self) -> dict[str, float]:
        """Model → measured FLOPs per second of one accelerator."""
        given = {model: self.cleaned_data.get(f"tflops_{place}") for place, model in enumerate(self.models)}
        return {model: tflops * 1e12 for model, tflops in given.items() if tflops}
