"""Packages of one Python environment as `pip list`, `pip freeze` and `conda list` print them, as tables or JSON.

What is installed need not be what a process loads: these are declared versions.
"""

from __future__ import annotations

import re
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import load_objects, mapping, sequence, text_of
from apps.evidence.engine.parsers._packages import Installed, named, note_several
from apps.evidence.engine.parsers._version_files import sample_lines
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "python_packages"
VERSION = 3

_NAME = r"(?P<name>[A-Za-z0-9_][\w.-]{0,119})"
_VERSION = r"(?P<version>[0-9][\w.+!-]{0,119})"
_FREEZE = re.compile(rf"{_NAME}===?{_VERSION}")
_COLUMNS = re.compile(rf"{_NAME} +{_VERSION}(?: +\S.{{0,300}})?")
# `pip list --format=json` and `conda list --json`: a list of objects, one for each package.
_JSON = re.compile(r"\[\s*\{(?=[^{}]{0,1000}\"name\"\s*:)(?=[^{}]{0,1000}\"version\"\s*:)")
# Without a version: a checkout, or a file that was installed.
_UNVERSIONED = re.compile(r"-e \S.{0,300}|[A-Za-z0-9][\w.-]{0,119} @ \S.{0,300}")
_STATED = {
    "torch": ("torch", "pytorch"),
    "nccl": ("nvidia-nccl-*", "nccl"),
    "cudnn": ("nvidia-cudnn-*", "cudnn"),
    "triton": ("triton",),
    "torch_npu": ("torch-npu",),
}
_PIP_HEAD = re.compile(r"Package +Version(?: +Editable project location)?(?: +Installer)?")
_CONDA_HEAD = re.compile(r"# +Name +Version +Build(?: +Channel)?")
_CONDA_PLACE = re.compile(r"# packages in environment at \S.{0,300}:")


def recognise(sample: str) -> int:
    lines = sample_lines(sample, 4000)
    if any(_PIP_HEAD.fullmatch(line) for line in lines[:200]) or any(
        _CONDA_HEAD.fullmatch(line) for line in lines[:200]
    ):
        return 84
    if _JSON.search(sample):
        return 65
    rows = sum(1 for line in lines if _FREEZE.fullmatch(line))
    return 50 if rows > 2 and rows * 2 > len(lines) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no package with a version is listed."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    installed = Installed(notes)
    manager = _read_json(source, installed) if _JSON.search(source.sample) else _read_rows(lines, installed)
    if not installed.count:
        raise Unreadable(say("Python packages: no package with a version was found"), code="no_packages")
    facts = _facts(installed, manager, lines)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _read_rows(lines: list[Line], installed: Installed) -> str:
    """Adds the packages of a table; gives whose it is."""
    manager, row = "pip", _FREEZE
    for line in lines:
        text = line.text.strip()[:500]
        if _PIP_HEAD.fullmatch(text):
            row = _COLUMNS
        elif _CONDA_HEAD.fullmatch(text) or _CONDA_PLACE.fullmatch(text):
            manager, row = "conda", _COLUMNS
        elif found := row.fullmatch(text):
            installed.add(found["name"], found["version"], line)
        elif text and not _says_nothing(text):
            installed.notes.add("package_not_understood", say("this is no package with a version"), at=line)
    return manager


def _read_json(source: Source, installed: Installed) -> str:
    """Adds the packages of JSON; gives whose it is. Raises Unreadable where it is cut or damaged."""
    manager = "pip"
    for document in load_objects(source, installed.notes):
        for row in map(mapping, sequence(document.value) or [document.value]):
            named = f"{text_of(row.get('name'))}=={text_of(row.get('version'))}"
            at = Line(document.line, named)
            if found := _FREEZE.fullmatch(named):
                installed.add(found["name"], found["version"], at)
            else:
                installed.notes.add("package_not_understood", say("this is no package with a version"), at=at)
            if "build_string" in row:
                manager = "conda"
    return manager


def _is_output(lines: list[Line]) -> bool:
    texts = [line.text.strip()[:500] for line in lines]
    return any(_PIP_HEAD.fullmatch(text) or _CONDA_HEAD.fullmatch(text) for text in texts) or any(
        _FREEZE.fullmatch(text) for text in texts
    )


def _says_nothing(text: str) -> bool:
    """A rule, a comment, a notice of pip's, or a package that has no version."""
    return text.startswith(("#", "---", "[notice]", "WARNING:")) or bool(_UNVERSIONED.fullmatch(text))


def _facts(installed: Installed, manager: str, lines: list[Line]) -> dict[str, Any]:
    first = {name: versions[0] for name, versions in installed.versions.items()}
    facts: dict[str, Any] = {"manager": manager, "packages": installed.count}
    for key, names in _STATED.items():
        found = named(first, *names)
        note_several(key, found, lines, installed.notes)
        facts[key] = next(iter(found.values()), None)
    return facts | {"installed": installed.listed()}
