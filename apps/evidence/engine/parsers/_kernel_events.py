"""Xid and SXid lines made into events: bursts of one code on one GPU within a second are one event."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._kernel_lines import Front, SXid, Xid, gpu_identity
from apps.evidence.engine.pci import pci_address
from apps.evidence.engine.reading import ReadingWarning

MOST_EVENTS = 10_000
MOST_ADDRESSES = 4096
_MOST_DETAILS = 8
_MOST_FAULTS = 10_000


@dataclass(slots=True)
class Events:
    """What a log holds so far; its size is bounded, only counts go on."""

    xid_counts: Counter[str] = field(default_factory=Counter)
    xid_by_pci: dict[str, Counter[str]] = field(default_factory=dict)
    sxid_lines: Counter[str] = field(default_factory=Counter)
    sxid_link_faults: list[dict[str, Any]] = field(default_factory=list)
    xids: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    sxids: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    gpus: dict[str, dict[str, str | None]] = field(default_factory=dict)
    last_address: str | None = None
    left_out: int = 0

    def add_xid(self, line: int, front: Front, xid: Xid) -> None:
        code = str(xid.code)
        self.xid_counts[code] += 1
        by_code = self.xid_by_pci.get(xid.pci)
        if by_code is not None:
            by_code[code] += 1
        elif len(self.xid_by_pci) < MOST_ADDRESSES:
            self.xid_by_pci[xid.pci] = Counter({code: 1})
        when = front.second or xid.text
        particulars = (xid.unit, xid.severity, xid.link, xid.recovery_action, xid.partition)
        key = (xid.code, xid.pci, when, front.host, *particulars)
        event = self.xids.get(key)
        if event is not None:
            _again(event, line, xid.text)
            if xid.pid is not None and xid.pid not in event["pids"] and len(event["pids"]) < _MOST_DETAILS:
                event["pids"].append(xid.pid)
        elif len(self.xids) < MOST_EVENTS:
            self.xids[key] = _new_xid(line, front, xid)
        else:
            self.left_out += 1

    def add_sxid(self, line: int, front: Front, sxid: SXid) -> None:
        """The three shapes (fault with link, severity with engine, data) of one second are one event."""
        self.sxid_lines[str(sxid.code)] += 1
        if sxid.link is not None and len(self.sxid_link_faults) < _MOST_FAULTS:
            self.sxid_link_faults.append(
                {"pci": sxid.pci, "sxid": sxid.code, "class": sxid.severity, "link": sxid.link}
            )
        key = (sxid.code, sxid.pci, front.second or sxid.text, front.host)
        event = self.sxids.get(key)
        if event is not None:
            _again(event, line, sxid.text)
        elif len(self.sxids) < MOST_EVENTS:
            event = self.sxids[key] = _new_sxid(line, front, sxid)
        else:
            self.left_out += 1
            return
        event["severity"] = event["severity"] or sxid.severity
        if event["severity_level"] is None:
            event["severity_level"] = sxid.severity_level
        for name, value in (("links", sxid.link), ("engines", sxid.engine)):
            if value is not None and value not in event[name]:
                event[name].append(value)

    def add_identity(self, text: str, start: int) -> None:
        """UUID and serial number come on lines of their own, mostly before the Xid that they belong to."""
        said = gpu_identity(text, start)
        if said is None:
            return
        printed, uuid, serial = said
        address = pci_address(printed) if printed else self.last_address
        if address is None or (address not in self.gpus and len(self.gpus) >= MOST_ADDRESSES):
            return
        self.last_address = address
        known = self.gpus.setdefault(address, {"uuid": None, "serial": None})
        known["uuid"] = uuid or known["uuid"]
        known["serial"] = serial or known["serial"]

    def xid_events(self) -> list[dict[str, Any]]:
        """Events in file order, joined to the UUID and serial number of their GPU."""
        nothing: dict[str, str | None] = {"uuid": None, "serial": None}
        return [
            {**event, "gpu_uuid": gpu["uuid"], "gpu_serial": gpu["serial"]}
            for event in self.xids.values()
            for gpu in [self.gpus.get(event["pci"], nothing)]
        ]

    def warnings(self) -> list[ReadingWarning]:
        if not self.left_out:
            return []
        message = say(
            "more than %(most_events)s events; lines that are only counted: %(left_out)s",
            left_out=self.left_out,
            most_events=MOST_EVENTS,
        )
        return [ReadingWarning(code="events_left_out", message=message)]


def _again(event: dict[str, Any], line: int, text: str) -> None:
    event["count"] += 1
    event["last_line"] = line
    if len(event["texts"]) < _MOST_DETAILS and text not in event["texts"]:
        event["texts"].append(text)


def _new_xid(line: int, front: Front, xid: Xid) -> dict[str, Any]:
    return {
        "line": line,
        "last_line": line,
        "count": 1,
        "at": front.at,
        "host": front.host,
        "code": xid.code,
        "pci": pci_address(xid.pci) or xid.pci,
        "partition": xid.partition,
        "pid": xid.pid,
        "pids": [] if xid.pid is None else [xid.pid],
        "process": xid.process,
        "text": xid.text,
        "texts": [xid.text],
        "unit": xid.unit,
        "severity": xid.severity,
        "link": xid.link,
        "recovery_action": xid.recovery_action,
        "recovery_action_before": xid.recovery_before,
    }


def _new_sxid(line: int, front: Front, sxid: SXid) -> dict[str, Any]:
    return {
        "line": line,
        "last_line": line,
        "count": 1,
        "at": front.at,
        "host": front.host,
        "code": sxid.code,
        "pci": pci_address(sxid.pci) or sxid.pci,
        "switch": sxid.switch,
        "severity": None,
        "severity_level": None,
        "links": [],
        "engines": [],
        "text": sxid.text,
        "texts": [sxid.text],
    }
