"""Forms of benchmarks: shape only, rules live in services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.words import COLLECTIVES


class CollectiveForm(forms.Form):
    """State which collective a run was of; those that its figures allow come first."""

    collective = forms.ChoiceField(label=_("Collective"))

    def __init__(self, *args: Any, run: BenchmarkRun, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        names = run.candidates or list(COLLECTIVES)
        field: Any = self.fields["collective"]
        field.choices = [(name, COLLECTIVES.get(name, name)) for name in names]


class BaselineForm(forms.Form):
    """Say why this run is what later ones are compared with."""

    reason = forms.CharField(max_length=500, label=_("Reason"), widget=forms.Textarea(attrs={"rows": 2}))


class CompareForm(forms.Form):
    """Choose another run to lay beside this one."""

    beside = forms.ModelChoiceField(
        BenchmarkRun.objects.none(), label=_("Compare with"), empty_label=_("choose one")
    )

    def __init__(self, *args: Any, runs: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["beside"]
        field.queryset = runs
        field.label_from_instance = label_of


def label_of(run: BenchmarkRun) -> str:
    """A run in a list of choices: number, what, and when it came."""
    return f"#{run.pk} · {run} · {run.received_at:%Y-%m-%d}"
