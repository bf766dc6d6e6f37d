"""Faults of one host that belong together: one incident until three minutes pass without a new one."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from apps.health.engine.actions import ActionClass, heaviest
from apps.health.engine.faults import DecidedBy, Fault

QUIET_S = 180.0
_SEVERITIES = ("info", "warning", "critical")


@dataclass(frozen=True, slots=True, kw_only=True)
class Incident:
    """Faults that came one after another.

    lead: the first fault that follows from no other, usually the cause. action_class: the heaviest that any
    device needs; where the driver itself named an action for a GPU (Xid 154), that one outranks the table
    for that GPU. devices: PCI addresses, sorted.
    """

    host: str
    lead: Fault
    faults: tuple[Fault, ...]
    severity: str
    action_class: ActionClass
    cordon: bool
    devices: tuple[str, ...]


def incidents_of(faults: Iterable[Fault]) -> tuple[Incident, ...]:
    """The incidents of each host, in order. Faults without a time are told apart by nothing: one incident."""
    by_host: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        by_host[fault.host].append(fault)
    found: list[Incident] = []
    for host in sorted(by_host):
        found += [_incident(host, group) for group in _groups(by_host[host])]
    return tuple(found)


def _groups(faults: Sequence[Fault]) -> list[list[Fault]]:
    timed = sorted(
        (fault for fault in faults if fault.at_s is not None), key=lambda fault: (fault.at_s, fault.line)
    )
    groups: list[list[Fault]] = []
    for fault in timed:
        before = groups[-1][-1].at_s if groups else None
        if before is None or fault.at_s is None or fault.at_s - before >= QUIET_S:
            groups.append([])
        groups[-1].append(fault)
    untimed = sorted((fault for fault in faults if fault.at_s is None), key=lambda fault: fault.line)
    return groups + ([untimed] if untimed else [])


def _incident(host: str, faults: Sequence[Fault]) -> Incident:
    by_device: dict[str, list[Fault]] = defaultdict(list)
    for fault in faults:
        by_device[fault.device].append(fault)
    classes = [_class_of_device(of_device) for of_device in by_device.values()]
    return Incident(
        host=host,
        lead=next((fault for fault in faults if not fault.is_follower), faults[0]),
        faults=tuple(faults),
        severity=max((fault.severity for fault in faults), key=_SEVERITIES.index),
        action_class=heaviest(classes),
        cordon=any(fault.cordon for fault in faults),
        devices=tuple(sorted(by_device)),
    )


def _class_of_device(faults: Sequence[Fault]) -> ActionClass:
    """The action that one device needs: the last word of its driver, or else the heaviest of its faults."""
    asked = [fault for fault in faults if fault.decided_by is DecidedBy.DRIVER]
    return asked[-1].action_class if asked else heaviest(fault.action_class for fault in faults)
