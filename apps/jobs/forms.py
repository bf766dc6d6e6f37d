"""Forms of schedules and webhooks: they check shape; the rules live in the services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.queries import scopes_with
from apps.core.actor import Actor
from apps.core.rights import Right
from apps.jobs.services.schedules import LONGEST_S, SHORTEST_S

EVERYWHERE = "*"


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
    scope = forms.ChoiceField(label=_("Events of"))
    field_order = ["name", "url", "events", "scope"]

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scopes = scopes_with(Right.ADMIN, actor=actor)
        every = [(EVERYWHERE, _("every cluster"))] if actor.may(Right.ADMIN, None) else []
        self.fields["scope"].choices = [*every, *((str(scope.pk), scope.name) for scope in scopes)]
        del self.fields["enabled"], self.fields["version"]

    def scope_id(self) -> int | None:
        chosen = self.cleaned_data["scope"]
        return None if chosen == EVERYWHERE else int(chosen)
