"""Messages of NCCL's and RCCL's debug log, and what is collected from them in bounded memory."""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._repeats import Repeats
from apps.evidence.engine.reading import ReadingWarning

MOST_DISTINCT = 1000
MOST_RANKS = 16_384
MOST_ERRORS = 500
_LONGEST_FRONT = 400
_LONGEST_TEXT = 2000

_LINE = re.compile(
    r"(?P<host>[\w.-]{1,120}):(?P<pid>\d{1,9}):(?P<tid>\d{1,9}) \[(?P<device>-?\d{1,4})\] "
    r"(?:(?P<source>[\w./-]+:\d{1,6}) |(?P<function>\w+:\d{1,6}) )?NCCL (?P<level>INFO|WARN|TRACE|ERROR|CALL|VERSION) ?"
)
# As libraries of other makers print it that descend from NCCL.
_BRACKETED = re.compile(
    r"\[(?P<host>[\w.-]{1,120})\]\[(?P<pid>\d{1,9}):(?P<tid>\d{1,9})\]\[(?P<device>-?\d{1,4})\]"
    r"(?:\[(?P<source>[\w./-]+:\d{1,6})\])? NCCL (?P<level>INFO|WARN|TRACE|ERROR) ?(?P<function>)"
)
_CLOCK = re.compile(r"\d{1,2}:\d\d:\d\d(?:[.,]\d{1,9})?")
_DATE = re.compile(r"\[?(\d{4}-\d\d-\d\d[T ]\d\d:\d\d:\d\d(?:[.,]\d+)?)\]? $")
VERSION_TEXT = re.compile(r"\b[NR]CCL version ?:? ?(\d\S*)")
_DRIVER = re.compile(r"cudaDriverVersion (\d{1,9})\b")
_NRANKS = re.compile(r"\bn[rR]anks (\d{1,7})\b")
_NNODES = re.compile(r"\bnNodes (\d{1,6})\b")
_NETWORK = re.compile(r"Using network (\S.{0,60})$")
_TRANSPORT = re.compile(r"Channel \d+(?:/\d+)? ?: .{0,80}? via (\S.{0,80})$")
_COMM = re.compile(r" comm 0x.*$")
_ENVIRONMENT = re.compile(r"\b([NR]CCL_\w{1,60}) set by environment to (.{0,200})$")
_NET_IB = re.compile(r"NET/IB ?: (.*)$")
_IB_DEVICE = re.compile(r"\[\d{1,3}\](\S+?:\d{1,3}(?:/\w+)?)")
_INIT = re.compile(
    r"(?:ncclCommInit\w* )?comm (?P<pointer>0x[0-9a-f]+) rank (?P<rank>\d{1,7}) n[rR]anks (?P<nranks>\d{1,7}) "
    r"\w+Dev (?P<device>\d{1,4})(?: nvmlDev (?P<nvml>\d{1,4}))? busId (?P<bus>[0-9a-f]{1,12})"
    r"(?: commId (?P<comm>0x[0-9a-f]+))?(?: localSize \d{1,12} used \d{1,15} bytes(?: on core \d{1,5})?)?"
    r" - (?P<phase>Init START|(?:Init|Abort|Destroy) COMPLETE)"
)
_TRACE = re.compile(r"^(\S+:\d{1,6}) -> (\d{1,4})\b")
_P2P_OFF = re.compile(r"P2P is disabled between connected GPUs (\d{1,4}) and (\d{1,4})")
_GDR = re.compile(r"GPU Direct RDMA (Enabled|Disabled) for (?:HCA \d+ '([^']{1,40})'|GPU \w+)")


@dataclass(frozen=True, slots=True)
class Message:
    """One line of the debug log, taken apart. at: time as printed, which WARN lines have since 2.26.

    identity: the line without the number that a launcher gave the process, by which one that stands there again is
    known: the same process of the same host is not two ranks.
    """

    host: str
    pid: int
    device: int
    level: str
    source: str | None
    text: str
    at: str | None
    identity: str


def read_message(line: str) -> Message | None:
    """The debug message in the line, whatever stands in front of it; None where there is none."""
    middle = line.find(" NCCL ")
    if middle < 0:
        return None
    begin, end = max(0, middle - _LONGEST_FRONT), middle + 20
    found = _LINE.search(line, begin, end) or _BRACKETED.search(line, begin, end)
    if found is None:
        return None
    date = _DATE.search(line, 0, found.start())
    return Message(
        host=found["host"],
        pid=int(found["pid"]),
        device=int(found["device"]),
        level=found["level"],
        source=found["source"] or found["function"],
        text=line[found.end() : found.end() + _LONGEST_TEXT].strip(),
        at=date.group(1) if date else None,
        identity=" ".join((*_CLOCK.findall(line, begin, found.start()), line[found.start() :])),
    )


def _remember(values: dict[Any, None], value: Any) -> None:
    if len(values) < MOST_DISTINCT:
        values[value] = None


