"""Forms of changes: shape only, rules live in services."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.components import components
from apps.changes.engine.stages import DEFAULT_SOAK_S
from apps.changes.models import ChangeKind
from apps.changes.services import Content, Wish
from apps.changes.services.drafting import LONGEST_SOAK_S, MOST_APPROVALS
from apps.environments.words import label_of
from apps.fleet.models import Domain

KINDS = [(value, label) for value, label in ChangeKind.choices if value != ChangeKind.ROLLBACK]
SPARE_ROWS = 3


class DomainForm(forms.Form):
    """Which domain is changed; asked for first, since all suggestions follow from it."""

    domain = forms.ModelChoiceField(Domain.objects.none(), label=_("Domain"), empty_label=None)

    def __init__(self, *args: Any, domains: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        field: Any = self.fields["domain"]
        field.queryset = domains
        field.label_from_instance = lambda domain: f"{domain.cluster.name} · {domain.name}"


class ContentForm(forms.Form):
    """What a change says, beside its items."""

    title = forms.CharField(
        max_length=200, label=_("Title"), help_text=_("One line, such as: NCCL 2.27.3 on all nodes")
    )
    reason = forms.CharField(
        max_length=4000,
        label=_("Reason"),
        help_text=_("Why now, and what is expected of it. The approver reads this."),
        widget=forms.Textarea(attrs={"rows": 3}),
    )
    nodes = forms.CharField(
        required=False,
        max_length=20_000,
        label=_("Nodes"),
        help_text=_("Such as sn-n[01-18]. Empty means all nodes of the domain."),
        widget=forms.TextInput(attrs={"class": "mono", "spellcheck": "false"}),
    )
    back_out = forms.CharField(
        required=False,
        max_length=4000,
        label=_("How to get back"),
        help_text=_("Steps in words. The versions to go back to are recorded when the change starts."),
        widget=forms.Textarea(attrs={"rows": 2}),
    )
    soak_first = forms.IntegerField(
        min_value=0,
        max_value=LONGEST_SOAK_S // 60,
        initial=DEFAULT_SOAK_S[0] // 60,
        label=_("Soak time after the first node"),
    )
    soak_second = forms.IntegerField(
        min_value=0,
        max_value=LONGEST_SOAK_S // 60,
        initial=DEFAULT_SOAK_S[1] // 60,
        label=_("Soak time after its sub-domain"),
    )
    approvals_needed = forms.IntegerField(
        min_value=1, max_value=MOST_APPROVALS, initial=1, label=_("Approvals needed")
    )

    def content(self, wishes: Sequence[Wish]) -> Content:
        """What was filled in, as services take it."""
        data = self.cleaned_data
        return Content(
            title=data["title"],
            reason=data["reason"],
            back_out=data["back_out"],
            approvals_needed=data["approvals_needed"],
            soak_s=(data["soak_first"] * 60, data["soak_second"] * 60),
            wishes=tuple(wishes),
        )


class NewForm(ContentForm):
    """A new change also says of which kind it is."""

    kind = forms.ChoiceField(choices=[("", _("choose one")), *KINDS], label=_("Kind"))
    field_order = ["kind", "title", "reason"]


class ItemForm(forms.Form):
    """One component and the versions that are right afterwards, several of them apart by |."""

    component = forms.CharField(
        required=False,
        max_length=60,
        label=_("Component"),
        widget=forms.TextInput(attrs={"list": "components", "spellcheck": "false"}),
    )
    version = forms.CharField(
        required=False,
        max_length=300,
        label=_("Version"),
        widget=forms.TextInput(attrs={"list": "versions", "class": "mono", "spellcheck": "false"}),
    )

    def clean_component(self) -> str:
        """The component's id; its label, as other pages show it, can be typed as well."""
        return id_of(self.cleaned_data["component"])

    def wish(self) -> Wish | None:
        """The row as services take it; None for a row that was left empty."""
        data = self.cleaned_data
        if not data.get("component") and not data.get("version"):
            return None
        values = tuple(part.strip() for part in data.get("version", "").split("|"))
        return Wish(component=data.get("component", ""), values=values)


def id_of(text: str) -> str:
    """The id of the component that is meant by an id or a label; what means none, or several, stays as it is."""
    typed = text.strip().casefold()
    known = components()
    if not typed or text.strip() in known:
        return text.strip()
    meant = [name for name in known if typed in (str(label_of(name)).casefold(), name.casefold())]
    return meant[0] if len(meant) == 1 else text


def shown_names() -> dict[str, str]:
    """Ids of components to what stands in the form: the label, or the id where a label is not of one alone."""
    labels = {name: str(label_of(name)) for name in components()}
    times = Counter(label.casefold() for label in labels.values())
    return {
        name: label if times[label.casefold()] == 1 and label not in labels else name
        for name, label in labels.items()
    }


ItemFormSet = forms.formset_factory(ItemForm, extra=SPARE_ROWS, max_num=60, absolute_max=60)


def wishes_in(items: Any) -> list[Wish]:
    """The rows of a valid set of items that were filled in."""
    return [wish for form in items.forms if (wish := form.wish()) is not None]
