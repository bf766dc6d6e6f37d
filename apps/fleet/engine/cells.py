"""Cells of imported rows: what each kind of column accepts, as text from a spreadsheet or as a typed value.

A reader gives the value, or raises BadCell with what would be right. Text that a spreadsheet would take for
a formula is guarded with an apostrophe on the way out and freed of it on the way in.
"""

from __future__ import annotations

import math
import re
import unicodedata
from collections.abc import Callable, Collection
from typing import TypeAlias

from apps.core.errors import Invalid
from apps.core.texts import joined, say
from apps.fleet.engine.layout import MAX_BYTES_PER_S
from apps.fleet.engine.layout_values import as_json

Value: TypeAlias = str | int | float | bool | tuple[str, ...] | None
Reader: TypeAlias = Callable[[object], Value]

LIST_SEPARATOR = ";"
FORMULA_STARTS = ("=", "+", "-", "@", "\t", "\r", "'")
_NAME = re.compile(r"\w[^\s,;/\[\]\x00-\x1f\x7f]*")
_CONTROLS = re.compile(r"[\x00-\x08\x0b-\x1f\x7f]")
_YES, _NO = {"true", "yes", "1", "y"}, {"false", "no", "0", "n"}


class BadCell(ValueError):
    """The value is not what the column holds; the text says what would be right."""


def guarded(text: str) -> str:
    """The text as a CSV cell that no spreadsheet takes for a formula."""
    return f"'{text}" if text.startswith(FORMULA_STARTS) else text


def unguarded(text: str) -> str:
    """The text behind `guarded`; other text stays as it is."""
    return text[1:] if text.startswith("'") and text[1:].startswith(FORMULA_STARTS) else text


def as_csv(value: Value) -> str:
    """A value as CSV cell; reading it again gives the same value."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    if isinstance(value, tuple):
        return guarded(LIST_SEPARATOR.join(value))
    return guarded(value)


def text(longest: int) -> Reader:
    def read(cell: object) -> Value:
        found = _text(cell).replace("\r\n", "\n")  # one line break, as spreadsheets of Windows write it
        if len(found) > longest:
            raise BadCell(say("at most %(longest)s characters", longest=longest))
        if _CONTROLS.search(found):
            raise BadCell(say("text without control characters"))
        return found

    return read


def name(longest: int) -> Reader:
    """A name that host lists, hostfiles and links can hold; "" for none."""

    def read(cell: object) -> Value:
        found = _text(cell)
        if found and not is_name(found, longest):
            raise BadCell(name_wanted(longest))
        return found

    return read


def names(longest: int) -> Reader:
    """Names, as a list or joined by semicolons; order and repetition do not count."""

    def read(cell: object) -> Value:
        parts = cell if isinstance(cell, list | tuple) else _text(cell).split(LIST_SEPARATOR)
        found = [_text(part) for part in parts]
        if any(part and not is_name(part, longest) for part in found):
            raise BadCell(
                say(
                    "names of at most %(longest)s characters, joined by %(list_separator)s",
                    longest=longest,
                    list_separator=LIST_SEPARATOR,
                )
            )
        return tuple(sorted({part for part in found if part}))

    return read


def whole(least: int, most: int) -> Reader:
    """A whole number; None for an empty cell."""

    def read(cell: object) -> Value:
        found = _number(cell)
        if found is None:
            return None
        if found != int(found) or not least <= found <= most:
            raise BadCell(say("a whole number from %(least)s to %(most)s", least=least, most=most))
        return int(found)

    return read


def bandwidth(cell: object) -> Value:
    """Bytes per second, above zero; None for an empty cell."""
    found = _number(cell)
    if found is not None and not 0 < found <= MAX_BYTES_PER_S:
        raise BadCell(say("bytes per second, above zero and at most 1 PB/s"))
    return found


def boolean(cell: object) -> Value:
    """True or false; None for an empty cell."""
    if isinstance(cell, bool):
        return cell
    found = _text(cell).lower()
    if not found:
        return None
    if found not in _YES | _NO:
        raise BadCell(say("true or false"))
    return found in _YES


def layout(cell: object) -> Value:
    """The layout that a domain was built with, as its values or as JSON; "{}" for an empty cell."""
    try:
        return as_json(unguarded(cell).strip() if isinstance(cell, str) else cell)
    except Invalid as fault:
        wrong = [say("%(pointer)s: %(what)s", pointer=one.pointer, what=one.message) for one in fault.errors]
        raise BadCell(joined("; ", tuple(wrong[:5])) if wrong else fault.message) from fault


def choice(options: Collection[str]) -> Reader:
    def read(cell: object) -> Value:
        found = _text(cell)
        if found and found not in options:
            raise BadCell(say("one of %(options)s", options=", ".join(options)))
        return found

    return read


def name_wanted(longest: int) -> str:
    """What is said of a name that is none."""
    return say(
        "a name of at most %(longest)s characters: first a letter or digit, no blanks , ; / [ ]",
        longest=longest,
    )


def is_name(text: str, longest: int) -> bool:
    """Whether files of schedulers can hold it: no option (`-x`), comment (`#x`) or pattern begins like it.

    Signs that nobody sees, and those that turn the writing around, would make two names look the same.
    """
    fits = len(text) <= longest and _NAME.fullmatch(text) is not None
    return fits and not any(unicodedata.category(sign) == "Cf" for sign in text)


def _text(cell: object) -> str:
    if cell is None:
        return ""
    if isinstance(cell, bool) or not isinstance(cell, str | int | float):
        raise BadCell(say("a text"))
    return unguarded(cell).strip() if isinstance(cell, str) else str(cell)


def _number(cell: object) -> int | float | None:
    if isinstance(cell, bool) or not isinstance(cell, str | int | float | None):
        raise BadCell(say("a number"))
    if isinstance(cell, str):
        written = cell.strip()
        if not written:
            return None
        try:
            cell = int(written) if written.isdecimal() and len(written) < 19 else float(written)
        except ValueError:
            raise BadCell(say("a number")) from None
    if isinstance(cell, float) and not math.isfinite(cell):
        raise BadCell(say("a finite number"))
    return cell
