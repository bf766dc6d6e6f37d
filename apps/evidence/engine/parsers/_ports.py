"""Ports of InfiniBand and RoCE adapters, as ibstat, ibstatus and ibv_devinfo tell them in their own words."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.reading import ReadingWarning

MOST_PORTS = 4096
_NUMBERED = re.compile(r"^\d{1,2}: *")
_CODE = re.compile(r" *\(\d{1,3}\)$")
_RATE = re.compile(r"(\d{1,6}(?:\.\d{1,3})?)(?: ?(?:Gb/sec|Gbps|Gb/s))?(?: |$)")


@dataclass(slots=True)
class Port:
    """One port. state and physical_state as printed; line: where it begins; None: not said."""

    device: str
    port: str
    line: int
    state: str | None = None
    physical_state: str | None = None
    rate: str | None = None
    link_layer: str | None = None
    lid: str | None = None

    @property
    def is_active(self) -> bool:
        return plain_state(self.state) == "active"

    @property
    def rate_gbps(self) -> float | None:
        """Rate in 10^9 bits per second. A port that is down prints a rate that means nothing: None."""
        found = _RATE.match(self.rate or "")
        return float(found.group(1)) if found and self.is_active else None

    def facts(self) -> dict[str, Any]:
        return {
            "device": self.device,
            "port": self.port,
            "state": plain_state(self.state),
            "physical_state": without_number(self.physical_state),
            "rate_gbps": self.rate_gbps,
            "rate_printed": self.rate,
            "link_layer": self.link_layer,
            "lid": self.lid,
            "line": self.line,
        }


def without_number(text: str | None) -> str | None:
    """`4: ACTIVE` and `PORT_ACTIVE (4)` without their number."""
    return _CODE.sub("", _NUMBERED.sub("", text)) or None if text else None


def plain_state(text: str | None) -> str | None:
    """active, down, initializing, armed: one spelling for the three tools; None where it is not said."""
    word = (without_number(text) or "").upper().removeprefix("PORT_")
    return {"": None, "INIT": "initializing", "INITIALIZE": "initializing"}.get(word, word.lower())


def port_warnings(ports: Sequence[Port]) -> list[ReadingWarning]:
    """Ports that are not active, that are there twice, or of which something is missing."""
    found = []
    seen: set[tuple[str, str]] = set()
    for port in ports:
        name = f"{port.device} port {port.port}"
        if (port.device, port.port) in seen:
            found.append(_warning("port_repeated", say("%(name)s is there twice", name=name), port))
        seen.add((port.device, port.port))
        if port.state is None:
            found.append(
                _warning("port_state_missing", say("the state of %(name)s is not there", name=name), port)
            )
        elif port.link_layer is None:
            found.append(
                _warning(
                    "port_incomplete", say("the link layer of %(name)s is not there: cut?", name=name), port
                )
            )
        if port.state is not None and not port.is_active:
            physical = without_number(port.physical_state)
            state = plain_state(port.state)
            text = f"{state}, {physical}" if physical else str(state)
            found.append(
                _warning(
                    "port_not_active",
                    say("%(name)s is not active: %(text)s", name=name, text=text)[:300],
                    port,
                )
            )
    return found[:500]


def _warning(code: str, message: str, port: Port) -> ReadingWarning:
    return ReadingWarning(code=code, message=message, line=port.line)
