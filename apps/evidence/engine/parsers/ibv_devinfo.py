"""Output of ibv_devinfo, also with -v: adapters with firmware and board, and their ports."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import plain_lines
from apps.evidence.engine.parsers._ports import MOST_PORTS, Port, port_warnings, without_number
from apps.evidence.engine.parsers._prefixes import unprefixed
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable
from apps.evidence.engine.source import Source

KIND = "ibv_devinfo"
VERSION = 1

_TITLE = re.compile(r"^.{0,60}\bhca_id:\s*\S", re.MULTILINE)
_PAIR = re.compile(r"^\s*([a-z_]{2,40}):\s*(.*?)\s*$")
_PORT_KEYS = {"state": "state", "phys_state": "physical_state", "link_layer": "link_layer", "port_lid": "lid"}
_WIDTH = re.compile(r"(\d{1,2})X\b")
_SPEED = re.compile(r"(\d{1,4}(?:\.\d{1,3})?) Gbps\b")


@dataclass(slots=True)
class _Device:
    name: str
    line: int
    about: dict[str, str] = field(default_factory=dict)
    ports: list[Port] = field(default_factory=list)
    links: list[dict[str, str]] = field(default_factory=list)


def recognise(sample: str) -> int:
    return 90 if _TITLE.search(sample) and ("fw_ver:" in sample or "port:" in sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no adapter is there."""
    devices: list[_Device] = []
    for line in unprefixed(plain_lines(source)):
        found = _PAIR.match(line.text[:500])
        if found is None:
            continue
        key, value = found.groups()
        if key == "hca_id" and len(devices) < MOST_PORTS:
            devices.append(_Device(value, line.number))
        elif devices:
            _take_pair(devices[-1], line.number, key, value)
    if not devices:
        raise Unreadable(say("ibv_devinfo: no adapter was found"), code="no_adapters")
    ports = [port for device in devices for port in device.ports]
    return Reading(
        kind=KIND,
        facts={"devices": [_facts(device) for device in devices], "ports": [port.facts() for port in ports]},
        warnings=(*_missing(devices), *port_warnings(ports)),
        parser_version=VERSION,
    )


def _take_pair(device: _Device, line: int, key: str, value: str) -> None:
    if key == "port" and len(device.ports) < MOST_PORTS:
        device.ports.append(Port(device.name, value, line))
        device.links.append({})
    elif not device.ports:
        device.about[key] = value
    elif key in _PORT_KEYS:
        setattr(device.ports[-1], _PORT_KEYS[key], value or None)
    elif key in ("active_width", "active_speed"):
        device.links[-1][key] = value
        device.ports[-1].rate = _rate(device.links[-1])


def _rate(link: dict[str, str]) -> str | None:
    """Lanes times speed of a lane; only -v prints them."""
    width = _WIDTH.match(link.get("active_width", ""))
    speed = _SPEED.match(link.get("active_speed", ""))
    return f"{int(width.group(1)) * float(speed.group(1)):g} Gbps" if width and speed else None


def _facts(device: _Device) -> dict[str, Any]:
    return {
        "name": device.name,
        "fw": device.about.get("fw_ver") or None,
        "board_id": device.about.get("board_id") or None,
        "ports": {port.port: without_number(port.state) for port in device.ports},
    }


def _missing(devices: list[_Device]) -> list[ReadingWarning]:
    found = []
    for device in devices[:500]:
        asked = device.about.get("phys_port_cnt", "")
        if asked.isdigit() and asked != str(len(device.ports)):
            message = say(
                "ports of %(name)s: %(asked)s by its own count, %(count)s here; is the text cut?",
                name=device.name,
                asked=asked[:9],
                count=len(device.ports),
            )
        elif not asked and not device.ports:
            message = say("no port of %(name)s is there: the text is cut?", name=device.name)
        else:
            continue
        found.append(ReadingWarning(code="ports_missing", message=message, line=device.line))
    return found
