"""What engines and services say, in the reader's language."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from django.utils.translation import gettext

from apps.core.texts import Text, of_row, say

# What stands between things that are listed, between sentences, and before what a word stands for.
BETWEEN = {", ": say(", "), "; ": say("; "), ": ": say(": ")}


def said(what: object) -> str:
    """A sentence in the reader's language: a Text, a stored row with a message, or a text of a data file.

    Texts that no catalogue knows stay as they are, such as what an old row kept in English.
    """
    if isinstance(what, Mapping):
        what = of_row(what)
    if isinstance(what, Text):
        template = gettext(what.template) if what.template else ""
        return template % _values(what) if what.values else template
    if isinstance(what, str):
        return gettext(what) if what else ""
    return "" if what is None else str(what)


def listed(texts: Iterable[object], between: str = ", ") -> str:
    """Several texts as one in the reader's language, which has marks of its own between them.

    Texts are said; names, and what is in the reader's language already, stay as they are.
    """
    return said(BETWEEN[between]).join(said(one) if isinstance(one, Text) else str(one) for one in texts)


def _values(text: Text) -> dict[str, Any]:
    return {name: said(one) if isinstance(one, Text) else one for name, one in text.values.items()}