@dataclass(slots=True)
class Findings:
    """What the log says so far. Distinct values keep the order of first appearance."""

    versions: dict[str, None] = field(default_factory=dict)
    drivers: dict[int, None] = field(default_factory=dict)
    nranks: dict[int, None] = field(default_factory=dict)
    nnodes: dict[int, None] = field(default_factory=dict)
    hosts: dict[str, None] = field(default_factory=dict)
    networks: dict[str, None] = field(default_factory=dict)
    transports: Counter[str] = field(default_factory=Counter)
    environment: dict[str, dict[str, None]] = field(default_factory=dict)
    ib_devices: dict[str, None] = field(default_factory=dict)
    ib_none: bool = False
    ranks: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    p2p_disabled: dict[tuple[int, int], None] = field(default_factory=dict)
    gpu_direct: dict[str, str] = field(default_factory=dict)
    errors: dict[tuple[Any, ...], dict[str, Any]] = field(default_factory=dict)
    warn_lines: int = 0
    messages: int = 0
    repeats: Repeats = field(default_factory=Repeats)

    def add(self, line: int, message: Message) -> None:
        self.messages += 1
        _remember(self.hosts, message.host)
        if message.level in ("WARN", "ERROR"):
            if message.at is None:
                self.repeats.note_alike(line, message.identity)
            elif self.repeats.is_repeated(line, message.identity):
                return
            self.warn_lines += 1
            self._add_error(line, message, message.source, message.text)
            return
        text = message.text
        if found := _TRANSPORT.search(text):
            via = _COMM.sub("", found.group(1)).strip()
            if self.repeats.is_repeated(line, message.identity):
                return
            if via in self.transports or len(self.transports) < MOST_DISTINCT:
                self.transports[via] += 1
        elif "version" in text and (found := VERSION_TEXT.search(text)):
            _remember(self.versions, found.group(1))
        elif found := _TRACE.match(text):
            self._add_error(line, message, found.group(1), f"returned {found.group(2)}")
        elif found := _ENVIRONMENT.search(text):
            values = self.environment.setdefault(found.group(1), {}) if self._room(found.group(1)) else {}
            _remember(values, found.group(2).strip().removesuffix("."))
        else:
            self._add_setup(line, message, text)

    def _room(self, name: str) -> bool:
        return name in self.environment or len(self.environment) < MOST_DISTINCT

    def _add_setup(self, line: int, message: Message, text: str) -> None:
        """Messages of initialisation: driver, ranks, network, devices."""
        if found := _INIT.search(text):
            self._add_rank(line, message, found)
        if found := _NRANKS.search(text):
            _remember(self.nranks, int(found.group(1)))
        if found := _NNODES.search(text):
            _remember(self.nnodes, int(found.group(1)))
        if found := _DRIVER.search(text):
            _remember(self.drivers, int(found.group(1)))
        elif found := _NETWORK.search(text):
            _remember(self.networks, found.group(1).strip())
        elif found := _NET_IB.search(text):
            self._add_ib(found.group(1))
        elif found := _P2P_OFF.search(text):
            _remember(self.p2p_disabled, (int(found.group(1)), int(found.group(2))))
        elif (found := _GDR.search(text)) and len(self.gpu_direct) < MOST_DISTINCT:
            self.gpu_direct[found.group(2) or "gpu"] = found.group(1).lower()

    def _add_ib(self, text: str) -> None:
        if text.startswith("No device found"):
            self.ib_none = True
        for device in _IB_DEVICE.findall(text):
            _remember(self.ib_devices, device)

    def _add_rank(self, line: int, message: Message, found: re.Match[str]) -> None:
        key = (found["pointer"], found["rank"], message.host, message.pid)
        if key not in self.ranks and len(self.ranks) >= MOST_RANKS:
            return
        entry = self.ranks.setdefault(
            key,
            {
                "rank": int(found["rank"]),
                "nranks": int(found["nranks"]),
                "host": message.host,
                "device": int(found["device"]),
                "bus_id": found["bus"],
                "comm_id": found["comm"],
                "complete": False,
                "aborted": False,
                "line": line,
            },
        )
        entry["complete"] |= found["phase"] in ("Init COMPLETE", "Destroy COMPLETE")
        entry["aborted"] |= found["phase"] == "Abort COMPLETE"

    def _add_error(self, line: int, message: Message, source: str | None, text: str) -> None:
        """The same message of several ranks is one entry that counts them."""
        key = (message.level, source, text)
        entry = self.errors.get(key)
        if entry is not None:
            entry["count"] += 1
        elif len(self.errors) < MOST_ERRORS:
            self.errors[key] = {
                "line": line,
                "count": 1,
                "level": message.level,
                "at": message.at,
                "host": message.host,
                "pid": message.pid,
                "device": message.device,
                "source": source,
                "text": text[:300],
            }

    def warnings(self) -> list[ReadingWarning]:
        """Contradictions between processes, and ranks that began to initialise and did not end."""
        found = []
        if len(self.versions) > 1:
            found.append(
                (
                    "several_versions",
                    say("several NCCL versions: %(versions)s", versions=", ".join(self.versions)),
                )
            )
        for name, values in self.environment.items():
            if len(values) > 1:
                found.append(
                    (
                        "environment_differs",
                        say("%(name)s has several values: %(values)s", name=name, values=", ".join(values)),
                    )
                )
        aborted = sum(entry["aborted"] for entry in self.ranks.values())
        if aborted:
            found.append(
                ("ranks_aborted", say("ranks that aborted their communicator: %(aborted)s", aborted=aborted))
            )
        started = [entry for entry in self.ranks.values() if not entry["complete"] and not entry["aborted"]]
        if started and len(started) < len(self.ranks):
            found.append(
                (
                    "ranks_not_initialised",
                    say("ranks that began to initialise and did not end: %(count)s", count=len(started)),
                )
            )
        said = [ReadingWarning(code=code, message=message[:500]) for code, message in found[:50]]
        return [*self.repeats.warnings(), *said]
