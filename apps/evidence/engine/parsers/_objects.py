"""Structured documents of a piece of evidence: YAML or JSON, with text around it, with the line of each."""

from __future__ import annotations

import json
import math
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.safe_yaml import LIMIT_DEPTH, UnsafeYaml, load_all
from apps.core.texts import say
from apps.evidence.engine.parsers._blocks import documents_text
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Line, Source

_JSON_START = re.compile(r"(?:^|(?<=[}\]]))[ \t,]*[\[{]", re.MULTILINE)
_MOST_FAULTS = 20
# a line end, a fence, a tag
_ENDS = ("\n", "```", "~~~", ">")
_PORTAL_NOTE = "topology.supernode-portal/nodes"  # an annotation of the portal's own exports
_NO_TEXT = re.compile("[\x00\ud800-\udfff]")


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """One document: a map or a list of plain JSON values, and the line of the file on which it starts."""

    value: Any
    line: int


def load_objects(source: Source, notes: Notes) -> list[Loaded]:
    """All maps and lists that the file holds as documents of their own.

    Raises Unreadable with the line where nothing can be read; what follows a fault becomes a warning.
    """
    documents: list[Loaded] = []
    refused: Unreadable | None = None
    ended = source.text().endswith(_ENDS)
    for block in documents_text(source, notes):
        try:
            documents += _of_block(block, notes, ended=ended)
        except Unreadable as fault:
            refused = refused or fault
    if refused is not None and documents:
        notes.add("not_read", refused.message, line=refused.fields.get("line"))
    elif refused is not None:
        raise refused
    if not documents:
        raise Unreadable(say("there is neither a YAML nor a JSON document in it"), code="no_document")
    return documents


def items(document: Loaded, kinds: Sequence[str]) -> Iterator[Mapping[str, Any]]:
    """The maps of a document: itself, the elements of a list, or the items of a Kubernetes list.

    kinds: what a Kubernetes list may be called beside List, such as NodeList.
    """
    value = document.value
    if isinstance(value, dict) and value.get("kind") in ("List", *kinds):
        value = value.get("items")
    elements = value if isinstance(value, list) else [value]
    return (element for element in elements if isinstance(element, dict))


def mapping(value: Any) -> Mapping[str, Any]:
    """The value where it is a map, else an empty one."""
    return value if isinstance(value, dict) else {}


def sequence(value: Any) -> Sequence[Any]:
    """The value where it is a list, else an empty one."""
    return value if isinstance(value, list) else []


def text_of(value: Any) -> str | None:
    """A scalar as text; None for nothing, an empty text, maps and lists."""
    if value is None or isinstance(value, (dict, list)):
        return None
    if isinstance(value, bool):
        return "true" if value else "false"
    return str(value) or None


def _of_block(block: Sequence[Line], notes: Notes, *, ended: bool) -> list[Loaded]:
    """The documents of one text. ended: whether its last line has an end, without which YAML may be cut."""
    text = "\n".join(line.text for line in block)
    first = next((line.text.lstrip() for line in block if line.text.strip()), "")
    if first.startswith(("{", "[")):
        return _json(text, block, notes)
    found: list[Loaded] = []
    try:
        for document in load_all(text):
            if isinstance(document.value, (dict, list)):
                found.append(Loaded(value=_plain(document.value), line=_number(block, document.line)))
    except UnsafeYaml as fault:
        if not found and fault.code == "bad_yaml" and _JSON_START.search(text):
            return _json(text, block, notes)
        line = _number(block, fault.fields.get("line") or 1)
        reason = re.sub(r"^line \d+: ", "", fault.message)
        refused = Unreadable(f"line {line}: {reason}", code=fault.code, line=line)
        if not found:
            raise refused from fault
        notes.add(
            "not_read",
            say("%(message)s; the rest is not read", message=refused.message),
            at=_line(block, line),
        )
    if found and not ended:
        notes.add("last_line_not_ended", say("the last line has no line end; the file may be cut there"))
    return found


def _json(text: str, block: Sequence[Line], notes: Notes) -> list[Loaded]:
    """The JSON values of a text, each from a line that starts with a bracket or right behind another value."""
    decoder = _decoder(notes)
    found: list[Loaded] = []
    faults: list[int] = []  # the lines on which something is that is no JSON
    line, counted, position = 1, 0, 0
    while (start := _JSON_START.search(text, position)) is not None and len(faults) < _MOST_FAULTS:
        offset = start.end() - 1
        line, counted = line + text.count("\n", counted, offset), offset
        try:
            value, position = decoder.raw_decode(text, offset)
        except json.JSONDecodeError as error:
            faults.append(_number(block, error.lineno))
            position = start.end()
        except RecursionError as error:
            number = _number(block, line)
            raise Unreadable(
                say("line %(number)s: nested too deeply", number=number), code="too_deep", line=number
            ) from error
        else:
            found.append(Loaded(value=_plain(value), line=_number(block, line)))
    if not found:
        number = faults[0] if faults else _number(block, 1)
        raise Unreadable(say("line %(number)s: no valid JSON", number=number), code="bad_json", line=number)
    if faults:
        notes.add("not_read", say("no valid JSON; not read"), at=_line(block, faults[0]))
    return found


def _decoder(notes: Notes) -> json.JSONDecoder:
    def pairs(found: list[tuple[str, Any]]) -> dict[str, Any]:
        value = dict(found)
        if len(value) != len(found):
            notes.add("duplicate_key", say("a JSON object has a key twice; the last value is used"))
        return value

    def real(text: str) -> float | str:
        return value if math.isfinite(value := float(text)) else text

    return json.JSONDecoder(
        object_pairs_hook=pairs,
        parse_float=real,
        parse_int=lambda text: int(text) if len(text) <= 18 else text,
        parse_constant=lambda name: None,
        strict=False,
    )


def _plain(value: Any, depth: int = 1) -> Any:
    """The same value with text keys, without NUL and lone surrogates, which neither store nor JSON take."""
    if depth > LIMIT_DEPTH:
        raise Unreadable(
            say("nested deeper than %(limit_depth)s levels", limit_depth=LIMIT_DEPTH), code="too_deep"
        )
    if isinstance(value, dict):
        return {_NO_TEXT.sub("", str(key)): _plain(inner, depth + 1) for key, inner in value.items()}
    if isinstance(value, list):
        return [_plain(inner, depth + 1) for inner in value]
    return _NO_TEXT.sub("", value) if isinstance(value, str) else value


def _number(block: Sequence[Line], line: int) -> int:
    """The number in the file of a 1-based line of a block."""
    return block[min(line, len(block)) - 1].number if block else 1


def _line(block: Sequence[Line], number: int) -> Line | None:
    return next((line for line in block if line.number == number), None)


def portal_note(item: Mapping[str, Any]) -> str | None:
    """What the portal's own exports say on an object of nodes and switches, for which its format has no word."""
    return text_of(mapping(mapping(item.get("metadata")).get("annotations")).get(_PORTAL_NOTE))
