"""Lines of a kernel log: what stands in front of the message, and the shapes of Xid and SXid messages.

A message counts only where nothing but time, host and facility stands in front of it: inside quotes,
comments or sentences it is a quotation, not an event.
"""

from __future__ import annotations

import re
from functools import lru_cache
from typing import NamedTuple

from apps.evidence.engine.parsers._prefixes import RAY

_CLOCK = r"\d{2}:\d{2}:\d{2}"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_DAY = r"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun)"
_HOST = r"(?=[\w.-]*[\d.-])[\w.-]{1,80}"
_BEGINS = rf"\[|<|kern|NVRM|nvidia-|\d{{4}}-|{_MONTH} "
_CRI = r"(?:stdout|stderr) [FP] "  # of the files that a node keeps of its containers
_FRONT = re.compile(
    r"\s*(?:\[(?:[\w.-]{1,80}@)?\d+,\d+\]<\w+>:\s*|\[\d{1,6}\] (?=\[)|\d{1,6}: |> ?|"
    rf"{RAY.replace('?P<source>', '?:')}|"
    rf"\[pod/[\w./-]{{1,300}}\] ?|[\w.-]{{1,80}} {{1,40}}\| (?={_BEGINS})|"  # of kubectl and docker compose
    rf"(?P<tagged>{_HOST}): (?={_BEGINS}))?"
    rf"(?:\[?\d{{4}}-\d\d-\d\d[T ]{_CLOCK}\S{{0,16}}\s+"  # of a collector
    rf"(?:{_CRI}(?=\[|<\d|kern|\d{{4}}-|\d{{9}}|{_DAY} |{_MONTH} )|(?=\[?(?:{_DAY} |\d{{4}}-)|kern\s*:)))?"
    r"(?:<\d{1,3}>|\d{1,4},\d{1,20},\d{1,20},[^;\s]{1,40};)?(?:(?:kern|user|daemon|syslog)\s*:\s*\w+\s*:\s*)?"
    r"(?:"
    rf"\[(?P<ctime>{_DAY} {_MONTH} [ \d]\d {_CLOCK}(?:\.\d+)? \d{{4}})\]\s*|"
    rf"\[?(?:{_DAY} (?=\d{{4}}-))?(?P<iso>\d{{4}}-\d\d-\d\d[T ]{_CLOCK}(?:[.,]\d{{1,9}})?"
    rf"(?: ?(?:Z|UTC|[+-]\d\d:?\d\d))?)\]?\s+(?:{_CRI})?|"
    rf"(?P<syslog>(?:[^\W\d_]{{3,9}}\.?|\d{{1,2}}月) {{1,2}}\d{{1,2}} {_CLOCK}(?:\.\d+)?)\s+|"
    r"(?P<unix>\d{9,11}\.\d{1,9})\s+(?=\S+ kernel)"
    r")?"
    r"(?:(?P<host>[\w.-]{1,80})\s+kernel(?:\[\d+\])?:\s*|kernel(?:\[\d+\])?:\s*)?"
    r"(?:(?:Wa\(\d+\) |In\(\d+\) )?(?:vmkernel: )?cpu\d{1,4}:\d{1,10}\)\s*)?"  # of ESXi
    r"(?:\[\s*(?P<uptime>\d{1,12}\.\d{1,9})\](?:\[\s*[TC]\d+\])?\s*)?"
    r"(?:(?P<after>[\w.-]{1,80}) kernel:\s*)?"  # of short-monotonic: the host comes behind the time
)
# As dmesg prints it by itself, with the driver's message right behind: nearly every line of a burst.
_PLAIN_FRONT = re.compile(
    rf"(?:\[ {{0,11}}(?P<uptime>\d{{1,12}}\.\d{{1,9}})\]|"
    rf"\[(?P<ctime>{_DAY} {_MONTH} [ \d]\d {_CLOCK} \d{{4}})\]|"
    rf"(?P<iso>\d{{4}}-\d\d-\d\dT{_CLOCK}(?:[.,]\d{{1,9}})?(?:Z|[+-]\d\d:?\d\d)?)) (?=NVRM: |nvidia-)"
)
_LONGEST_REMEMBERED = 500
_STYLES = ("ctime", "iso", "syslog", "unix", "uptime")
_XID = re.compile(
    r"NVRM: Xid \((?:PCI:)?(?P<pci>[0-9A-Fa-f]{1,8}(?::[0-9A-Fa-f]{1,2}){1,2}(?:\.[0-9A-Fa-f])?)"
    r"(?P<partition>(?: GPU-C?I:\w+)*)\): (?P<code>\d{1,4})\b,? ?(?P<rest>.*)"
)
_SXID = re.compile(
    r"nvidia-nvswitch(?P<unit>\d{1,3}): SXid \(PCI:(?P<pci>[0-9A-Fa-f:.]{5,16})\): (?P<code>\d{1,6})\b,? ?(?P<rest>.*)"
)
_PROCESS = re.compile(r"pid='?(?P<pid>[^,']*)'?,(?: name=(?P<name>[^,]*),)? ?")
_NVLINK = re.compile(
    r"(?P<unit>[A-Z][\w/]*)\s+(?P<severity>Fatal|Non-?fatal)\s+XC\d+\s+i-?\d+\s+Link\s+(?P<link>-?\d{1,4})\b"
)
_NVLINK_OLD = re.compile(r"\bon links? (?P<link>\d{1,3})\b")  # Xid 74, before NVLink 5
_RECOVERY = re.compile(
    r"recovery action changed from 0x[0-9a-fA-F]+ \((?P<before>[^)]*)\) to 0x[0-9a-fA-F]+ \((?P<now>[^)]*)\)"
)
_SXID_FAULT = re.compile(
    r"(?P<severity>Fatal|Non-?fatal)\b(?:.{0,80}?\bLink (?P<link>\d{1,4})\b)?", re.IGNORECASE
)
_SXID_SEVERITY = re.compile(r"Severity (?P<severity>\d+) Engine instance (?P<engine>\d{1,5})")
_UUID = re.compile(r"NVRM: GPU at (?:PCI:)?([0-9A-Fa-f:.]{5,16}): (GPU-[0-9a-f-]{8,40})")
_BOARD_SERIAL = re.compile(r"NVRM: GPU Board Serial Number: (\S{1,32})")
_GPU_SERIAL = re.compile(r"NVRM: GPU ([0-9A-Fa-f:.]{5,16}): GPU serial number is (\w{1,32})")


