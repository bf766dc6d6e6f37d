"""Filters of deliveries, for pages and API alike."""

from __future__ import annotations

import django_filters
from django import forms
from django.utils.translation import gettext_lazy as _

from apps.core.filtering import of_cluster, of_node
from apps.evidence.models import Receipt, ReceiptState
from apps.evidence.words import KINDS


class ReceiptFilter(django_filters.FilterSet):
    """Deliveries by cluster, state, kind, the node that was said, and digest."""

    cluster = of_cluster("scope")
    state = django_filters.ChoiceFilter(choices=ReceiptState.choices, label=_("State"))
    kind = django_filters.ChoiceFilter(choices=[*KINDS.items()], label=_("Kind"))
    node = of_node("node_name")
    # On the page only by a link: nobody types a digest.
    sha256 = django_filters.CharFilter(label=_("Digest"), widget=forms.HiddenInput)

    class Meta:
        model = Receipt
        fields: list[str] = []
