"""Forms of schedules and webhooks: they check shape; the rules live in the services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.forms import ScopeField
from apps.core.actor import Actor
from apps.core.rights import Right
from apps.jobs.services.schedules import LONGEST_S, SHORTEST_S


class ScheduleForm(forms.Form):
    every_s = forms.IntegerField(label=_("Every (seconds)"), min_value=SHORTEST_S, max_value=LONGEST_S)
    enabled = forms.BooleanField(label=_("Switched on"), required=False)
    version = forms.IntegerField(widget=forms.HiddenInput)


class EndpointForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    url = forms.URLField(label=_("Address"), max_length=500, assume_scheme="https")
    events = forms.CharField(
        label=_("Events"),
        initial="*",
        help_text=_("Patterns separated by blanks, such as change.* launch.*; * is every event."),
    )
    enabled = forms.BooleanField(label=_("Switched on"), required=False, initial=True)
    version = forms.IntegerField(widget=forms.HiddenInput, initial=1)

    def clean_events(self) -> list[str]:
        return str(self.cleaned_data["events"]).split()


class NewEndpointForm(EndpointForm):
    scope = ScopeField(label=_("Events of"), everywhere=_("every cluster"))
    field_order = ["name", "url", "events", "scope"]

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["scope"].offer(actor, Right.ADMIN)
        del self.fields["enabled"], self.fields["version"]
