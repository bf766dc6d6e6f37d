"""Forms of evidence: shape only, rules live in services."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.evidence.models import KeepPolicy
from apps.evidence.services.policy import LONGEST_DAYS
from apps.evidence.words import kind_name


def _days(label: Any, initial: int | None) -> forms.IntegerField:
    return forms.IntegerField(
        required=False, min_value=0, max_value=LONGEST_DAYS, label=label, initial=initial
    )


class KeepForm(forms.Form):
    """For how many days raw bytes are kept: of all kinds, and of single ones."""

    def __init__(self, *args: Any, policy: KeepPolicy, kinds: Iterable[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.kinds = sorted({*kinds, *policy.kinds})
        self.fields["keep_days"] = _days(_("All kinds"), policy.keep_days)
        for kind in self.kinds:
            self.fields[f"kinds-{kind}"] = _days(kind_name(kind), policy.kinds.get(kind))

    def days_by_kind(self) -> dict[str, int]:
        """Kind to its number of days, without those that were left empty."""
        said = {kind: self.cleaned_data[f"kinds-{kind}"] for kind in self.kinds}
        return {kind: days for kind, days in said.items() if days is not None}

    def of_kinds(self) -> list[Any]:
        """The fields of single kinds, for the page."""
        return [self[f"kinds-{kind}"] for kind in self.kinds]
