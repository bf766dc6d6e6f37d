"""Forms of the intake: they check shape; the rules live in the services."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from django import forms
from django.core.files.uploadedfile import UploadedFile
from django.utils.translation import gettext_lazy as _

from apps.core.errors import PortalError
from apps.evidence.words import KINDS
from apps.fleet.models import Cluster, Domain, Node

_NAMES_OFFERED = 2000


class _Files(forms.ClearableFileInput):
    allow_multiple_selected = True


class _FilesField(forms.FileField):
    """Any number of files."""

    widget = _Files

    def clean(self, data: Any, initial: Any = None) -> list[UploadedFile]:
        files = data if isinstance(data, list | tuple) else [data] if data else []
        return [super(_FilesField, self).clean(file, initial) for file in files]


class HandInForm(forms.Form):
    """Files, or pasted text, and the node or domain that they are about."""

    files = _FilesField(label=_("Files"), required=False, allow_empty_file=True)
    text = forms.CharField(
        label=_("Or paste the output"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 6, "class": "mono", "spellcheck": "false"}),
    )
    node = forms.CharField(
        label=_("Node or domain"),
        required=False,
        max_length=255,
        help_text=_(
            "Most tools do not print which host they ran on. A benchmark over many nodes is about its domain."
        ),
        widget=forms.TextInput(attrs={"list": "places", "autocomplete": "off"}),
    )
    kind = forms.ChoiceField(
        label=_("Kind"),
        required=False,
        choices=[("", _("recognise it")), *KINDS.items()],
        help_text=_("Say it only where the head of the output is missing."),
    )

    def __init__(self, *args: Any, cluster: Cluster, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        domains = Domain.objects.filter(cluster=cluster, retired_at__isnull=True)
        nodes = Node.objects.in_use().filter(cluster=cluster)[:_NAMES_OFFERED]
        self.domains = list(domains.values_list("name", flat=True))
        self.places = [*self.domains, *nodes.values_list("name", flat=True)]

    def has_something(self, refused: Mapping[str, PortalError]) -> bool:
        """Whether the form is in order and brings a file or a text; else it says what is missing."""
        if not self.is_valid():
            return False
        if self.cleaned_data["files"] or self.cleaned_data["text"].strip() or refused:
            return True
        self.add_error("files", _("Choose a file, or paste the output."))
        return False

    def deliveries(self, refused: Mapping[str, PortalError]) -> Iterator[tuple[str, Iterable[bytes]]]:
        """Name and bytes of each file, those that were not taken as well, and of the text."""
        for file in self.cleaned_data["files"]:
            yield file.name or "", file.chunks()
        for name, error in refused.items():
            yield name, failing(error)
        if self.cleaned_data["text"].strip():
            yield "pasted.txt", [self.cleaned_data["text"].encode()]


def failing(error: PortalError) -> Iterator[bytes]:
    """The bytes of a file that was dropped on its way, so that its refusal is written down like any other."""
    raise error
    yield b""
