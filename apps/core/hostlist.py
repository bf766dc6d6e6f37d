"""Slurm's host lists: `sn[01-18,20],login1` to names and back.

The grammar is that of Slurm's slurm.conf manual page: a comma list of names, each with any number of bracket
groups of numbers and ascending ranges; the width of a range is that of its lower bound, so [8-12] is 8, 9, 10
and [08-12] is 08, 09, 10.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from itertools import product

from apps.core.errors import Invalid
from apps.core.texts import say

LIMIT_NAMES = 100_000
LIMIT_NAME_CHARS = 255
_LIMIT_DIGITS = 18

_ITEM = re.compile(r"([0-9]+)(?:-([0-9]+))?")
_NOT_IN_NAMES = re.compile(r"[\[\],\s\x00-\x1f\x7f]")
_TRAILING_NUMBER = re.compile(r"(.*?)([0-9]+)", re.DOTALL)


class HostListError(Invalid):
    """The host list is not valid.

    fields: position (1-based character in the text) and text (what stands there, up to 40 characters).
    Codes: bad_host_list, too_many_names.
    """

    default_code = "bad_host_list"


def expand(text: str, limit: int = LIMIT_NAMES) -> list[str]:
    """The names of a host list, in its order, repeated ones kept; an empty text is an empty list.

    limit: highest number of names in all. Raises HostListError with the position of the fault; where the
    list is too long, before its names are made.
    """
    names: list[str] = []
    for start, part in _parts(text):
        pieces = _pieces(text, start, part, limit - len(names))
        if sum(max(len(choice) for choice in piece) for piece in pieces) > LIMIT_NAME_CHARS:
            raise _error(
                text,
                start,
                say(
                    "a name is longer than %(limit_name_chars)s characters", limit_name_chars=LIMIT_NAME_CHARS
                ),
            )
        names.extend("".join(choice) for choice in product(*pieces))
    return names


def fold(names: Iterable[str]) -> str:
    """The shortest list in the order given that Slurm reads: runs of one trailing number become ranges.

    `expand(fold(names)) == names` always holds. Slurm wants the brackets at the end of a name, so only the
    last number is folded. Raises HostListError for a name that no host list can hold.
    """
    groups: list[tuple[str, list[tuple[str, str]]]] = []
    for name in names:
        if not name or len(name) > LIMIT_NAME_CHARS or _NOT_IN_NAMES.search(name):
            raise HostListError(
                say("%(name)s cannot stand in a host list", name=f"{name[:40]!r}"), position=1, text=name[:40]
            )
        found = _TRAILING_NUMBER.fullmatch(name)
        if found is None or len(found[2]) > _LIMIT_DIGITS:
            groups.append((name, []))
            continue
        prefix, digits = found[1], found[2]
        if groups and groups[-1][0] == prefix and groups[-1][1]:
            _append(groups[-1][1], digits)
        else:
            groups.append((prefix, [(digits, digits)]))
    return ",".join(_written(prefix, runs) for prefix, runs in groups)


def _append(runs: list[tuple[str, str]], digits: str) -> None:
    low, high = runs[-1]
    if digits == str(int(high) + 1).zfill(len(low)):
        runs[-1] = (low, digits)
    else:
        runs.append((digits, digits))


def _written(prefix: str, runs: list[tuple[str, str]]) -> str:
    items = [low if low == high else f"{low}-{high}" for low, high in runs]
    if not items:
        return prefix
    if len(runs) == 1 and "-" not in items[0]:
        return prefix + items[0]
    return f"{prefix}[{','.join(items)}]"


def _parts(text: str) -> Iterator[tuple[int, str]]:
    """Offset and text of each name between the commas that stand outside of brackets."""
    start, opened = 0, -1
    for offset, char in enumerate(text + ","):
        if char == "[":
            if opened >= 0:
                raise _error(text, offset, say("a bracket within brackets"))
            opened = offset
        elif char == "]":
            if opened < 0:
                raise _error(text, offset, say("a closing bracket that was not opened"))
            opened = -1
        elif char == "," and (opened < 0 or offset == len(text)):
            if opened >= 0:
                raise _error(text, opened, say("a bracket that is not closed"))
            part = text[start:offset]
            if part.strip():
                yield start + len(part) - len(part.lstrip()), part.strip()
            elif text.strip():
                raise _error(text, start, say("an empty name"))
            start = offset + 1


def _pieces(text: str, start: int, part: str, limit: int) -> list[list[str]]:
    """The choices for each piece of one name: one for plain text, several for a bracket group.

    limit: highest number of names that they may give together.
    """
    pieces: list[list[str]] = []
    count, offset = 1, start
    for index, piece in enumerate(re.split(r"[\[\]]", part)):
        if index % 2:
            pieces.append(_numbers(text, offset, piece, limit))
        elif (fault := _NOT_IN_NAMES.search(piece)) is not None:
            raise _error(text, offset + fault.start(), say("a blank or control character within a name"))
        else:
            pieces.append([piece])
        count *= len(pieces[-1])
        if count > limit:
            raise _error(text, start, say("more names than allowed"), code="too_many_names")
        offset += len(piece) + 1
    return pieces


def _numbers(text: str, start: int, group: str, limit: int) -> list[str]:
    numbers: list[str] = []
    offset = start
    for item in group.split(","):
        found = _ITEM.fullmatch(item.strip())
        if found is None:
            raise _error(text, offset, say("neither a number nor a range such as 01-18"))
        low, high = found[1], found[2] or found[1]
        if max(len(low), len(high)) > _LIMIT_DIGITS:
            raise _error(
                text, offset, say("a number of more than %(limit_digits)s digits", limit_digits=_LIMIT_DIGITS)
            )
        if int(high) < int(low):
            raise _error(text, offset, say("a range that runs downwards"))
        if len(high) != len(low) and high.startswith("0"):
            raise _error(text, offset, say("a range whose bounds are padded differently"))
        if len(numbers) + int(high) - int(low) >= limit:
            raise _error(text, offset, say("more names than allowed"), code="too_many_names")
        numbers.extend(str(number).zfill(len(low)) for number in range(int(low), int(high) + 1))
        offset += len(item) + 1
    return numbers


def _error(text: str, offset: int, what: str, *, code: str = "") -> HostListError:
    shown = text[offset : offset + 40]
    message = say(
        "host list, character %(offset)s: %(what)s (%(shown)s)",
        offset=offset + 1,
        what=what,
        shown=f"{shown!r}",
    )
    return HostListError(message, code=code, position=offset + 1, text=shown)
