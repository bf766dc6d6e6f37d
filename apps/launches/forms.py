"""Forms of launches: shape only, rules live in services."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.conf import settings
from django.core.validators import MaxValueValidator
from django.db.models import QuerySet
from django.utils.translation import gettext_lazy as _

from apps.core.actor import Actor
from apps.fleet.models import Domain
from apps.fleet.queries import clusters_visible
from apps.launches.words import ITEMS
from apps.planning.models import PlanVersion
from apps.planning.queries import launch_plan_versions

ANSWERS = ("pass", "warn", "fail")


class LaunchForm(forms.Form):
    """Open a launch."""

    domain = forms.ModelChoiceField(Domain.objects.none(), label=_("Domain"), empty_label=_("choose one"))
    title = forms.CharField(max_length=200, label=_("What is launched"), help_text=_("Model and purpose."))
    nodes = forms.CharField(
        required=False,
        label=_("Nodes"),
        help_text=_("In rank order, such as sn-n[01-18]. Empty means all nodes of the domain."),
    )
    plan_version = forms.ModelChoiceField(
        PlanVersion.objects.none(),
        required=False,
        label=_("Plan"),
        empty_label=_("none"),
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
        field: Any = self.fields["domain"]
        field.label_from_instance = lambda domain: f"{domain.cluster.name} · {domain.name}"
        self._offer("domain", domains.select_related("cluster"))
        scopes = list(clusters.values_list("scope_id", flat=True))
        plans = launch_plan_versions(scope_ids=scopes)
        if len(scopes) > 1:
            field = self.fields["plan_version"]
            field.queryset = plans.select_related("plan__scope")
            field.label_from_instance = lambda version: f"{version.plan.scope.name} · {version}"
        else:
            self._offer("plan_version", plans)

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
    plan_version = forms.ModelChoiceField(
        PlanVersion.objects.none(), required=False, label=_("Plan"), empty_label=_("none")
    )
    job_environment = forms.CharField(
        required=False,
        strip=False,
        max_length=65536,
        widget=forms.Textarea(attrs={"rows": 8, "class": "mono", "spellcheck": "false"}),
        label=_("Environment of the job"),
    )

    def __init__(self, *args: Any, scope_id: int, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["plan_version"]
        field.queryset = launch_plan_versions(scope_ids=[scope_id])


class AnswersForm(forms.Form):
    """Answer manual items, as many at once as one likes; an item without a verdict stays as it is."""

    def __init__(self, *args: Any, items: Sequence[str], **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.items = items
        for item in items:
            self.fields[f"verdict-{item}"] = forms.ChoiceField(
                required=False, choices=[(one, one) for one in ANSWERS], label=ITEMS.get(item, item)
            )
            self.fields[f"note-{item}"] = forms.CharField(
                required=False,
                max_length=2000,
                label=ITEMS.get(item, item),  # the head of a refused form says which item
                widget=forms.Textarea(attrs={"rows": 1}),
            )

    def rows(self) -> list[dict[str, Any]]:
        """Each item with its two fields and the verdicts to choose from."""
        return [
            {
                "item": item,
                "verdict": self[f"verdict-{item}"],
                "note": self[f"note-{item}"],
                "choices": ANSWERS,
            }
            for item in self.items
        ]

    def clean(self) -> dict[str, Any]:
        for item in self.items:
            verdict, note = self._of(item)
            if verdict and not note:
                self.add_error(f"note-{item}", _("say what you saw"))
            if note and not verdict and f"verdict-{item}" not in self.errors:
                self.add_error(f"verdict-{item}", _("say pass, warn or fail"))
        if not self.errors and not self.given():
            self.add_error(None, _("Answer at least one item."))
        return self.cleaned_data

    def given(self) -> dict[str, tuple[str, str]]:
        """Item to verdict and note, of those that were answered."""
        return {item: self._of(item) for item in self.items if self._of(item)[0]}

    def _of(self, item: str) -> tuple[str, str]:
        return self.cleaned_data.get(f"verdict-{item}", ""), self.cleaned_data.get(f"note-{item}", "")


class WaiverForm(forms.Form):
    """Ask for a waiver."""

    reason = forms.CharField(max_length=2000, label=_("Reason"), widget=forms.Textarea(attrs={"rows": 2}))
    hours = forms.IntegerField(
        min_value=1,
        validators=[MaxValueValidator(lambda: settings.WAIVER_LONGEST_HOURS)],
        initial=8,
        label=_("Valid for"),
        help_text=_("Hours."),
    )
