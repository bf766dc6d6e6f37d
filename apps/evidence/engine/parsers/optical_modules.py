"""Optical power of transceivers: `mlxlink -d DEVICE -m` and `ethtool -m DEVICE`, one or several in one text.

Neither prints which device it asked: that stands in a command line above, or in `==> DEVICE <==`. Copper cables have
no optics; mlxlink prints N/A for them, or zeros with the limits 0..0.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "optical_modules"
VERSION = 3

DARK_DBM = -40.0  # what modules state for no light at all
_MOST_MODULES = 1000
_LONGEST = 400
_HEAD = re.compile(r"==> (?P<device>[\w./:-]{1,80}) <==")
_COMMAND = re.compile(
    r"(?:.{0,80}?[#$+] ?)?(?:sudo )?(?:ethtool (?:-m|--module-info) |mlxlink (?:\S+ )*?(?:-d|--device)[ =]?)"
    r"(?P<device>[\w./:-]{1,80})(?: .*)?"
)
_ROW = re.compile(r"(?P<key>[A-Z][\w /().,\[\]-]{1,70}?) *: +(?P<value>\S.{0,200})")
_NUMBER = r"[-+]?\d{1,4}(?:\.\d{1,6})?"
_POWER = rf"(?:{_NUMBER}|-inf|N/A|_)"
_LANES = re.compile(
    rf"(?P<lanes>{_POWER}(?: ?, ?{_POWER})*)(?: *\[(?P<low>{_NUMBER})\.\.(?P<high>{_NUMBER})\])?"
)
_DBM = re.compile(rf"(?:.* )?(?P<dbm>{_NUMBER}|-inf) dBm", re.IGNORECASE)
_LANE = re.compile(r"(?P<name>.*?) *\((?:Channel|Chan) (?P<lane>\d{1,2})\)")
_MLXLINK = {"Rx Power Current [dBm]": "rx", "Tx Power Current [dBm]": "tx"}
_ETHTOOL = {
    "Rcvr signal avg optical power": "rx",
    "Receiver signal OMA": "rx",
    "Receiver signal average optical power": "rx",
    "Rx power": "rx",
    "Transmit avg optical power": "tx",
    "Laser output power": "tx",
    "Tx power": "tx",
}
_LIMITS = {"Laser rx power low alarm threshold": "rx", "Laser tx power low alarm threshold": "tx"}
_ALARM = re.compile(r"(?P<name>Laser [rt]x power (?:low|high) alarm) *(?:\(Chan \d{1,2}\))?")
_NAMES = {
    "Vendor Name": "vendor",
    "Vendor name": "vendor",
    "Vendor Part Number": "part_number",
    "Vendor PN": "part_number",
    "Vendor Serial Number": "serial",
    "Vendor SN": "serial",
}
_TITLE = re.compile(
    r"^[^\n]{0,80}?(?:Rx Power Current \[dBm\]"
    r"|(?:Rcvr signal avg optical power|Receiver signal (?:average optical power|OMA)) ?(?:\(Channel \d+\))?) *:",
    re.MULTILINE,
)


@dataclass(slots=True)
class Module:
    """One transceiver. lanes: direction to the power of each lane in dBm, None where it is not said; low: to the least
    that is right; at: its first line.
    """

    device: str = ""
    at: Line | None = None
    names: dict[str, str] = field(default_factory=dict)
    lanes: dict[str, list[float | None]] = field(default_factory=lambda: {"rx": [], "tx": []})
    low: dict[str, float] = field(default_factory=dict)
    alarms: list[str] = field(default_factory=list)
    keys: set[str] = field(default_factory=set)

    def has_optics(self) -> bool:
        return any(dbm is not None for lanes in self.lanes.values() for dbm in lanes)

    def facts(self) -> dict[str, Any]:
        return {
            "device": self.device or None,
            **{name: self.names.get(name) for name in ("vendor", "part_number", "serial")},
            **{f"{way}_dbm": self._powers(way) for way in ("rx", "tx")},
            **{f"{way}_low_dbm": self.low.get(way) for way in ("rx", "tx")},
            "alarms": self.alarms,
        }

    def _powers(self, way: str) -> list[float]:
        """Of the lanes that are in use, where they are said. One that sends nothing is not, unless none does."""
        sent = self.lanes["tx"]
        dark = {lane for lane, dbm in enumerate(sent) if dbm is not None and dbm <= DARK_DBM}
        unused = dark if len(dark) < len(sent) else set()
        return [dbm for lane, dbm in enumerate(self.lanes[way]) if dbm is not None and lane not in unused]


def recognise(sample: str) -> int:
    return 88 if _TITLE.search(sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no transceiver with optics is there."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    modules = _without_repeated([module for module in _modules(lines, notes) if module.has_optics()], notes)
    if not modules:
        raise Unreadable(say("no transceiver states its optical power"), code="no_optics")
    return Reading(
        kind=KIND,
        facts={"modules": modules},
        warnings=notes.all(),
        parser_version=VERSION,
    )


def _is_output(lines: list[Line]) -> bool:
    return any(_TITLE.search(line.text[:_LONGEST]) for line in lines)


def _without_repeated(modules: list[Module], notes: Notes) -> list[dict[str, Any]]:
    """What they say; one that is listed again is warned of, and left out where it says the same."""
    kept: list[dict[str, Any]] = []
    for module in modules:
        facts = module.facts()
        name = facts["device"] or facts["serial"]
        if name and any(name in (one["device"], one["serial"]) for one in kept):
            notes.add(
                "module_repeated", say("the transceiver %(name)s is listed again", name=name), at=module.at
            )
            if facts in kept:
                continue
        kept.append(facts)
        _note_lanes(module, notes)
    return kept


def _note_lanes(module: Module, notes: Notes) -> None:
    """A transceiver sends over as many lanes as it receives over, where it states both."""
    rx, tx = module.lanes["rx"], module.lanes["tx"]
    if len(rx) != len(tx) and [None] not in (rx, tx):
        message = say(
            "powers of %(rx)s lanes received and of %(tx)s sent: the text may be cut", rx=len(rx), tx=len(tx)
        )
        notes.add("lanes_differ", message, at=module.at)


def _modules(lines: Iterable[Line], notes: Notes) -> list[Module]:
    modules = [Module()]
    for line in lines:
        text = line.text.strip()[:_LONGEST]
        if named := _HEAD.fullmatch(text) or _COMMAND.fullmatch(text):
            modules.append(Module(device=named["device"], at=line))
        elif row := _ROW.fullmatch(text):
            if row["key"] in modules[-1].keys and (row["key"] in _MLXLINK or row["key"] == "Identifier"):
                modules.append(Module(at=line))
            modules[-1].keys.add(row["key"])
            _take(modules[-1], row["key"], row["value"], line, notes)
        if len(modules) > _MOST_MODULES + 1:  # the first one is of what stands above any device
            message = say("transceivers beyond the first %(kept)s are left out", kept=_MOST_MODULES)
            notes.add("modules_left_out", message, at=line)
            return modules[:-1]
    return modules


def _take(module: Module, key: str, value: str, line: Line, notes: Notes) -> None:
    lane = _LANE.fullmatch(key)
    plain = lane["name"].strip() if lane else key
    if name := _NAMES.get(key):
        module.names[name] = value
    elif way := _MLXLINK.get(key):
        _take_lanes(module, way, value, line, notes)
    elif way := _ETHTOOL.get(plain):
        module.lanes[way].append(_dbm(value, line, notes))
    elif way := _LIMITS.get(key):
        if (limit := _dbm(value, line, notes)) is not None:
            module.low[way] = limit
    elif (alarm := _ALARM.fullmatch(key)) and value.casefold() == "on" and alarm["name"] not in module.alarms:
        module.alarms.append(alarm["name"])


def _take_lanes(module: Module, way: str, value: str, line: Line, notes: Notes) -> None:
    """`1.8,1.9,2.2,1.9 [-10.41..6]` of mlxlink; nothing for N/A and for the zeros of a copper cable."""
    found = _LANES.fullmatch(value)
    if found is None:
        notes.add("power_not_understood", say("this is no optical power"), at=line)
        module.lanes[way].append(None)
        return
    low, high = found["low"], found["high"]
    if low is not None and high is not None and float(low) == float(high) == 0:
        return
    parts = [part.strip() for part in found["lanes"].split(",")]
    lanes = [None if part in ("N/A", "_") else max(float(part), DARK_DBM) for part in parts]
    module.lanes[way] += lanes
    if low is not None and lanes.count(None) < len(lanes):
        module.low[way] = float(low)


def _dbm(value: str, line: Line, notes: Notes) -> float | None:
    """`0.9522 mW / -0.21 dBm` of ethtool, where no light is -inf; None where it is not understood."""
    found = _DBM.fullmatch(value)
    if found is None:
        notes.add("power_not_understood", say("this is no optical power"), at=line)
        return None
    return max(float(found["dbm"]), DARK_DBM)
