"""What engines and services say, in the reader's language."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.utils.translation import gettext

from apps.core.texts import Text, of_row


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


def _values(text: Text) -> dict[str, Any]:
    return {name: said(one) if isinstance(one, Text) else one for name, one in text.values.items()}
