"""Output of ibstat: adapters with firmware, and their ports."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import plain_lines
from apps.evidence.engine.parsers._ports import MOST_PORTS, Port, port_warnings
from apps.evidence.engine.parsers._prefixes import unprefixed
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable
from apps.evidence.engine.source import Source

KIND = "ibstat"
VERSION = 1

_ADAPTER = re.compile(r"^\s*CA '([^']{1,80})'\s*$")
_TITLE = re.compile(r"^.{0,60}\bCA '[^'\n]{1,80}'\s*$", re.MULTILINE)
_PORT = re.compile(r"^\s+Port (\d{1,3}):\s*$")
_PAIR = re.compile(r"^\s*([A-Za-z][\w ]{1,30}): ?(.*?)\s*$")
_TOOL_ERROR = re.compile(r"\bib(?:panic|warn|error)\b ?:|\bibstat: |failed: |command not found")
_PORT_KEYS = {
    "state": "state",
    "physical state": "physical_state",
    "rate": "rate",
    "link layer": "link_layer",
    "base lid": "lid",
}


@dataclass(slots=True)
class _Adapter:
    name: str
    line: int
    about: dict[str, str] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)


def recognise(sample: str) -> int:
    return 90 if _TITLE.search(sample) and ("Port" in sample or "CA type" in sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no adapter is there."""
    adapters: list[_Adapter] = []
    errors: list[tuple[int, str]] = []
    port_open = False
    for line in unprefixed(plain_lines(source)):
        text = line.text[:500]
        if found := _ADAPTER.match(text):
            adapters.append(_Adapter(found.group(1), line.number))
            port_open = False
        elif adapters and (found := _PORT.match(text)) and len(adapters[-1].ports) < MOST_PORTS:
            adapters[-1].ports.append(Port(adapters[-1].name, found.group(1), line.number))
            port_open = True
        elif _TOOL_ERROR.search(text):
            errors.append((line.number, text.strip()))
        elif adapters and (found := _PAIR.match(text)):
            _take_pair(adapters[-1], port_open, found.group(1).lower(), found.group(2))
    if not adapters:
        raise Unreadable(say("ibstat: no adapter was found"), code="no_adapters")
    return Reading(
        kind=KIND,
        facts=_facts(adapters, errors),
        warnings=tuple(_warnings(adapters, errors)),
        parser_version=VERSION,
    )


def _take_pair(adapter: _Adapter, port_open: bool, key: str, value: str) -> None:
    if port_open and key in _PORT_KEYS:
        setattr(adapter.ports[-1], _PORT_KEYS[key], value or None)
    elif not port_open:
        adapter.about[key] = value


def _facts(adapters: list[_Adapter], errors: list[tuple[int, str]]) -> dict[str, Any]:
    ports = [port for adapter in adapters for port in adapter.ports]
    inactive = dict.fromkeys(port.device for port in ports if not port.is_active)
    return {
        "adapters": len(adapters),
        "names": [adapter.name for adapter in adapters],
        "types": _counted(adapter.about.get("ca type") for adapter in adapters),
        "firmware": _counted(adapter.about.get("firmware version") for adapter in adapters),
        "states": _counted(port.state for port in ports),
        "physical_states": _counted(port.physical_state for port in ports),
        "rates_gbps": _counted((port.rate or "").partition(" ")[0] for port in ports),
        "link_layers": _counted(port.link_layer for port in ports),
        "not_active": list(inactive),
        "tool_error": errors[0][1] if errors else None,
        "ports": [port.facts() for port in ports],
        "devices": [
            {
                "name": adapter.name,
                "type": adapter.about.get("ca type") or None,
                "firmware": adapter.about.get("firmware version") or None,
                "hardware": adapter.about.get("hardware version") or None,
            }
            for adapter in adapters
        ],
    }


def _counted(values: Any) -> dict[str, int]:
    return dict(Counter(value for value in values if value))


def _warnings(adapters: list[_Adapter], errors: list[tuple[int, str]]) -> list[ReadingWarning]:
    found = [
        ReadingWarning(
            code="tool_error", message=say("the tool printed an error"), line=number, text=text[:200]
        )
        for number, text in errors[:20]
    ]
    names = Counter(adapter.name for adapter in adapters)
    for adapter in adapters[:500]:
        asked = adapter.about.get("number of ports", "")
        if asked.isdigit() and asked != str(len(adapter.ports)):
            message = say(
                "ports of %(name)s: %(asked)s by its own count, %(count)s here; is the text cut?",
                name=adapter.name,
                asked=asked[:9],
                count=len(adapter.ports),
            )
            found.append(ReadingWarning(code="ports_missing", message=message, line=adapter.line))
        if names[adapter.name] > 1:
            message = say("%(name)s is there %(names)s times", name=adapter.name, names=names[adapter.name])
            found.append(ReadingWarning(code="adapter_repeated", message=message, line=adapter.line))
    return found + port_warnings([port for adapter in adapters for port in adapter.ports])
