"""Forms of boards and cards outside of nodes."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.fleet.models import STAGE_CHOICES, Part, PartKind


class SpareForm(forms.Form):
    kind = forms.ChoiceField(label=_("Kind"), choices=PartKind.choices)
    model = forms.CharField(label=_("Model"), max_length=120, required=False)
    serial = forms.CharField(label=_("Serial"), max_length=80, required=False)
    uuid = forms.CharField(label=_("UUID"), max_length=80, required=False)
    note = forms.CharField(label=_("Note"), max_length=300, required=False)


class MovePartForm(forms.Form):
    to = forms.ChoiceField(label=_("Becomes"), choices=STAGE_CHOICES)
    reason = forms.CharField(label=_("Reason"), max_length=300, help_text=_("Such as the number of the RMA."))
    version = forms.IntegerField(widget=forms.HiddenInput)

    @classmethod
    def of(cls, part: Part) -> MovePartForm:
        """An empty form that offers what this part may become; ids of its fields are the part's own."""
        form = cls(initial={"version": part.version}, auto_id=f"part-{part.pk}-%s")
        choices: Any = form.fields["to"]
        choices.choices = part.moves
        return form
