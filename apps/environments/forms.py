"""Forms of environments: shape only, rules live in services."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.components import components
from apps.core import safe_yaml
from apps.core.speech import said
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


class PolicyForm(forms.Form):
    """How a cluster's nodes are watched."""

    stale_after_hours = forms.FloatField(min_value=0.02, max_value=8760, label=_("A report is stale after"))
    check_every_minutes = forms.FloatField(
        min_value=1, max_value=10080, label=_("Each domain is checked every")
    )


RULE_EXAMPLE = """\
title: CANN runs on this driver
when:
- {component: cann, is: present}
then:
- {component: npu_driver, is: at_least, value: '24.1.rc3'}
severity: fail
why: What breaks otherwise.
remedy: What to do.
source: Where this is from.
"""


class CompatibilityRuleForm(forms.Form):
    """A rule between components, as the text of its definition."""

    rule = forms.SlugField(max_length=80, required=False, label=_("Short name"))
    enabled = forms.BooleanField(required=False, label=_("The rule is on"))
    definition = forms.CharField(
        strip=False,
        required=False,
        max_length=20_000,
        label=_("Definition"),
        help_text=_("YAML: where all of when hold, all of then must. Versions stand in quotes."),
        widget=forms.Textarea(attrs={"rows": 18, "class": "mono", "spellcheck": "false"}),
    )
    reason = forms.CharField(max_length=300, label=_("Reason"), widget=forms.Textarea(attrs={"rows": 2}))

    def clean_definition(self) -> dict[str, Any]:
        """Raises ValidationError where the text is no map."""
        try:
            value = safe_yaml.load(self.cleaned_data["definition"])
        except safe_yaml.UnsafeYaml as error:
            raise forms.ValidationError(said(error.message)) from error
        if not isinstance(value, dict):
            raise forms.ValidationError(_("A map of title, when, then and source is needed."))
        return value


class JobCheckForm(forms.Form):
    """What a job exports."""

    text = forms.CharField(
        strip=False,
        max_length=_LIMIT_FILE_BYTES,
        label=_("Environment of the job"),
        help_text=_("Output of env, a launch script, or a Slurm or Kubernetes file."),
        widget=forms.Textarea(attrs={"rows": 14, "class": "mono", "spellcheck": "false"}),
    )
