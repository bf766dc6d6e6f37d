"""`nvidia-smi -q -x`: XML of any DTD version, whole or cut. Entities and external references are refused."""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from xml.etree.ElementTree import Element, ParseError

from defusedxml.common import DefusedXmlException
from defusedxml.ElementTree import iterparse

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process
from apps.evidence.engine.parsers._gpu_report import report_facts
from apps.evidence.engine.parsers._not_answering import gpus_without_handle
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._tree import Branch, plain_key
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvidia_smi_xml"
VERSION = 3

_ROOT = "nvidia_smi_log"
_START = re.compile(rf"<{_ROOT}[\s>]")
_END = f"</{_ROOT}>"
_START_OF_LINE = re.compile(rf"^[ \t]*<{_ROOT}[\s>]", re.MULTILINE)
_DTD = re.compile(r"<!DOCTYPE[^>\[]{0,200}?_v(\d{1,3})\.dtd", re.IGNORECASE)
_TOP_KEYS = ("timestamp", "driver_version", "cuda_version", "attached_gpus")
_DEEPEST = 32
_CUT = ("no element found", "unclosed")


def recognise(sample: str) -> int:
    if _START.search(sample):
        return 100
    return 60 if "nvsmi_device_v" in sample and "<!DOCTYPE" in sample else 0


def read(source: Source) -> Reading:
    notes = Notes()
    document, first_line = _document(source, notes)
    root = _parse(document, first_line, notes)
    gpus = [(gpu.get("id") or "", _branch(gpu)) for gpu in root.iter("gpu") if gpu.get("id")]
    top = {key: root.findtext(key) for key in _TOP_KEYS}
    if not gpus and top["driver_version"] is None:
        raise Unreadable(say("nvidia-smi XML: neither a GPU nor a driver version is in it"), code="no_gpus")
    dtd = _DTD.search(document)
    for bus_id, gpu in gpus:
        gpu.line = _line_of(bus_id, document, first_line)
    unopened = gpus_without_handle(source.lines())
    facts = {"dtd": int(dtd[1]) if dtd else None, **report_facts(gpus, top, notes, unopened=unopened)}
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _line_of(bus_id: str, document: str, first_line: int) -> int | None:
    """The line on which the element of a GPU begins."""
    found = re.search(rf"<gpu\s[^>]*{re.escape(bus_id)}", document)
    return first_line + document.count("\n", 0, found.start()) if found else None


def _document(source: Source, notes: Notes) -> tuple[str, int]:
    """The first XML document, from its DOCTYPE to its end or that of the file, and its first line."""
    text = source.text()
    if not _START_OF_LINE.search(text):
        text = _without_prefixes(text, notes)
    start = _START.search(text)
    if start is None:
        raise Unreadable(say("nvidia-smi XML: there is no <%(root)s> element", root=_ROOT), code="no_root")
    end = text.find(_END, start.end())
    stop = len(text) if end < 0 else end + len(_END)
    if second := _START.search(text, start.end()):
        line = text.count("\n", 0, second.start()) + 1
        notes.add("several_reports", say("the file holds several reports; only the first is read"), line=line)
        stop = min(stop, second.start())
    doctype = text.rfind("<!DOCTYPE", 0, start.start())
    begin = start.start() if doctype < 0 else doctype
    return text[begin:stop], text.count("\n", 0, begin) + 1


def _without_prefixes(text: str, notes: Notes) -> str:
    """The lines of one process in their places, so that line numbers stay; others are left empty."""
    texts = text.split("\n")
    numbered = (Line(number, line) for number, line in enumerate(texts, start=1))
    kept = [""] * len(texts)
    for line in one_process(numbered, _holds_root, notes):
        kept[line.number - 1] = line.text
    return "\n".join(kept)


def _holds_root(lines: list[Line]) -> bool:
    return any(_START.search(f"{line.text}\n") for line in lines)


def _parse(document: str, first_line: int, notes: Notes) -> Element:
    """The root with every element that is closed; a warning where the document breaks off."""
    root: Element | None = None
    closed: set[int] = set()
    try:
        for event, element in _events(document):
            root = element if root is None else root
            if event == "end":
                closed.add(id(element))
    except DefusedXmlException as refused:
        raise Unreadable(
            say(
                "nvidia-smi XML: %(name)s: entities and external references are refused",
                name=type(refused).__name__,
            ),
            code="xml_refused",
        ) from refused
    except ParseError as broken:
        if root is None:
            raise Unreadable(say("nvidia-smi XML: this is no valid XML"), code="not_well_formed") from broken
        _drop_unfinished(root, closed)
        _note_break(broken, first_line, notes)
    if root is None:
        raise Unreadable(say("nvidia-smi XML: the document is empty"), code="no_root")
    return root


def _note_break(broken: ParseError, first_line: int, notes: Notes) -> None:
    """Say in our words, which can be translated, what the library says in English."""
    line = first_line + broken.position[0] - 1
    if str(broken).startswith(_CUT):
        notes.add("cut_off", say("the file was cut here; only what stands before is read"), line=line)
    else:
        notes.add(
            "not_well_formed",
            say("from here on this is no valid XML; only what stands before is read"),
            line=line,
        )


def _events(document: str) -> Iterator[tuple[str, Element]]:
    """Start and end of each element. Raises ParseError, DefusedXmlException, and Unreadable for deep nesting."""
    depth = 0
    for event, element in iterparse(
        io.BytesIO(document.encode()),
        events=("start", "end"),
        forbid_dtd=False,
        forbid_entities=True,
        forbid_external=True,
    ):
        depth += 1 if event == "start" else -1
        if depth > _DEEPEST:
            raise Unreadable(say("nvidia-smi XML: elements are nested too deep"), code="nested_too_deep")
        yield event, element


def _drop_unfinished(root: Element, closed: set[int]) -> None:
    """Take out the values that were being written when the document broke off."""
    for parent in list(root.iter()):
        for child in list(parent):
            if id(child) not in closed and not len(child):
                parent.remove(child)


def _branch(element: Element) -> Branch:
    children = [_branch(child) for child in element]
    text = None if children else (element.text or "").strip()
    return Branch(key=plain_key(element.tag), text=text, children=children)
