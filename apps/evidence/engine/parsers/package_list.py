"""Installed packages as `dpkg -l`, `dpkg-query -W` and `rpm -qa` list them; those of the GPU stack by themselves.

What is installed need not be what runs: these are declared versions.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._packages import Installed
from apps.evidence.engine.parsers._version_files import sample_lines
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "package_list"
VERSION = 3

_DPKG = re.compile(
    r"(?P<state>[uihrp][ncHUFWti ][ R]?) {1,3}(?P<name>[a-z0-9][a-z0-9+.-]{1,120})(?::(?P<arch>[a-z0-9]{2,10}))?"
    r" +(?P<version>[0-9][\w.+:~-]{0,120})(?: +.{0,400})?"
)
_QUERY = re.compile(
    r"(?P<name>[a-z0-9][a-z0-9+.-]{1,120})(?::[a-z0-9]{2,10})?\t(?P<version>[0-9][\w.+:~-]{0,120})"
)
_RPM = re.compile(
    r"(?P<name>[\w+.-]{1,120})-(?P<version>[\w.+~^:]{1,80}-[\w.+~^]{1,80})"
    r"\.(?P<arch>x86_64|aarch64|noarch|i[3-6]86|ppc64le|riscv64|loongarch64|sw_64)"
)
_RULE = re.compile(r"\+\+\+-(?P<name>=+)-(?P<version>=+)-.*")
_HEAD = "Desired=Unknown/Install/Remove/Purge/Hold"
_INSTALLED = re.compile(r"[ih][i][ R]?")
_OURS = re.compile(
    r"nvidia|cuda|nccl|cudnn|fabric-?manager|nvlsm|nscq|imex|datacenter-gpu-manager|ofed|doca|mlnx|rdma-core|"
    r"rocm|amdgpu|rccl|hip|ascend|dtk|kernel-(?:core|image)",
    re.IGNORECASE,
)
_FABRIC_MANAGER = re.compile(
    r"(?:cuda-drivers-|nvidia-)fabric-?manager(?:-\d{3,4})?|nvidia-fabric-manager-\d{3,4}", re.IGNORECASE
)
_DCGM = re.compile(r"datacenter-gpu-manager(?:-\d{1,2}-core|-\d{1,2})?")
_MOST_KEPT = 500
_MOST_FILLING = 3  # versions as wide as their column, from which on the column cuts


@dataclass(frozen=True, slots=True)
class _Package:
    name: str
    version: str
    line: Line

    @property
    def upstream(self) -> str:
        """The maker's version: without the distribution's epoch and revision."""
        return re.sub(r"^\d{1,3}:", "", self.version).split("-", 1)[0]


def recognise(sample: str) -> int:
    lines = sample_lines(sample, 6000)
    if _HEAD in sample and any(_RULE.fullmatch(line) for line in lines):
        return 86
    rows = sum(1 for line in lines if _row(line))
    return 55 if rows and rows * 2 > len(lines) else 0


def _row(text: str) -> re.Match[str] | None:
    return _DPKG.fullmatch(text) or _QUERY.fullmatch(text) or _RPM.fullmatch(text)


def read(source: Source) -> Reading:
    """Raises Unreadable where no installed package is listed."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    found_rows = ((line, row) for line in lines if (row := _row(line.text.strip()[:400])))
    rows = list({row[0]: (line, row) for line, row in found_rows}.values())  # a list may stand there twice
    installed = [
        _Package(row["name"], row["version"], line)
        for line, row in rows
        if row.re is not _DPKG or _INSTALLED.match(row["state"])
    ]
    if not installed:
        raise Unreadable(say("package list: no installed package was found"), code="no_packages")
    manager = "rpm" if rows[0][1].re is _RPM else "dpkg"
    found = [one for one in installed if _OURS.search(one.name)]
    _note_narrow(lines, installed, found, notes)
    last_row = rows[-1][1]
    is_open = last_row.re is _RPM or last_row.end("version") == last_row.end()
    if found and is_open and not source.text().endswith("\n"):
        notes.add(
            "last_line_not_ended", say("the last line has no line end; the list may be cut"), at=rows[-1][0]
        )
    return Reading(
        kind=KIND,
        facts=_facts(found, manager, len(installed), notes) | {"installed": _all(installed, notes)},
        warnings=notes.all(),
        parser_version=VERSION,
    )


def _all(installed: list[_Package], notes: Notes) -> dict[str, str | list[str]]:
    """Every package, so that a team can name those of its own components."""
    listed = Installed(notes)
    for one in installed:
        listed.add(one.name, one.version, one.line, may_differ=True)
    return listed.listed()


def _is_output(lines: list[Line]) -> bool:
    return any(_row(line.text.strip()[:400]) for line in lines)


def _note_narrow(lines: list[Line], installed: list[_Package], found: list[_Package], notes: Notes) -> None:
    """A narrow terminal cuts versions at the width of their column; elsewhere only the longest one fills it."""
    rule = next((rule for line in lines if (rule := _RULE.fullmatch(line.text.strip()[:400]))), None)
    width = len(rule["version"]) if rule else 0
    filling = {one.version for one in installed if len(one.version) == width}
    if len(filling) < _MOST_FILLING:
        return
    for one in found:
        if one.version in filling:
            notes.add(
                "may_be_cut", say("the version fills its column, which a narrow terminal cuts"), at=one.line
            )


def _facts(found: list[_Package], manager: str | None, count: int, notes: Notes) -> dict[str, Any]:
    if len(found) > _MOST_KEPT:
        notes.add(
            "packages_left_out",
            say(
                "only %(kept)s of %(count)s packages of the GPU stack are kept",
                kept=_MOST_KEPT,
                count=len(found),
            ),
        )
    packages: dict[str, list[str]] = {}
    for one in found[:_MOST_KEPT]:
        if one.version not in packages.setdefault(one.name, []):
            packages[one.name].append(one.version)
    facts: dict[str, Any] = {"manager": manager, "packages": count, "gpu_stack": packages}
    for key, pattern in (("fabric_manager", _FABRIC_MANAGER), ("dcgm", _DCGM)):
        versions = dict.fromkeys(one.upstream for one in found if pattern.fullmatch(one.name))
        facts[key] = list(versions)
        if len(versions) > 1:
            line = next(one.line for one in reversed(found) if pattern.fullmatch(one.name))
            notes.add(
                "versions_differ",
                say("%(count)s versions of %(what)s are installed", count=len(versions), what=key),
                at=line,
            )
    return facts
