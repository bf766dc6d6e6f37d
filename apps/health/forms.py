"""Forms of health: shape only, rules live in services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.fleet.models import Cluster, Domain
from apps.health.models import MetricsAuth, Upkeep

LIMIT_TEXT = 2**20
LIMIT_FILE_BYTES = 64 * 2**20


class ReasonForm(forms.Form):
    """Why something is done."""

    reason = forms.CharField(max_length=300, label=_("Reason"), widget=forms.Textarea(attrs={"rows": 2}))


class ResolveForm(forms.Form):
    """What was done about a fault."""

    resolution = forms.CharField(
        max_length=300, label=_("What was done"), widget=forms.Textarea(attrs={"rows": 3})
    )


class DiagnoseForm(forms.Form):
    """A log, pasted or uploaded."""

    text = forms.CharField(
        required=False,
        strip=False,
        max_length=LIMIT_TEXT,
        label=_("Log"),
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "false"}),
    )
    file = forms.FileField(
        required=False, label=_("Or a file"), help_text=_("At most 64 MiB; nothing is kept.")
    )

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        upload = cleaned.get("file")
        if upload is not None and upload.size > LIMIT_FILE_BYTES:
            self.add_error("file", _("The file is larger than 64 MiB."))
        elif upload is None and not str(cleaned.get("text") or "").strip() and not self.errors:
            self.add_error("text", _("Paste a log or choose a file."))
        return cleaned


class RuleForm(forms.Form):
    """A rule's switch and limits."""

    enabled = forms.BooleanField(required=False, label=_("The rule is on"))
    warn = forms.FloatField(required=False, label=_("Warns beyond"))
    fail = forms.FloatField(required=False, label=_("Fails beyond"))
    reason = forms.CharField(max_length=300, label=_("Reason"), widget=forms.Textarea(attrs={"rows": 2}))


class PolicyForm(forms.Form):
    """What a team lets happen without asking."""

    automatic_quarantine = forms.BooleanField(
        required=False,
        label=_("Quarantine faulty nodes without asking"),
        help_text=_("A quarantine that a person set or lifted stands in any case."),
    )
    most_share_percent = forms.FloatField(
        min_value=0,
        max_value=100,
        label=_("At most of a domain's nodes"),
        help_text=_("A rule that takes out more is more likely wrong than right."),
    )


class MetricsForm(forms.Form):
    """Where a cluster's Prometheus is, how it is asked, and who it is told asks."""

    url = forms.CharField(
        max_length=500,
        label=_("Address of the server"),
        help_text=_(
            "Without /api/v1. A private address, or plain http, has to be named in PORTAL_WEBHOOK_ALLOW."
        ),
        widget=forms.URLInput(attrs={"placeholder": "https://prometheus.example.com"}),
    )
    host_label = forms.CharField(
        max_length=60,
        label=_("Label that names the node"),
        help_text=_("Hostname of dcgm-exporter; instance will do, its port is left out."),
    )
    every_minutes = forms.IntegerField(min_value=1, max_value=1440, label=_("Every"))
    enabled = forms.BooleanField(required=False, label=_("Ask it"))
    auth = forms.ChoiceField(choices=MetricsAuth.choices, label=_("Credentials"))
    username = forms.CharField(
        required=False,
        max_length=120,
        label=_("User name"),
        widget=forms.TextInput(attrs={"autocomplete": "off"}),
    )
    secret = forms.CharField(
        required=False,
        strip=False,
        max_length=4096,
        label=_("Token or password"),
        widget=forms.PasswordInput(render_value=False, attrs={"autocomplete": "new-password"}),
    )

    def __init__(self, *args: Any, has_secret: bool, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["secret"].help_text = (
            _(
                "One is on record, encrypted. Leave it empty to keep it; for another address it is needed again."
            )
            if has_secret
            else _("Kept encrypted, and never shown again.")
        )


class UpkeepForm(forms.Form):
    """Upkeep that is due again and again."""

    kind = forms.ChoiceField(choices=Upkeep.choices, label=_("Kind"))
    title = forms.CharField(max_length=200, label=_("What is to be done"))
    domain = forms.ModelChoiceField(
        Domain.objects.none(), required=False, label=_("Domain"), empty_label=_("whole cluster")
    )
    every_days = forms.IntegerField(min_value=1, max_value=3660, label=_("Every"))
    due_on = forms.DateField(
        required=False, label=_("First due"), widget=forms.DateInput(attrs={"type": "date"})
    )
    downgrade_path = forms.CharField(
        required=False,
        max_length=4000,
        label=_("When the cooling fails"),
        help_text=_("How the domain is run on: at which power, in which order it is drained."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )

    def __init__(self, *args: Any, cluster: Cluster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["domain"]
        field.queryset = Domain.objects.filter(cluster=cluster, retired_at__isnull=True)


class DoneForm(forms.Form):
    """Upkeep was done."""

    done_on = forms.DateField(
        required=False, label=_("Done on"), widget=forms.DateInput(attrs={"type": "date"})
    )
    note = forms.CharField(
        max_length=500, label=_("What was found"), widget=forms.Textarea(attrs={"rows": 2})
    )
