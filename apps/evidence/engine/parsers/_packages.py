"""Packages as collect_env lists them: `[pip3] name==1.2`, `[pip] name (1.2)`, `[conda] name 1.2 build channel`."""

from __future__ import annotations

import re
from collections.abc import Iterable

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.source import Line

_PIP = re.compile(
    r"\[pip3?\] (?P<name>[\w.-]{1,80})(?:\[[\w,]{1,40}\])?(?:===?| \()(?P<version>\w[^\s)]{0,80})\)?"
)
_CONDA = re.compile(r"\[conda\] (?P<name>[\w.-]{1,80}) +(?P<version>[0-9][^\s]{0,80})(?: +\S{1,80}){1,2}")
_LISTED = re.compile(r"\[(?:pip3?|conda)\] ")
_NOTHING = re.compile(r"\[(?:pip3?|conda)\] *(?:Could not collect|No relevant packages)", re.IGNORECASE)


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
    for name in names:
        for package, version in listed.items():
            plain = same_name(package)
            if plain == name or (name.endswith("*") and plain.startswith(name[:-1])):
                return version
    return None


def differing(pip: dict[str, str], conda: dict[str, str]) -> dict[str, dict[str, str]]:
    """Packages of which pip and conda name different versions; local parts (+cu121) do not count."""
    of_conda = {same_name(name): version for name, version in conda.items()}
    if "pytorch" in of_conda:
        of_conda.setdefault("torch", of_conda["pytorch"])
    return {
        name: {"pip": version, "conda": of_conda[same_name(name)]}
        for name, version in pip.items()
        if same_name(name) in of_conda and version.split("+")[0] != of_conda[same_name(name)].split("+")[0]
    }
