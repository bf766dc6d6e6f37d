"""Faults from Xid and SXid events: what they mean, how grave they are, and what is done first."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from apps.catalogue.engine.fault_codes import SxidCode, XidCode, link_decodes, sxid_codes, xid_codes
from apps.core.texts import joined, say
from apps.evidence.engine.reading import Reading
from apps.health.engine.actions import ActionClass, action_of_recovery, class_of
from apps.health.engine.log_times import seconds_of

RECOVERY_XID = 154


class FaultKind(StrEnum):
    """Who reports it: a GPU by its driver, or an NVSwitch."""

    XID = "xid"
    SXID = "sxid"


KIND_NAMES: Mapping[str, str] = {FaultKind.XID: "Xid", FaultKind.SXID: "SXid"}  # as logs write them


class DecidedBy(StrEnum):
    """What the action rests on: our table, the words of the driver (Xid 154), or the severity in the message."""

    TABLE = "table"
    DRIVER = "driver"
    MESSAGE = "message"


@dataclass(frozen=True, slots=True, kw_only=True)
class Fault:
    """One event, folded over a burst of the same code on the same device.

    severity: info, warning or critical. cordon: new work should stay away. is_follower: it comes after
    another fault that is the cause. at_s: seconds on the clock of its log, only good for differences;
    None without a time. link: NVLink number. line and last_line: 1-based. count: lines folded.
    """

    kind: FaultKind
    code: int
    title: str
    meaning: str
    severity: str
    action: str
    action_class: ActionClass
    cordon: bool
    decided_by: DecidedBy
    is_known: bool
    is_follower: bool
    device: str
    host: str
    link: int | None
    at: str
    at_s: float | None
    line: int
    last_line: int
    count: int
    text: str
    note: str = ""


_FOLLOWERS = frozenset({43, 45, 137, RECOVERY_XID})
_SWITCH_SEVERITY = {"non_fatal": "info", "potentially_fatal": "critical", "always_fatal": "critical"}
_SWITCH_ACTION = {"non_fatal": "none", "potentially_fatal": "reset_gpu", "always_fatal": "reset_fabric"}


def faults_in(reading: Reading) -> tuple[Fault, ...]:
    """The faults of a kernel log, in the order of its lines; empty for other kinds."""
    if reading.kind != "kernel_log":
        return ()
    faults = [fault_of_xid(event) for event in reading.facts.get("events") or ()]
    faults += [fault_of_sxid(event) for event in reading.facts.get("sxid_events") or ()]
    return tuple(sorted(faults, key=lambda fault: (fault.line, fault.code)))


def fault_of_xid(event: Mapping[str, Any]) -> Fault:
    """One Xid event of a kernel log (keys as its reading gives them) as a fault."""
    code = int(event["code"])
    known = xid_codes().get(code)
    action, severity, decided_by = _judge_xid(event, known)
    return Fault(
        kind=FaultKind.XID,
        title=known.title if known else f"Xid {code}",
        meaning=known.meaning
        if known
        else say("This code is not described; keep the log and ask the vendor."),
        severity=severity,
        action=action,
        action_class=class_of(action),
        cordon=severity == "critical"
        and (known is None or known.cordon or decided_by is not DecidedBy.TABLE),
        decided_by=decided_by,
        is_known=known is not None,
        is_follower=code in _FOLLOWERS,
        note=known.note if known else "",
        **_common(event, code),
    )


def _judge_xid(event: Mapping[str, Any], known: XidCode | None) -> tuple[str, str, DecidedBy]:
    """Action, severity, and what they rest on."""
    recovery = event.get("recovery_action")
    asked = action_of_recovery(recovery) if recovery else ""
    if asked:
        return asked, "info" if asked == "none" else "critical", DecidedBy.DRIVER
    printed = event.get("severity")
    if printed:
        return _judge_link(event, printed)
    if known is None:
        return "unknown", "warning", DecidedBy.TABLE
    return known.action, known.severity, DecidedBy.TABLE


def _judge_link(event: Mapping[str, Any], printed: str) -> tuple[str, str, DecidedBy]:
    """The NVLink 5 family says itself how grave it is; a unit that is not listed is taken at its word."""
    severity = printed.casefold().replace("-", "")
    found = link_decodes().get((int(event["code"]), str(event.get("unit") or ""), severity))
    is_mild = severity == "nonfatal"
    action = found.action if found else "none" if is_mild else "reset_gpu"
    if action == "none":
        return action, "info" if is_mild else "warning", DecidedBy.MESSAGE
    return action, "warning" if is_mild else "critical", DecidedBy.MESSAGE


def fault_of_sxid(event: Mapping[str, Any]) -> Fault:
    """One SXid event of a kernel log as a fault; an unlisted code is as grave as its line says."""
    code = int(event["code"])
    known = sxid_codes().get(code)
    group = known.severity if known else _group_of(event)
    return Fault(
        kind=FaultKind.SXID,
        title=known.name if known else f"SXid {code}",
        meaning=switch_meaning(known, group),
        severity=_SWITCH_SEVERITY.get(group, "warning"),
        action=_SWITCH_ACTION.get(group, "unknown"),
        action_class=class_of(_SWITCH_ACTION.get(group, "unknown")),
        cordon=_SWITCH_SEVERITY.get(group) == "critical",
        decided_by=DecidedBy.TABLE if known else DecidedBy.MESSAGE,
        is_known=known is not None,
        is_follower=False,
        **_common(event, code),
    )


def _group_of(event: Mapping[str, Any]) -> str:
    """Fatal in the line alone does not say whether the whole fabric is lost; it may be."""
    printed = str(event.get("severity") or "").casefold().replace("-", "")
    return {"fatal": "potentially_fatal", "nonfatal": "non_fatal"}.get(printed, "")


def switch_meaning(known: SxidCode | None, group: str = "") -> str:
    """What an SXid means, by the group that the table has it in, else by the one that its line says."""
    group = known.severity if known else group
    meanings = {
        "non_fatal": say("A corrected or harmless event of the NVSwitch; record and count it."),
        "potentially_fatal": say(
            "The GPU on that port, or every partition across it, may be lost (Xid 74 shows there)."
        ),
        "always_fatal": say("The fabric must be reset: all GPUs and switches of the host."),
    }
    meaning = meanings.get(group, say("Keep the log and ask the vendor."))
    return meaning if known else joined(" ", [say("This code is not listed."), meaning])


def _common(event: Mapping[str, Any], code: int) -> dict[str, Any]:
    at = str(event.get("at") or "")
    links = event.get("links") or ()
    link = event.get("link")
    return {
        "code": code,
        "device": str(event.get("pci") or ""),
        "host": str(event.get("host") or ""),
        "link": link if link is not None else (links[0] if links else None),
        "at": at,
        "at_s": seconds_of(at),
        "line": int(event["line"]),
        "last_line": int(event.get("last_line") or event["line"]),
        "count": int(event.get("count") or 1),
        "text": str(event.get("text") or ""),
    }
