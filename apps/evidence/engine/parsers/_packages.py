"""Packages with their versions: lists of all that is installed, and those that collect_env prints.

These are `[pip3] name==1.2`, `[pip] name (1.2)` and `[conda] name 1.2 build channel`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.source import Line

_PIP = re.compile(
    r"\[pip3?\] (?P<name>[\w.-]{1,80})(?:\[[\w,]{1,40}\])?(?:===?| \()(?P<version>\w[^\s)]{0,80})\)?"
)
_CONDA = re.compile(r"\[conda\] (?P<name>[\w.-]{1,80}) +(?P<version>[0-9][^\s]{0,80})(?: +\S{1,80}){1,2}")
_LISTED = re.compile(r"\[(?:pip3?|conda)\] ")
_NOTHING = re.compile(r"\[(?:pip3?|conda)\] *(?:Could not collect|No relevant packages)", re.IGNORECASE)
MOST_LISTED = 20_000


@dataclass(slots=True)
class Installed:
    """Packages with their versions, in the order of the list. left_out: rows of names beyond MOST_LISTED."""

    notes: Notes
    versions: dict[str, list[str]] = field(default_factory=dict)
    left_out: int = 0

    def add(self, name: str, version: str, line: Line, *, may_differ: bool = False) -> None:
        """may_differ: several versions of one name are usual, such as kernels that stand side by side."""
        if name not in self.versions and len(self.versions) >= MOST_LISTED:
            self.left_out += 1
            if self.left_out == 1:
                message = say("only the first %(kept)s packages are kept", kept=MOST_LISTED)
                self.notes.add("packages_left_out", message, at=line)
            return
        held = self.versions.setdefault(name, [])
        if version in held:
            return
        if held and not may_differ:
            message = say("%(name)s is listed with two versions", name=name)
            self.notes.add("package_repeated", message, at=line)
        held.append(version)

    @property
    def count(self) -> int:
        """Packages, each once however often the list stands there."""
        return len(self.versions) + self.left_out

    def listed(self) -> dict[str, str | list[str]]:
        """Name to version, or to the versions of a name that has several."""
        return {
            name: versions[0] if len(versions) == 1 else versions for name, versions in self.versions.items()
        }


def same_name(name: str) -> str:
    """A package name in the one spelling that pip compares: torch_npu and torch-npu are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def packages(lines: Iterable[Line], notes: Notes) -> tuple[dict[str, str], dict[str, str]]:
    """Name as printed to version, of pip and of conda. A name with two versions is noted; the first counts."""
    found: tuple[dict[str, str], dict[str, str]] = ({}, {})
    for line in lines:
        text = line.text.strip()
        if not _LISTED.match(text) or _NOTHING.match(text):
            continue
        of_pip = _PIP.fullmatch(text)
        entry = of_pip or _CONDA.fullmatch(text)
        if entry is None:
            notes.add("package_not_understood", say("this is no package with a version"), at=line)
            continue
        listed = found[0] if of_pip else found[1]
        if listed.setdefault(entry["name"], entry["version"]) != entry["version"]:
            notes.add(
                "package_repeated", say("%(name)s is listed with two versions", name=entry["name"]), at=line
            )
    return found


def version_of(listed: dict[str, str], *names: str) -> str | None:
    """Version of the first package that has one of the names (a trailing * stands for any ending)."""
    return next(iter(named(listed, *names).values()), None)


def named(listed: dict[str, str], *names: str) -> dict[str, str]:
    """Packages that have one of the names, those of the first name first."""
    return {
        package: version
        for name in names
        for package, version in listed.items()
        if (plain := same_name(package)) == name or (name.endswith("*") and plain.startswith(name[:-1]))
    }


def note_several(what: str, found: dict[str, str], lines: Iterable[Line], notes: Notes) -> None:
    """Packages that stand for one component in different versions: only the first can be stated."""
    versions = {version.split("+")[0] for version in found.values()}
    if len(versions) > 1:
        message = say("%(count)s versions of %(what)s are installed", count=len(versions), what=what)
        name = re.compile(rf"(?<![\w.-]){re.escape(list(found)[-1])}(?![\w.-])")
        notes.add(
            "versions_differ", message, at=next(filter(lambda line: name.search(line.text), lines), None)
        )


def differing(pip: dict[str, str], conda: dict[str, str]) -> dict[str, dict[str, str]]:
    """Packages of which pip and conda name different versions; local parts (+cu121) do not count.

    Libraries of NVIDIA have other names in pip than in conda, and a fourth number that counts packages.
    """
    of_conda = {same_name(name): version for name, version in conda.items()}
    if "pytorch" in of_conda:
        of_conda.setdefault("torch", of_conda["pytorch"])
    found = {
        name: {"pip": version, "conda": of_conda[same_name(name)]}
        for name, version in pip.items()
        if same_name(name) in of_conda and version.split("+")[0] != of_conda[same_name(name)].split("+")[0]
    }
    for library in ("nccl", "cudnn"):
        version = version_of(pip, f"nvidia-{library}-*")
        other = of_conda.get(library)
        if version and other and version.split(".")[:3] != other.split(".")[:3]:
            found[library] = {"pip": version, "conda": other}
    return found
