"""Forms of launches: shape only, rules live in services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.core.actor import Actor
from apps.fleet.models import Domain
from apps.fleet.queries import clusters_visible
from apps.planning.models import PlanVersion
from apps.planning.queries import launch_plan_versions


class LaunchForm(forms.Form):
    """Open a launch."""

    domain = forms.ModelChoiceField(Domain.objects.none(), label=_("Domain"))
    title = forms.CharField(max_length=200, label=_("What is launched"), help_text=_("Model and purpose."))
    nodes = forms.CharField(
        required=False,
        label=_("Nodes"),
        help_text=_("In rank order, such as sn-n[01-18]. Empty means all nodes of the domain."),
    )
    plan = forms.ModelChoiceField(
        PlanVersion.objects.none(),
        required=False,
        label=_("Plan"),
        help_text=_("Plans that were chosen for launches. Without one, fit and placement stay unknown."),
    )
    job_environment = forms.CharField(
        required=False,
        strip=False,
        max_length=65536,
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
        label=_("Environment of the job"),
        help_text=_(
            "Paste what the job exports: env output, a launch script, or a Slurm or Kubernetes file."
        ),
    )

    def __init__(self, *args: Any, actor: Actor, cluster_slug: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        clusters = clusters_visible(actor)
        if cluster_slug:
            clusters = clusters.filter(slug=cluster_slug)
        domains = Domain.objects.filter(cluster__in=clusters, retired_at__isnull=True)
        self._offer("domain", domains.select_related("cluster"))
        scopes = list(clusters.values_list("scope_id", flat=True))
        self._offer("plan", launch_plan_versions(scope_ids=scopes))

    def _offer(self, name: str, rows: QuerySet) -> None:
        """Let one of these rows be chosen; where there is only one, it is chosen already."""
        field: Any = self.fields[name]
        field.queryset = rows
        first = list(rows[:2])
        if len(first) == 1:
            self.initial.setdefault(name, first[0].pk)


class LaunchEditForm(forms.Form):
    """Edit an open launch."""

    title = forms.CharField(max_length=200, label=_("What is launched"))
    plan = forms.ModelChoiceField(PlanVersion.objects.none(), required=False, label=_("Plan"))
    job_environment = forms.CharField(
        required=False,
        strip=False,
        max_length=65536,
        widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
        label=_("Environment of the job"),
    )

    def __init__(self, *args: Any, scope_id: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["plan"]
        field.queryset = launch_plan_versions(scope_ids=[scope_id])


class AnswerForm(forms.Form):
    """Answer a manual item."""

    verdict = forms.ChoiceField(
        choices=[("pass", _("pass")), ("warn", _("warning")), ("fail", _("fail"))],
        label=_("What you found"),
    )
    note = forms.CharField(max_length=2000, label=_("What you saw"), widget=forms.Textarea(attrs={"rows": 2}))


class WaiverForm(forms.Form):
    """Ask for a waiver."""

    reason = forms.CharField(max_length=2000, label=_("Reason"), widget=forms.Textarea(attrs={"rows": 2}))
    hours = forms.IntegerField(
        min_value=1, max_value=24 * 14, initial=8, label=_("Valid for"), help_text=_("Hours.")
    )
