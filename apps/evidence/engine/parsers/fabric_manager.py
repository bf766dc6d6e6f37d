"""NVIDIA Fabric Manager: `nv-fabricmanager --version`, its service in systemd, and lines of its log.

The version has to equal the driver's; a manager that does not run leaves the GPUs without NVLink peers.
"""

from __future__ import annotations

import re
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._version_files import note_cut, sample_lines
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "fabric_manager"
VERSION = 1

_NUMBER = r"\d{2,4}(?:\.\d{1,4}){1,3}"
_SAYS_VERSION = re.compile(r"\bFabric Manager version(?: is)?\b", re.IGNORECASE)
_VERSION = re.compile(
    rf"(?:.{{0,120}}[\]:] )?Fabric Manager version(?: is)? ?:? ?(?P<version>{_NUMBER})(?: is running.{{0,200}})?",
    re.IGNORECASE,
)
_BUILD = re.compile(r"Build Info - Branch: (?P<branch>[\w./-]{1,80}), Changelist: \d{1,12}.{0,80}")
_MISMATCH = re.compile(
    rf"fabric manager NVIDIA GPU driver interface version (?P<manager>{_NUMBER}) "
    rf"doesn'?t match with driver version (?P<driver>{_NUMBER})\.?$"
)
_UNIT = re.compile(r"(?:\W{1,3} )?nvidia-fabricmanager\.service\b(?: - .{0,100})?")
_LOADED = re.compile(
    r"Loaded: (?P<loaded>[\w-]{1,20})\b(?: \([^;)]{1,200}; ?(?P<enabled>[\w-]{1,20})\b.*)?.*"
)
_ACTIVE = re.compile(
    r"Active: (?P<state>[a-z-]{1,20})(?: \((?P<sub>[^)]{1,60})\))?(?: since (?P<since>[^;]{1,60}))?(?:;.*)?"
)
_PROPERTY = re.compile(r"(?P<key>Id|ActiveState|SubState|UnitFileState|LoadState)=(?P<value>[\w.@-]{0,80})")
_PROPERTIES = {
    "ActiveState": "state",
    "SubState": "sub_state",
    "UnitFileState": "enabled",
    "LoadState": "loaded",
}


def recognise(sample: str) -> int:
    if "abric" not in sample:
        return 0
    lines = sample_lines(sample)
    if any(_VERSION.fullmatch(line) for line in lines):
        return 88
    is_unit = any(_UNIT.search(line) for line in lines) and any(_ACTIVE.search(line) for line in lines)
    return 80 if is_unit or _has_properties(sample) else 0


def _has_properties(sample: str) -> bool:
    return "Id=nvidia-fabricmanager.service" in sample and "ActiveState=" in sample


def read(source: Source) -> Reading:
    """Raises Unreadable where neither a version nor the state of the service is there."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    service, service_lines = _service(lines)
    versions: list[tuple[str, Line]] = []
    mismatch: dict[str, str] | None = None
    branch: str | None = None
    for line in lines:
        text = line.text.strip()[:400]
        if found := _MISMATCH.search(text):
            mismatch = {"fabric_manager": found["manager"], "driver": found["driver"]}
            versions.append((found["manager"], line))
        elif found := _VERSION.fullmatch(text):
            versions.append((found["version"], line))
        elif _SAYS_VERSION.match(text):
            notes.add("version_not_understood", say("no version stands behind this"), at=line)
        elif found := _BUILD.match(text):
            branch = found["branch"]
    if not versions and service is None:
        raise Unreadable(say("fabric manager: neither a version nor the service's state"), code="no_version")
    distinct = list(dict.fromkeys(version for version, _line in versions))
    if len(distinct) > 1:
        notes.add(
            "versions_differ", say("it names %(count)s versions", count=len(distinct)), at=versions[-1][1]
        )
    note_cut(source, [*(line for _version, line in versions), *service_lines], notes)
    facts: dict[str, Any] = {
        "versions": distinct,
        "branch": branch,
        "service": service,
        "driver_mismatch": mismatch,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(
        _VERSION.fullmatch(line.text.strip()[:400]) or _UNIT.match(line.text.strip()) for line in lines
    )


def _service(lines: list[Line]) -> tuple[dict[str, str | None] | None, list[Line]]:
    """What systemd says of the service, None where nothing; and the lines that say it."""
    said: dict[str, str | None] = {}
    taken: list[Line] = []
    ours = False
    for line in lines:
        text = line.text.strip()[:400]
        if _UNIT.match(text) or text == "Id=nvidia-fabricmanager.service":
            ours = True
        elif ".service - " in text or text.startswith("Id="):
            ours = False
        elif ours and (found := _ACTIVE.fullmatch(text)):
            said |= {"state": found["state"], "sub_state": found["sub"], "since": found["since"]}
            taken.append(line)
        elif ours and (found := _LOADED.fullmatch(text)):
            said |= {"loaded": found["loaded"], "enabled": found["enabled"]}
        elif ours and (found := _PROPERTY.fullmatch(text)):
            said[_PROPERTIES[found["key"]]] = found["value"] or None
            taken.append(line)
    if "state" not in said:
        return None, []
    return {key: said.get(key) for key in ("state", "sub_state", "since", "loaded", "enabled")}, taken
