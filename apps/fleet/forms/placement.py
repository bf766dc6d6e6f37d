"""The form of the placement check."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.fleet.engine.parallel import DEFAULT_ORDER, Dimension, ParallelSizes
from apps.fleet.models import Cluster, Domain


def _size(label: Any, **kwargs: Any) -> forms.IntegerField:
    return forms.IntegerField(label=label, min_value=1, max_value=100_000, initial=1, **kwargs)


class PlacementForm(forms.Form):
    """Ranks and parallel sizes; without ranks, one on each accelerator of the domain in order."""

    domain = forms.ModelChoiceField(queryset=Domain.objects.none(), label=_("Domain"), required=False)
    ranks = forms.CharField(
        label=_("Rank list"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 4, "class": "mono", "spellcheck": "false"}),
        help_text=_(
            "A hostfile, a node list such as sn[01-18], pods or JSON. Empty: every accelerator of the domain "
            "in order."
        ),
    )
    per_node = _size(_("Ranks per node"), help_text=_("Where the list does not say."))
    tp = _size("TP")
    cp = _size("CP")
    ep = _size("EP")
    dp = _size("DP")
    pp = _size("PP")
    order = forms.CharField(label=_("Rank order"), initial=DEFAULT_ORDER, max_length=40)
    dimension = forms.ChoiceField(
        label=_("Colour the groups of"),
        choices=[(one.value, one.value.upper()) for one in Dimension],
        initial=Dimension.TP.value,
    )

    def __init__(self, *args: Any, cluster: Cluster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        domains = Domain.objects.filter(cluster=cluster, retired_at__isnull=True)
        self.fields["domain"].queryset = domains
        self.fields["domain"].initial = domains.first()
        self.fields["per_node"].initial = 8

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("ranks", "").strip() and not cleaned.get("domain"):
            self.add_error("ranks", _("Paste a rank map, or choose a domain."))
        return cleaned

    def sizes(self) -> ParallelSizes:
        values = self.cleaned_data
        return ParallelSizes(**{name: values[name] for name in ("tp", "cp", "ep", "dp", "pp")})
