"""Forms of imports: a file or pasted rows, and which column is which."""

from __future__ import annotations

from typing import Any

from django import forms
from django.utils.translation import gettext_lazy as _

from apps.fleet.engine.importing import Mode
from apps.fleet.engine.tables import SCHEMAS, Table
from apps.fleet.models import BulkImport

TABLE_WORDS = {
    Table.DOMAINS: _("domains"),
    Table.NODES: _("nodes"),
    Table.ACCELERATORS: _("accelerators"),
    Table.SWITCHES: _("switches"),
    Table.LINKS: _("links"),
    Table.PARTS: _("spares and repairs"),
}

NODES_EXAMPLE = "name,domain,rack\nsn1-n01,sn1,R01\nsn1-n02,sn1,R01"


class ImportForm(forms.Form):
    """A file of rows, or the rows themselves."""

    file = forms.FileField(label=_("File"), required=False, allow_empty_file=True)
    text = forms.CharField(
        label=_("Or paste the rows"),
        required=False,
        strip=False,
        widget=forms.Textarea(attrs={"rows": 5, "class": "mono", "spellcheck": "false"}),
    )
    table = forms.ChoiceField(
        label=_("A CSV file holds"),
        required=False,
        choices=[("", _("its head line tells"))]
        + [(table.value, word) for table, word in TABLE_WORDS.items()],
    )
    mode = forms.ChoiceField(
        label=_("A row that is there already"),
        initial=Mode.UPSERT.value,
        choices=[
            (Mode.UPSERT.value, _("is updated")),
            (Mode.CREATE.value, _("is an error")),
            (Mode.SKIP.value, _("is passed over")),
        ],
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if not cleaned.get("file") and not cleaned.get("text", "").strip():
            self.add_error("file", _("Choose a file, or paste its rows."))
        return cleaned

    def add_error(self, field: str | None, error: Any) -> None:
        """What is wrong with the rows stands at the field that they were given in."""
        cleaned = getattr(self, "cleaned_data", {})
        pasted = cleaned.get("text", "").strip() and not cleaned.get("file")
        given_in = "text" if pasted else "file"
        super().add_error(given_in if field in (None, "file") else field, error)

    def values(self) -> dict[str, Any]:
        """What the service takes."""
        file, cleaned = self.cleaned_data["file"], self.cleaned_data
        return {
            "data": file.read() if file else cleaned["text"].encode(),
            "file_name": file.name if file else "",
            "mode": Mode(cleaned["mode"]),
            "table": Table(cleaned["table"]) if cleaned["table"] else None,
        }


class MappingForm(forms.Form):
    """For each column of a CSV file: which of ours it is, or none."""

    def __init__(self, *args: Any, row: BulkImport, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        self.head = list(row.head)
        ours = [column.name for column in SCHEMAS[Table(row.table)].columns]
        choices: list[tuple[str, Any]] = [("", _("leave out")), *((name, name) for name in ours)]
        for place, name in enumerate(self.head):
            known = row.columns.get(name, "") if row.columns is not None else _guess(name, ours)
            self.fields[f"column_{place}"] = forms.ChoiceField(
                label=name, choices=choices, required=False, initial=known
            )

    def columns(self) -> dict[str, str]:
        """Name in the file → our column, those left out left out."""
        chosen = {name: self.cleaned_data.get(f"column_{place}", "") for place, name in enumerate(self.head)}
        return {name: ours for name, ours in chosen.items() if ours}


def _guess(name: str, ours: list[str]) -> str:
    plain = name.strip().lower().replace(" ", "_")
    return plain if plain in ours else ""
