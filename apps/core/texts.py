"""Sentences for people that are English as they stand, and can be said in another language later.

Free of Django, so that engines say what they find. The catalogues of translations hold the templates
(scripts/collect_messages.py collects them); `apps.core.speech.said` puts a sentence into the reader's language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any


class Text(str):
    """An English sentence that remembers its template and the values in it.

    To JSON, logs and comparisons it is the plain sentence. Values are numbers, strings, or texts again.
    """

    template: str
    values: Mapping[str, Any]

    def __new__(cls, template: str, values: Mapping[str, Any] | None = None) -> Text:
        text = super().__new__(cls, template % values if values else template)
        text.template, text.values = template, dict(values or {})
        return text

    def __reduce__(self) -> tuple[type[Text], tuple[str, Mapping[str, Any]]]:
        return Text, (self.template, self.values)


def say(template: str, /, **values: Any) -> Text:
    """A sentence of a template with %(named)s values; without values the template is taken as it is.

    Write the template as one literal, so that it is found and translated.
    """
    return Text(template, values)


def word(code: str) -> Text:
    """A code, such as a state, as a word; it is translated where the catalogues have that word."""
    return Text(code.replace("_", " "))


def joined(separator: str, texts: Sequence[str]) -> Text:
    """Several sentences as one; each of them, and what stands between them, is translated on its own."""
    names = [f"part_{place}" for place in range(len(texts))]
    template = "%(between)s".join(f"%({name})s" for name in names)
    return Text(template, {"between": Text(separator), **dict(zip(names, texts, strict=True))})


def kept(text: str) -> dict[str, Any]:
    """What a stored row keeps beside a sentence to say it again: nothing where there are no values to it."""
    if not isinstance(text, Text) or not text.values:
        return {}
    return {"template": text.template, "values": {name: _plain(one) for name, one in text.values.items()}}


def stored(text: str) -> dict[str, Any]:
    """A sentence as a stored row: in English, and with what says it again."""
    return {"message": str(text), **kept(text)}


def of_row(row: Mapping[str, Any], field: str = "message") -> str:
    """The sentence of a stored row (of a stored problem its detail); of one that kept no template, its English."""
    if row.get("template"):
        return _again(row)
    return str(row.get(field) or row.get("detail") or "")


def _plain(value: Any) -> Any:
    if isinstance(value, Text):
        return {"template": value.template, "values": {key: _plain(one) for key, one in value.values.items()}}
    return value if isinstance(value, str | int | float | bool) or value is None else str(value)


def _again(row: Mapping[str, Any]) -> Text:
    values = {
        name: _again(one) if isinstance(one, Mapping) else one for name, one in row.get("values", {}).items()
    }
    return Text(str(row["template"]), values)
