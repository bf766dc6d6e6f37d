"""Forms about people: they check shape; the rules live in the services."""

from __future__ import annotations

import zoneinfo
from typing import Any

from django import forms
from django.conf import settings
from django.utils.text import format_lazy
from django.utils.translation import gettext_lazy as _

from apps.accounts import queries
from apps.accounts.services.roles import FOR_PEOPLE_ONLY
from apps.accounts.services.tokens import DEFAULT_DAYS, LONGEST_DAYS
from apps.core.actor import Actor
from apps.core.rights import Right, Role, TokenScope
from apps.core.role_names import ROLE_NAMES

EVERYWHERE = "*"
_SCOPES_ARE_FOR = {
    TokenScope.READ: _("read what its owner may read"),
    TokenScope.EVIDENCE_WRITE: _("hand in tool output"),
    TokenScope.FLEET_WRITE: _("edit and import the fleet"),
    TokenScope.ENVIRONMENT_WRITE: _("write drafts of matrices, ask for drift checks"),
    TokenScope.BENCHMARK_WRITE: _("write benchmarks"),
    TokenScope.PLAN_WRITE: _("make plans"),
    TokenScope.CHANGE_WRITE: _("ask for changes and move them on"),
    TokenScope.LAUNCH_WRITE: _("open and edit launches"),
    TokenScope.GATE_EVALUATE: _("ask the gate, as CI does"),
    TokenScope.AUDIT_READ: _("read the audit trail, where its owner is an auditor"),
}
THEMES = [("auto", _("as the system")), ("light", _("light")), ("dark", _("dark"))]


class ScopeField(forms.TypedChoiceField):
    """Where something holds, among the places where the actor may say so: a scope id, None for everywhere."""

    def __init__(self, *, label: Any, everywhere: Any) -> None:
        super().__init__(label=label, coerce=lambda choice: None if choice == EVERYWHERE else int(choice))
        self.everywhere = everywhere

    def offer(self, actor: Actor, right: Right) -> None:
        every = [(EVERYWHERE, self.everywhere)] if actor.may(right, None) else []
        scopes = queries.scopes_with(right, actor=actor)
        self.choices = [*every, *((str(scope.pk), scope.name) for scope in scopes)]


class PreferencesForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    language = forms.ChoiceField(label=_("Language"), required=False)
    time_zone = forms.ChoiceField(label=_("Time zone"), required=False)
    theme = forms.ChoiceField(label=_("Theme"), choices=THEMES)
    shortcuts = forms.BooleanField(
        label=_("Keyboard shortcuts"),
        required=False,
        help_text=_("Single keys such as g and c; press ? on any page to see them."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        zones = sorted(name for name in zoneinfo.available_timezones() if "/" in name or name == "UTC")
        self.fields["time_zone"].choices = [("", _("as the browser says")), *((zone, zone) for zone in zones)]
        self.fields["language"].choices = [("", _("as the browser asks")), *settings.LANGUAGES]


class PasswordChangeForm(forms.Form):
    current = forms.CharField(
        label=_("Password today"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password"}),
    )
    password = forms.CharField(
        label=_("New password"),
        strip=False,
        help_text=_("At least 12 characters, and none of the common ones."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label=_("New password again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_again(self) -> str:
        return _same(self.cleaned_data)


class ConfirmPasswordForm(forms.Form):
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "current-password", "autofocus": True}),
    )


class AcceptInvitationForm(forms.Form):
    name = forms.CharField(label=_("Name"), max_length=120)
    password = forms.CharField(
        label=_("Password"),
        strip=False,
        help_text=_("At least 12 characters, and none of the common ones."),
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )
    again = forms.CharField(
        label=_("Password again"),
        strip=False,
        widget=forms.PasswordInput(attrs={"autocomplete": "new-password"}),
    )

    def clean_again(self) -> str:
        return _same(self.cleaned_data)


def _same(data: dict[str, Any]) -> str:
    if data.get("password") != data["again"]:
        raise forms.ValidationError(_("The two passwords differ."))
    return str(data["again"])


class RoleForm(forms.Form):
    """A role, and where it holds."""

    role = forms.ChoiceField(label=_("Role"))
    scope = ScopeField(label=_("Where"), everywhere=_("everywhere"))

    def __init__(self, *args: Any, actor: Actor, for_service: bool = False, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        roles = [role for role in Role if not (for_service and role in FOR_PEOPLE_ONLY)]
        self.fields["role"].choices = [(role.value, ROLE_NAMES[role]) for role in roles]
        self.fields["scope"].offer(actor, Right.ADMIN)


class RoleByEmailForm(RoleForm):
    email = forms.EmailField(label=_("Email"), help_text=_("Of somebody who has an account already."))
    field_order = ["email", "role", "scope"]


class ServiceAccountForm(RoleForm):
    name = forms.CharField(label=_("Name"), max_length=120, help_text=_("Such as: CI of the training team"))
    field_order = ["name", "role", "scope"]


class InviteForm(forms.Form):
    email = forms.EmailField(label=_("Email"))
    name = forms.CharField(label=_("Name"), max_length=120)
    roles = forms.MultipleChoiceField(label=_("Roles"), widget=forms.CheckboxSelectMultiple)
    scope = ScopeField(label=_("Where"), everywhere=_("everywhere"))

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["roles"].choices = [(role.value, ROLE_NAMES[role]) for role in Role]
        self.fields["scope"].offer(actor, Right.ADMIN)


class ReasonForm(forms.Form):
    reason = forms.CharField(label=_("Reason"), max_length=500)


class TokenForm(forms.Form):
    name = forms.CharField(
        label=_("Name"), max_length=120, help_text=_("What it is for, such as: nightly CI")
    )
    scopes = forms.MultipleChoiceField(
        label=_("It may"),
        choices=[
            (scope.value, format_lazy("{} – {}", scope.value, meaning))
            for scope, meaning in _SCOPES_ARE_FOR.items()
        ],
        initial=[TokenScope.READ.value],
        widget=forms.CheckboxSelectMultiple,
        help_text=_("Never more than its owner may. No token can approve or sign."),
    )
    clusters = forms.MultipleChoiceField(
        label=_("Clusters"),
        required=False,
        widget=forms.CheckboxSelectMultiple,
        help_text=_("None chosen: every cluster of its owner, later ones too."),
    )
    days = forms.IntegerField(
        label=_("Valid for (days)"), min_value=1, max_value=LONGEST_DAYS, initial=DEFAULT_DAYS
    )

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["clusters"].choices = [
            (str(scope.pk), scope.name) for scope in queries.scopes_visible_to(actor)
        ]
