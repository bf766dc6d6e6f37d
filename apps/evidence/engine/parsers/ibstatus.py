"""Output of ibstatus: one block for each port."""

from __future__ import annotations

import re
from collections import Counter

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import plain_lines
from apps.evidence.engine.parsers._ports import MOST_PORTS, Port, port_warnings, without_number
from apps.evidence.engine.parsers._prefixes import unprefixed
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "ibstatus"
VERSION = 1

_TITLE = re.compile(r"\bInfiniband device '([^'\n]{1,80})' port (\d{1,3}) status:", re.IGNORECASE)
_PAIR = re.compile(r"^\s*(state|phys state|rate|link_layer|base lid):\s*(.*?)\s*$")
_KEYS = {
    "state": "state",
    "phys state": "physical_state",
    "rate": "rate",
    "link_layer": "link_layer",
    "base lid": "lid",
}


def recognise(sample: str) -> int:
    return 90 if _TITLE.search(sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no port is there."""
    ports: list[Port] = []
    for line in unprefixed(plain_lines(source)):
        text = line.text[:500]
        if (found := _TITLE.search(text)) and len(ports) < MOST_PORTS:
            ports.append(Port(found.group(1), found.group(2), line.number))
        elif ports and (found := _PAIR.match(text)):
            setattr(ports[-1], _KEYS[found.group(1)], found.group(2) or None)
    if not ports:
        raise Unreadable(say("ibstatus: no port was found"), code="no_ports")
    facts = {
        "devices": len({port.device for port in ports}),
        "states": _counted([without_number(port.state) for port in ports]),
        "phys": _counted([without_number(port.physical_state) for port in ports]),
        "rates": _counted([port.rate for port in ports]),
        "link_layers": _counted([port.link_layer for port in ports]),
        "not_active": list(dict.fromkeys(port.device for port in ports if not port.is_active)),
        "ports": [port.facts() for port in ports],
    }
    return Reading(kind=KIND, facts=facts, warnings=tuple(port_warnings(ports)), parser_version=VERSION)


def _counted(values: list[str | None]) -> dict[str, int]:
    return dict(Counter(value for value in values if value))