class Front(NamedTuple):
    """What stands in front of a message. style: one of _STYLES, None without a time. is_plain: a time, as of dmesg."""

    style: str | None
    at: str | None
    host: str | None
    end: int
    is_plain: bool = False

    @property
    def second(self) -> str | None:
        """The time without its fraction (and without the zone behind it)."""
        return self.at.partition("." if "." in self.at else ",")[0] if self.at else None


class Xid(NamedTuple):
    """One Xid line. pci as printed; pid and process None where unknown; the rest only for codes that have it."""

    code: int
    pci: str
    partition: str | None
    pid: int | None
    process: str | None
    text: str
    unit: str | None = None
    severity: str | None = None
    link: int | None = None
    recovery_before: str | None = None
    recovery_action: str | None = None


class SXid(NamedTuple):
    """One line of an NVSwitch error, in any of its three shapes."""

    code: int
    pci: str
    switch: int
    text: str
    severity: str | None = None
    link: int | None = None
    severity_level: int | None = None
    engine: int | None = None


def front(text: str) -> Front:
    """Takes apart what stands in front of the message."""
    if plain := _PLAIN_FRONT.match(text):
        style = plain.lastgroup
        return Front(style, plain[style or 0], None, plain.end(), True)
    found = _FRONT.match(text)
    assert found is not None  # every part is optional
    tagged, *times, host, uptime, after = found.groups()
    host = host or after
    for style, at in zip(_STYLES, (*times, uptime), strict=True):
        if at:
            return Front(style, at, host or tagged, found.end())
    return Front(None, None, host or tagged, found.end())


def read_xid(text: str, start: int) -> Xid | None:
    """The Xid whose message begins at `start`; None where it is no Xid, or damaged."""
    message = text[start:]
    # Bursts say the same again and again. What is long is not remembered, so that memory stays small.
    return _remembered(message) if len(message) <= _LONGEST_REMEMBERED else _xid_of(message)


def _xid_of(text: str) -> Xid | None:
    found = _XID.match(text)
    if found is None:
        return None
    rest = found["rest"]
    process = _PROCESS.match(rest)
    message = rest[process.end() :] if process else rest
    code = int(found["code"])
    nvlink = _NVLINK.match(message) if 144 <= code <= 150 else None
    linked = nvlink or (_NVLINK_OLD.search(message) if code == 74 else None)
    recovery = _RECOVERY.search(message) if code == 154 else None
    return Xid(
        code=code,
        pci=found["pci"].lower(),
        partition=found["partition"].strip() or None,
        pid=_process_id(process["pid"]) if process else None,
        process=_process_name(process["name"]) if process else None,
        text=message.strip()[:300],
        unit=nvlink["unit"] if nvlink else None,
        severity=nvlink["severity"] if nvlink else None,
        link=int(linked["link"]) if linked else None,
        recovery_before=recovery["before"] if recovery else None,
        recovery_action=recovery["now"] if recovery else None,
    )


_remembered = lru_cache(maxsize=4096)(_xid_of)


def _process_id(text: str) -> int | None:
    return int(text) if text.isascii() and text.isdigit() and len(text) <= 10 else None


def _process_name(name: str | None) -> str | None:
    return None if name is None or name in ("", "<unknown>") else name[:80]


def read_sxid(text: str, start: int) -> SXid | None:
    """The SXid whose message begins at `start`; None where it is none, or damaged."""
    found = _SXID.match(text, start)
    if found is None:
        return None
    rest = found["rest"]
    fault = _SXID_FAULT.match(rest)
    severity = _SXID_SEVERITY.match(rest)
    return SXid(
        code=int(found["code"]),
        pci=found["pci"].lower(),
        switch=int(found["unit"]),
        text=rest.strip()[:300],
        severity=fault["severity"] if fault else None,
        link=int(fault["link"]) if fault and fault["link"] else None,
        severity_level=int(severity["severity"][:9]) if severity else None,
        engine=int(severity["engine"]) if severity else None,
    )


def gpu_identity(text: str, start: int) -> tuple[str | None, str | None, str | None] | None:
    """(PCI address as printed, UUID, serial number) of a line that tells one of them; None for other lines."""
    if found := _UUID.match(text, start):
        return found.group(1), found.group(2), None
    if found := _BOARD_SERIAL.match(text, start):
        return None, None, found.group(1).rstrip(".")
    if found := _GPU_SERIAL.match(text, start):
        return found.group(1), None, found.group(2)
    return None
