"""Forms of measured steps: note one, and withdraw one that was wrong."""

from __future__ import annotations

from django import forms
from django.utils.translation import gettext_lazy as _


class MeasuredStepForm(forms.Form):
    """Note how long a step really took."""

    measured_s = forms.FloatField(min_value=0, label=_("Measured step"))
    source = forms.CharField(
        max_length=300, label=_("Where the figure is from"), help_text=_("A job, a log, steps averaged over.")
    )


class WithdrawForm(forms.Form):
    """Say why a measured step counts no more."""

    reason = forms.CharField(max_length=500, label=_("Reason"))
