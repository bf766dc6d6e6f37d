"""Forms of the catalogue."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.accounts.forms import ScopeField
from apps.accounts.queries import scopes_visible_to
from apps.catalogue.engine.overlays import FIELDS, Kind, right_to_set
from apps.catalogue.words import CONFIDENCES, figure_label
from apps.core.actor import Actor


class TeamFilter(forms.Form):
    """Whose figures a list shows."""

    cluster = forms.ChoiceField(label=_("As it holds for"), required=False)

    def __init__(self, *args: Any, actor: Actor, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        scopes = scopes_visible_to(actor)
        self.fields["cluster"].choices = [("", _("every cluster")), *((one.slug, one.name) for one in scopes)]


class FigureForm(forms.Form):
    """One figure with its source."""

    path = forms.ChoiceField(label=_("Figure"))
    value = forms.CharField(
        label=_("Value"), required=False, max_length=200, help_text=_("Empty says that it is not known.")
    )
    source = forms.CharField(label=_("Source"), max_length=300)
    confidence = forms.ChoiceField(label=_("Confidence"), choices=list(CONFIDENCES.items()))
    scope = ScopeField(label=_("For"), everywhere=_("every cluster"))

    def __init__(self, *args: Any, actor: Actor, kind: Kind, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.fields["path"].choices = [
            (path, f"{figure_label(path)} ({unit})" if unit not in ("", "n") else figure_label(path))
            for path, unit in FIELDS[kind].items()
        ]
        self.fields["scope"].offer(actor, right_to_set(kind))
        if kind is Kind.COMPONENT:
            self.fields["scope"].choices = self.fields["scope"].choices[:1]
            self.fields["value"].help_text = _(
                "Empty is the default. area, scheme, rule, severity and multiple take one of a few words; packages "
                "takes names under which dpkg, rpm, pip or conda list it. Nodes are read by it from their next "
                "report on, at the latest within a day."
            )


class NewEntryForm(FigureForm):
    """A new entry, by its first figure."""

    entry = forms.CharField(label=_("Short name"), max_length=80)
    field_order = ["entry"]


class ImportForm(forms.Form):
    """A file of components, as text, and where it is from."""

    text = forms.CharField(
        strip=False,
        max_length=2**20,
        label=_("Text"),
        help_text=_("YAML as the export gives it. What a row leaves out stays as it is."),
        widget=forms.Textarea(attrs={"rows": 16, "class": "mono", "spellcheck": "false"}),
    )
    source = forms.CharField(label=_("Source"), max_length=300)
