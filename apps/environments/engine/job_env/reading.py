"""Where a job sets environment variables: pasted env, scripts, Slurm and Kubernetes files, launchers.

Everything is read line by line, so that a file with templates in it, or half of a file, is read as far as
it goes. Nothing is executed or expanded.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum


class Via(StrEnum):
    """How a variable is set."""

    ASSIGNMENT = "assignment"
    LAUNCHER = "launcher"
    MANIFEST = "manifest"
    PROGRAM = "program"
    UNSET = "unset"


@dataclass(frozen=True, slots=True, kw_only=True)
class Setting:
    """One variable as it is set. line: 1-based. value: None where it comes from elsewhere or is computed."""

    name: str
    value: str | None
    line: int
    via: Via


_NAME = r"[A-Za-z_][A-Za-z0-9_]*"
# A bare word; `;` before a collective and `|` before a policy are part of a value, as NCCL writes them.
_BARE = r"(?:[^\s;|&)\"'`]|;(?=[a-z]+:)|\|(?=[A-Z]+\b))+"
_VALUE = rf"\"(?:[^\"\\]|\\.)*\"|'[^']*'|{_BARE}"
_ASSIGNMENT = re.compile(rf"(?<![\w$.{{-])(?P<name>{_NAME})=(?P<value>(?:{_VALUE})*)")
_EXPORT_LIST = re.compile(r"--export[= ](?P<list>\"[^\"]*\"|'[^']*'|\S+)")
_GENV = re.compile(rf"\s-g?env\s+(?P<name>{_NAME})\s+(?P<value>{_VALUE})(?=\s)")
_DOCKER_ENV = re.compile(rf"\s*ENV\s+(?P<name>{_NAME})\s+(?P<value>\S.*)")
_UNSET = re.compile(rf"\bunset\s+(?:-v\s+)?(?P<names>{_NAME}(?:\s+{_NAME})*)")
_PROGRAM = re.compile(
    rf"environ(?:\[\s*|\.setdefault\(\s*)[\"'](?P<name>{_NAME})[\"']\s*(?:\]\s*=|,)\s*(?P<value>[^#\n)]+)"
)
_MAP_LINE = re.compile(r"\s*(?:-\s+)?(?P<name>[A-Z][A-Z0-9]*_[A-Z0-9_]+)\s*:\s+(?P<value>\S.*)")
_QUOTED_PAIR = re.compile(rf"[\"'](?P<name>{_NAME})[\"']\s*:\s*[\"'](?P<value>[^\"']*)[\"']")
_ENTRY_NAME = re.compile(rf"[\"']?name[\"']?\s*:\s*[\"']?(?P<name>{_NAME})[\"']?\s*(?:,|}}|$|#)")
_ENTRY_VALUE = re.compile(r"[\"']?value[\"']?\s*:\s*(?P<value>\"(?:[^\"\\]|\\.)*\"|'[^']*'|[^\s,}#][^,}#]*)")
_LINES_TO_VALUE = 3
_LINE_LIMIT = 20_000


def settings_in(text: str) -> tuple[Setting, ...]:
    """All settings of the text, in order; what is unset again further down is left out."""
    found: list[Setting] = []
    for setting in [*_from_lines(text), *_from_manifest(text)]:
        if setting.via is Via.UNSET:
            found = [kept for kept in found if kept.name != setting.name]
        else:
            found.append(setting)
    return tuple(sorted(set(found), key=lambda setting: (setting.line, setting.name)))


def _from_lines(text: str) -> Iterator[Setting]:
    for line in _logical_lines(text):
        yield from _from_program(line)
        exports = _EXPORT_LIST.search(line.text)
        if exports:
            yield from _from_export_list(line.number_at(exports.start()), exports["list"])
        if not line.text.lstrip().startswith("#"):
            yield from _from_command(line, without=exports.span("list") if exports else (0, 0))


def _from_command(line: _Line, without: tuple[int, int]) -> Iterator[Setting]:
    """Settings of a shell line. without: the part that was read as an export list already."""
    text = line.text[: without[0]] + " " * (without[1] - without[0]) + line.text[without[1] :]
    for match in _GENV.finditer(f"{text} "):
        number = line.number_at(match.start("name"))
        yield Setting(name=match["name"], value=_plain(match["value"]), line=number, via=Via.LAUNCHER)
    docker = _DOCKER_ENV.fullmatch(text)
    if docker:
        number = line.number_at(docker.start("name"))
        yield Setting(name=docker["name"], value=_plain(docker["value"]), line=number, via=Via.MANIFEST)
        return
    via = Via.LAUNCHER if re.search(r"\s(?:-x|-e|--env)[\s=]", text) else Via.ASSIGNMENT
    for match in _ASSIGNMENT.finditer(_without_comment(text)):
        yield _setting(match["name"], match["value"], line.number_at(match.start()), via)
    unset = _UNSET.search(text)
    for name in unset["names"].split() if unset else ():
        yield Setting(name=name, value=None, line=line.number_at(0), via=Via.UNSET)


class _Line:
    """A line with its continuations joined, which knows where each part of it stood."""

    def __init__(self) -> None:
        self.text = ""
        self._starts: list[tuple[int, int]] = []

    def add(self, number: int, part: str) -> None:
        self._starts.append((len(self.text), number))
        self.text += part

    def number_at(self, position: int) -> int:
        """The 1-based line of the file in which the character at a position stood."""
        return next(number for start, number in reversed(self._starts) if start <= position)


def _logical_lines(text: str) -> Iterator[_Line]:
    line = _Line()
    for number, whole in enumerate(text.splitlines(), start=1):
        body = whole[:_LINE_LIMIT].rstrip()
        goes_on = body.endswith("\\") and len(line.text) < _LINE_LIMIT
        line.add(number, body[:-1] + " " if goes_on else body)
        if not goes_on:
            yield line
            line = _Line()
    if line.text:
        yield line


def _from_program(line: _Line) -> Iterator[Setting]:
    for match in _PROGRAM.finditer(line.text):
        text = match["value"].strip()
        is_literal = re.fullmatch(r"\"[^\"]*\"|'[^']*'", text) is not None
        yield Setting(
            name=match["name"],
            value=text[1:-1] if is_literal else None,
            line=line.number_at(match.start("name")),
            via=Via.PROGRAM,
        )


def _from_export_list(number: int, listed: str) -> Iterator[Setting]:
    """srun and sbatch: ALL,NAME=value,NAME; a comma always ends a value, as Slurm reads it."""
    for part in listed.strip("\"'").split(","):
        name, equals, value = part.partition("=")
        if equals and re.fullmatch(_NAME, name):
            yield _setting(name, value, number, Via.LAUNCHER)


def _from_manifest(text: str) -> Iterator[Setting]:
    """Entries of the form name/value of Kubernetes, and maps of NAME: value."""
    waiting: tuple[str, int] | None = None
    for number, line in enumerate(text.splitlines(), start=1):
        line = line[:_LINE_LIMIT]
        if line.lstrip().startswith("#"):
            continue
        mapped = _MAP_LINE.fullmatch(line)
        if mapped:
            yield Setting(name=mapped["name"], value=_scalar(mapped["value"]), line=number, via=Via.MANIFEST)
            continue
        for pair in _QUOTED_PAIR.finditer(line):
            yield Setting(name=pair["name"], value=_scalar(pair["value"]), line=number, via=Via.MANIFEST)
        named = _ENTRY_NAME.search(line)
        if named:
            waiting = (named["name"], number)
        valued = _ENTRY_VALUE.search(line)
        if waiting and "valueFrom" in line:
            yield Setting(name=waiting[0], value=None, line=waiting[1], via=Via.MANIFEST)
            waiting = None
        elif waiting and valued:
            yield Setting(name=waiting[0], value=_scalar(valued["value"]), line=waiting[1], via=Via.MANIFEST)
            waiting = None
        elif waiting and number - waiting[1] >= _LINES_TO_VALUE:
            waiting = None


def _setting(name: str, raw: str, line: int, via: Via) -> Setting:
    # A value that another variable or command gives cannot be judged here.
    is_computed = "$" in raw.replace("\\$", "") and not raw.startswith("'")
    return Setting(name=name, value=None if is_computed else _plain(raw), line=line, via=via)


def _plain(raw: str) -> str:
    """A shell word without its quotes."""
    parts = re.findall(r"\"((?:[^\"\\]|\\.)*)\"|'([^']*)'|([^\"']+)", raw.strip())
    return "".join(re.sub(r"\\(.)", r"\1", double) or single or bare for double, single, bare in parts)


def _scalar(raw: str) -> str | None:
    """A YAML or JSON scalar as text; None where it is a template."""
    text = raw.strip()
    if text[:1] in "\"'" and text[-1:] == text[:1] and len(text) > 1:
        text = text[1:-1]
    else:
        text = re.sub(r"\s#.*$", "", text).strip()
    return None if "{{" in text or "$(" in text or "${" in text else text


def _without_comment(line: str) -> str:
    """The line up to a comment that is not inside quotes."""
    quote = ""
    for index, char in enumerate(line):
        if quote:
            quote = "" if char == quote else quote
        elif char in "\"'":
            quote = char
        elif char == "#" and (index == 0 or line[index - 1].isspace()):
            return line[:index]
    return line
