"""Whose figures of an accelerator a study computes with: those of a team laid over the shipped ones, or everybody's."""

from __future__ import annotations

from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.utils.translation import gettext_lazy as _l

from apps.catalogue.engine.overlays import Kind
from apps.catalogue.queries import scopes_with_edits
from apps.core.actor import Actor
from apps.fleet.models import Cluster
from apps.fleet.queries import clusters_visible
from apps.planning.models import PlanVersion
from apps.planning.queries import figures_of
from apps.planning.studies import fields as f

WHOSE = "catalogue"  # the field's name


class OwnFiguresFields(f.StudyForm):
    """An accelerator of the catalogue, and whose figures of it count."""

    accelerator = f.CardField(label=_l("Accelerator"))
    catalogue = forms.ModelChoiceField(
        None,
        required=False,
        to_field_name="slug",
        empty_label=_l("everybody's"),
        label=_l("Whose figures of it"),
        help_text=_l("What a team set in the catalogue lies over what comes with the portal."),
    )

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        clusters: Any = self.fields[WHOSE]
        clusters.queryset = clusters_visible(self.actor)

    @property
    def scope_id(self) -> int | None:
        cluster = self.cleaned_data[WHOSE]
        return cluster.scope_id if cluster else super().scope_id

    def clean_catalogue(self) -> Cluster | None:
        """What rests on one cluster's plan and another's figures would be seen by neither or by both."""
        cluster: Cluster | None = self.cleaned_data[WHOSE]
        scope_id = super().scope_id
        if cluster is not None and scope_id not in (None, cluster.scope_id):
            raise ValidationError(_l("the plan is of another cluster"))
        return cluster

    def values(self) -> dict[str, Any]:
        """The cleaned input with `figures`, as a system states them: later edits change no answer."""
        data = super().values()
        cluster = data[WHOSE]
        data[WHOSE] = cluster.slug if cluster else ""
        return data | {"figures": self._figures(data["accelerator"], cluster)}

    def _figures(self, accelerator: str, cluster: Cluster | None) -> dict[str, Any]:
        """Those that the plan was computed with, where the study is about it; else those of today."""
        scope_id = cluster.scope_id if cluster else None
        if self.plan is not None and self.plan.plan.scope_id == scope_id:
            system = self.plan.input["system"]
            if system["accelerator"] == accelerator:
                return dict(system.get("figures") or {})
        return figures_of(accelerator, scope_id)


def first_whose(actor: Actor, plan: PlanVersion | None) -> str:
    """Slug of the cluster whose figures a study starts from: the plan's; else the only one that has some.

    Empty where several teams have figures, or none has: then those that were set for everybody count.
    """
    clusters = clusters_visible(actor)
    if plan is not None:
        found = list(clusters.filter(scope_id=plan.plan.scope_id)[:1])
    else:
        found = list(clusters.filter(scope_id__in=scopes_with_edits(Kind.ACCELERATOR))[:2])
    return found[0].slug if len(found) == 1 else ""
