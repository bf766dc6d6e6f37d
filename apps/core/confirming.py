"""Confirming a grave thing by a reason and a typed name, so that nobody does it in passing."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.html import format_html
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy


class ConfirmedForm(forms.Form):
    """Why, and the name of the cluster typed as confirmation."""

    reason = forms.CharField(
        max_length=2000, label=gettext_lazy("Reason"), widget=forms.Textarea(attrs={"rows": 2})
    )
    cluster_name = forms.CharField(max_length=200, label=gettext_lazy("Name of the cluster"))

    def __init__(self, *args: Any, cluster_name: str, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.cluster_name = cluster_name
        # The name stands apart as what is to be typed, and nothing in it is markup.
        name = format_html("<code>{}</code>", cluster_name)
        self.fields["cluster_name"].help_text = format_html(_("Type {name} to confirm."), name=name)

    def clean_cluster_name(self) -> str:
        typed: str = self.cleaned_data["cluster_name"].strip()
        if typed != self.cluster_name:
            raise forms.ValidationError(_("This is not the name of the cluster."))
        return typed
