"""Forms of environments: shape only, rules live in services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.components import components
from apps.environments.words import RULES, label_of

_LIMIT_FILE_BYTES = 2**20


class EntryForm(forms.Form):
    """What a draft asks of one component."""

    component = forms.CharField(
        max_length=60, label=_("Component"), help_text=_("An id of the catalogue, or one of your own.")
    )
    rule = forms.ChoiceField(choices=[*RULES.items()], label=_("Rule"))
    values = forms.CharField(
        required=False,
        label=_("Versions"),
        help_text=_(
            "One on each line, as the nodes report them. None for the rule that all nodes are the same."
        ),
        widget=forms.Textarea(attrs={"rows": 3, "class": "mono", "spellcheck": "false"}),
    )
    note = forms.CharField(required=False, max_length=300, label=_("Note"))

    def __init__(self, *args: Any, fixed_component: str = "", **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        if fixed_component:
            self.fields["component"].disabled = True
            self.fields["component"].initial = fixed_component
            self.fields["component"].help_text = label_of(fixed_component)
        else:
            self.fields["component"].widget.attrs["list"] = "components"

    @property
    def known(self) -> list[tuple[str, Any]]:
        """Ids and names of the catalogue, for a list of proposals."""
        return [(name, label_of(name)) for name in components()]


class FileForm(forms.Form):
    """A matrix as a file: pasted or uploaded."""

    file_format = forms.ChoiceField(choices=[("yaml", "YAML"), ("csv", "CSV")], label=_("Format"))
    text = forms.CharField(
        required=False,
        strip=False,
        max_length=_LIMIT_FILE_BYTES,
        label=_("Text"),
        widget=forms.Textarea(attrs={"rows": 12, "class": "mono", "spellcheck": "false"}),
    )
    file = forms.FileField(required=False, label=_("Or a file"), help_text=_("At most 1 MiB."))

    def clean(self) -> dict[str, Any]:
        cleaned: dict[str, Any] = super().clean() or {}
        upload = cleaned.get("file")
        if upload is not None:
            cleaned["text"] = self._text_of(upload)
        if not str(cleaned.get("text") or "").strip() and not self.errors:
            self.add_error("text", _("Paste a text or choose a file."))
        return cleaned

    def _text_of(self, upload: Any) -> str:
        if upload.size > _LIMIT_FILE_BYTES:
            self.add_error("file", _("The file is larger than 1 MiB."))
            return ""
        try:
            return str(upload.read().decode("utf-8-sig"))
        except UnicodeDecodeError:
            self.add_error("file", _("The file is not UTF-8 text."))
            return ""


class NoteForm(forms.Form):
    """What a draft is for."""

    note = forms.CharField(
        required=False, max_length=2000, label=_("What it is for"), widget=forms.Textarea(attrs={"rows": 2})
    )


class PolicyForm(forms.Form):
    """How a cluster's nodes are watched."""

    stale_after_hours = forms.FloatField(min_value=0.02, max_value=8760, label=_("A report is stale after"))
    check_every_minutes = forms.FloatField(
        min_value=1, max_value=10080, label=_("Each domain is checked every")
    )


class JobCheckForm(forms.Form):
    """What a job exports."""

    text = forms.CharField(
        strip=False,
        max_length=_LIMIT_FILE_BYTES,
        label=_("Environment of the job"),
        help_text=_("Output of env, a launch script, or a Slurm or Kubernetes file."),
        widget=forms.Textarea(attrs={"rows": 14, "class": "mono", "spellcheck": "false"}),
    )
