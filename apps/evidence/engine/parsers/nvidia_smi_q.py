"""`nvidia-smi -q` as text, whole or one section (`-d`), of any driver: indentation gives the tree."""

from __future__ import annotations

import re

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._gpu_report import report_facts
from apps.evidence.engine.parsers._not_answering import (
    ERROR_KEY,
    driver_error,
    gpus_without_handle,
    is_error,
    no_devices,
    stands_alone,
)
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._tree import Branch, plain_key
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvidia_smi_q"
VERSION = 4

_TITLE = re.compile(r"= ?NVSMI LOG ?=")
_HEADING = re.compile(r"[A-Za-z][\w ./()-]{0,60}")
_TOP_KEYS = ("timestamp", "driver_version", "cuda_version", "attached_gpus")
_ADDRESS = r"[0-9A-Fa-f]{4,8}:[0-9A-Fa-f]{2}:[0-9A-Fa-f]{2}\.[0-7]"
_GPU = re.compile(rf"GPU (?P<bus>{_ADDRESS})")
_SAMPLE_GPU = re.compile(rf"^[^\n]{{0,80}}?\bGPU {_ADDRESS}\s*$", re.MULTILINE)
_SAMPLE_TOP = re.compile(r"\bDriver Version {2,}: \d[^\n]*\n[^\n]*\bCUDA Version {2,}: ")


def recognise(sample: str) -> int:
    if _TITLE.search(sample):
        return 100
    if _SAMPLE_TOP.search(sample):
        return 80
    if _SAMPLE_GPU.search(sample) and " : " in sample:
        return 60
    return 20 if stands_alone(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_report, notes)
    report = _first_report(lines, notes)
    top, gpus = _tree(report, notes)
    unopened, no_driver = gpus_without_handle(lines), driver_error(lines)
    none_found = no_devices(lines) if not gpus else None
    said_instead = bool(unopened or no_driver or none_found)
    if not gpus and top.get("driver_version") is None and not said_instead:
        raise Unreadable(say("nvidia-smi -q: neither a GPU nor a driver version is in it"), code="no_gpus")
    if none_found:
        top = {"attached_gpus": "0", **top}
        notes.add("no_devices", say("the driver answers and knows of no GPU"), at=none_found)
    facts = report_facts(gpus, top, notes, unopened=unopened)
    facts["driver_error"] = no_driver.text.strip() if no_driver else None
    if no_driver:
        notes.add("driver_not_answering", say("the driver does not answer"), at=no_driver)
    if gpus or not said_instead:
        _check_form(report, gpus, notes)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_report(lines: list[Line]) -> bool:
    return any(_TITLE.search(line.text) or _GPU.fullmatch(line.text.strip()) for line in lines)


def _first_report(lines: list[Line], notes: Notes) -> list[Line]:
    """Lines of the first report that says something; other reports are noted."""
    titles = [place for place, line in enumerate(lines) if _TITLE.search(line.text)]
    ends = [*titles[1:], len(lines)]
    parts = [lines[title:end] for title, end in zip(titles, ends, strict=False)] or [lines]
    full = [part for part in parts if any(line.text.strip() for line in part[1:])]
    if len(full) > 1:
        notes.add(
            "several_reports", say("the file holds several reports; only the first is read"), at=full[1][0]
        )
    return full[0] if full else lines


def _tree(lines: list[Line], notes: Notes) -> tuple[dict[str, str | None], list[tuple[str, Branch]]]:
    """Keys above the first GPU, and a tree for each GPU."""
    top: dict[str, str | None] = {}
    gpus: list[tuple[str, Branch]] = []
    bodies: list[list[Line]] = []
    for line in lines:
        header = _GPU.fullmatch(line.text.strip())
        if header:
            gpus.append((header["bus"], Branch(key="gpu", line=line.number)))
            bodies.append([])
        elif bodies:
            bodies[-1].append(line)
        elif (entry := _entry(line)) and entry.key in _TOP_KEYS:
            top.setdefault(entry.key, entry.text)
        elif line.text[:4] == "    " and line.text[4:5].isalpha() and "driver_version" in top:
            notes.add("foreign_line", say("the line belongs to a GPU whose own line is missing"), at=line)
    for (_, branch), body in zip(gpus, bodies, strict=True):
        branch.flat = _is_flat(body)
        branch.children = _flat(body) if branch.flat else _nested(body, notes)
    return top, gpus


def _entry(line: Line) -> Branch | None:
    """The key of a line, with its value unless it is a heading; None for a line of another form."""
    text = line.text.strip()
    if is_error(text):
        return Branch(key=ERROR_KEY, text=text, line=line.number)
    key, colon, value = text.partition(":")
    if colon and key.strip() and value[:1] in ("", " "):
        return Branch(key=plain_key(key), text=value.strip(), line=line.number)
    if _HEADING.fullmatch(text):
        return Branch(key=plain_key(text), line=line.number)
    return None


def _nested(body: list[Line], notes: Notes) -> list[Branch]:
    """Children by indentation, whatever its width; a line without any does not belong to the GPU."""
    root = Branch(key="gpu")
    stack: list[tuple[int, Branch]] = [(-1, root)]
    for line in body:
        entry = _entry(line)
        if entry is None:
            continue
        expanded = line.text.expandtabs(8)
        indent = len(expanded) - len(expanded.lstrip())
        if not indent and entry.key == ERROR_KEY:
            root.children.append(entry)
            continue
        if not indent:
            notes.add(
                "foreign_line", say("the line stands among those of a GPU and is not indented"), at=line
            )
            continue
        while stack[-1][0] >= indent:
            stack.pop()
        stack[-1][1].children.append(entry)
        stack.append((indent, entry))
    return root.children


def _is_flat(body: list[Line]) -> bool:
    """The indentation was lost on the way."""
    filled = [line for line in body if line.text.strip()]
    return len(filled) > 2 and not any(line.text[:1].isspace() for line in filled)


def _flat(body: list[Line]) -> list[Branch]:
    """Children without indentation: keys directly, and below the nearest heading where that is unique."""
    loose: dict[str, Branch] = {}
    headings: list[Branch] = []
    for line in body:
        entry = _entry(line)
        if entry is None:
            continue
        if entry.text is None:
            headings.append(entry)
            continue
        if headings:
            headings[-1].children.append(entry)
        loose.setdefault(entry.key, entry)
    return [*loose.values(), *headings]


def _check_form(lines: list[Line], gpus: list[tuple[str, Branch]], notes: Notes) -> None:
    flat = next((branch for _, branch in gpus if branch.flat), None)
    if flat:
        notes.add(
            "indentation_lost",
            say("the indentation is gone; only what is clear without it is read"),
            line=flat.line,
        )
    if not gpus or _is_cut(gpus[-1][1]):
        last = next((line for line in reversed(lines) if line.text.strip()), None)
        notes.add(
            "cut_off", say("the report ends before its last part; the last value may be incomplete"), at=last
        )


def _is_cut(last: Branch) -> bool:
    """A whole report ends with processes, a section of `-d` at least not with an empty heading."""
    keys = {child.key for child in last.children}
    if "product_name" in keys:
        return not keys & {"processes", "compute_processes"}
    return not keys or (last.children[-1].text is None and not last.children[-1].children)
