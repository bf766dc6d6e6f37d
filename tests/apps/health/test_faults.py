"""Faults and incidents from kernel logs, and the actions that follow."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apps.catalogue.engine.fault_codes import action_order
from apps.evidence.engine.reading import Reading
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source
from apps.health.engine.actions import ActionClass, action_of_recovery, class_of, escalated, heaviest
from apps.health.engine.faults import DecidedBy, Fault, fault_of_sxid, fault_of_xid, faults_in
from apps.health.engine.incidents import incidents_of
from apps.health.engine.log_times import seconds_of

CORPUS = Path(__file__).resolve().parents[2] / "corpus" / "xid-dmesg"


def faults_of(name: str) -> tuple[Fault, ...]:
    return faults_in(read(Source.of_bytes((CORPUS / name).read_bytes()), kind="kernel_log"))


def xid(code: int, *, at: str = "", pci: str = "0000:01:00.0", line: int = 1, **more: Any) -> Fault:
    return fault_of_xid({"code": code, "at": at, "pci": pci, "line": line, **more})


@pytest.mark.parametrize(
    ("code", "action_class", "severity", "cordon"),
    [
        (13, ActionClass.RESTART_APP, "warning", False),
        (43, ActionClass.RESTART_APP, "info", False),
        (48, ActionClass.RESET, "critical", True),
        (54, ActionClass.DRAIN_REPAIR, "critical", True),
        (74, ActionClass.RESET, "critical", True),
        (79, ActionClass.REBOOT, "critical", True),
        (94, ActionClass.RESTART_APP, "critical", False),
        (95, ActionClass.RESET, "critical", True),
        (168, ActionClass.CONTACT_VENDOR, "critical", True),
        (106, ActionClass.NONE, "info", False),
    ],
)
def test_a_code_has_an_action_class_a_severity_and_a_cordon(
    code: int, action_class: ActionClass, severity: str, cordon: bool
) -> None:
    fault = xid(code)

    assert (fault.action_class, fault.severity, fault.cordon) == (action_class, severity, cordon)
    assert fault.is_known
    assert fault.meaning


def test_every_action_of_the_table_has_a_class() -> None:
    assert [action for action in action_order() if class_of(action) is ActionClass.UNKNOWN] == []


def test_an_unknown_code_is_unknown_and_not_harmless() -> None:
    fault = xid(9999)

    assert (fault.is_known, fault.action_class, fault.severity) == (False, ActionClass.UNKNOWN, "warning")


@pytest.mark.parametrize(
    ("words", "action_class"),
    [
        ("GPU Reset Required", ActionClass.RESET),
        ("Drain and Reset", ActionClass.RESET),
        ("Node Reboot Required", ActionClass.REBOOT),
        ("Drain P2P", ActionClass.DRAIN_REPAIR),
        ("None", ActionClass.NONE),
    ],
)
def test_the_driver_says_itself_what_it_needs(words: str, action_class: ActionClass) -> None:
    fault = xid(154, recovery_action=words)

    assert (fault.action_class, fault.decided_by) == (action_class, DecidedBy.DRIVER)


def test_words_of_the_driver_that_are_not_understood_decide_nothing() -> None:
    assert action_of_recovery("Something New") == ""
    assert xid(154, recovery_action="Something New").decided_by is DecidedBy.TABLE


@pytest.mark.parametrize(
    ("unit", "printed", "action_class", "severity"),
    [
        ("SAW_MVB", "Fatal", ActionClass.RESET, "critical"),
        ("SAW_MVB", "Nonfatal", ActionClass.NONE, "info"),
        ("RLW_REMAP", "Nonfatal", ActionClass.NONE, "warning"),
        ("NEW_UNIT", "Fatal", ActionClass.RESET, "critical"),
        ("NEW_UNIT", "Nonfatal", ActionClass.NONE, "info"),
    ],
)
def test_the_nvlink_family_is_as_grave_as_its_line_says(
    unit: str, printed: str, action_class: ActionClass, severity: str
) -> None:
    fault = xid(145 if unit == "RLW_REMAP" else 144, unit=unit, severity=printed)

    assert (fault.action_class, fault.severity, fault.decided_by) == (
        action_class,
        severity,
        DecidedBy.MESSAGE,
    )


@pytest.mark.parametrize(
    ("code", "printed", "action_class", "severity"),
    [
        (20034, "Fatal", ActionClass.RESET, "critical"),
        (12020, None, ActionClass.REBOOT, "critical"),
        (20009, None, ActionClass.NONE, "info"),
        (77777, "Fatal", ActionClass.RESET, "critical"),
        (77777, "Non-fatal", ActionClass.NONE, "info"),
        (77777, None, ActionClass.UNKNOWN, "warning"),
    ],
)
def test_switch_codes_follow_the_list_and_unlisted_ones_their_line(
    code: int, printed: str | None, action_class: ActionClass, severity: str
) -> None:
    fault = fault_of_sxid(
        {"code": code, "severity": printed, "line": 1, "links": [28], "pci": "0000:05:00.0"}
    )

    assert (fault.action_class, fault.severity, fault.link) == (action_class, severity, 28)


def test_a_lost_gpu_and_its_switch_links_are_one_incident_led_by_the_gpu() -> None:
    (incident,) = incidents_of(faults_of("xid79-with-sxid20034.log"))

    assert incident.lead.code == 79
    assert incident.action_class is ActionClass.REBOOT
    assert incident.cordon
    assert {fault.code for fault in incident.faults} == {79, 20034}
    assert "0000:91:00.0" in incident.devices


def test_followers_do_not_lead() -> None:
    (incident,) = incidents_of(faults_of("xid13-43-iso-decode-with-oom.log"))

    assert incident.lead.code == 13
    assert (incident.lead.count, incident.action_class, incident.cordon) == (
        16,
        ActionClass.RESTART_APP,
        False,
    )


def test_the_word_of_the_driver_outranks_the_table() -> None:
    faults = [xid(79, line=1), xid(154, line=2, recovery_action="GPU Reset Required")]

    (incident,) = incidents_of(faults)

    assert incident.action_class is ActionClass.RESET


def test_the_word_of_the_driver_holds_for_its_own_gpu_only() -> None:
    faults = [
        xid(79, line=1, pci="0000:01:00.0"),
        xid(154, line=2, pci="0000:02:00.0", recovery_action="GPU Reset Required"),
    ]

    assert incidents_of(faults)[0].action_class is ActionClass.REBOOT


def test_nvlink5_faults_of_a_tray_are_one_incident() -> None:
    (incident,) = incidents_of(faults_of("xid149-154-gb200-nvlink5.log"))

    assert incident.lead.code == 149
    assert len(incident.devices) == 4


@pytest.mark.parametrize(("gap_s", "incidents"), [(179.9, 1), (180.0, 2), (3600.0, 2)])
def test_three_quiet_minutes_end_an_incident(gap_s: float, incidents: int) -> None:
    faults = [xid(31, at="1000.0", line=1), xid(31, at=f"{1000 + gap_s:.1f}", line=2)]

    assert len(incidents_of(faults)) == incidents


def test_hosts_are_kept_apart() -> None:
    assert [one.host for one in incidents_of([xid(79, host="b"), xid(79, host="a")])] == ["a", "b"]


def test_other_kinds_have_no_faults() -> None:
    assert faults_in(Reading(kind="nvidia_smi_q", facts={"events": [{"code": 79}]})) == ()


@pytest.mark.parametrize(("came_back", "expected"), [(False, ActionClass.RESET), (True, ActionClass.REBOOT)])
def test_a_repeat_goes_one_step_up(came_back: bool, expected: ActionClass) -> None:
    assert escalated(ActionClass.RESET, came_back=came_back) is expected


def test_steps_end_with_the_vendor_and_nothing_needs_no_step() -> None:
    assert escalated(ActionClass.DRAIN_REPAIR, came_back=True) is ActionClass.CONTACT_VENDOR
    assert escalated(ActionClass.CONTACT_VENDOR, came_back=True) is ActionClass.CONTACT_VENDOR
    assert escalated(ActionClass.NONE, came_back=True) is ActionClass.NONE
    assert heaviest([]) is ActionClass.NONE


@pytest.mark.parametrize(
    ("earlier", "later", "difference_s"),
    [
        ("2024-11-15T12:02:03,470068+00:00", "2024-11-15T12:02:04,470068+00:00", 1.0),
        ("2024-11-15T12:00:00+08:00", "2024-11-15T04:00:10Z", 10.0),
        ("2024-11-15 12:00:00 UTC", "2024-11-15 12:01:00", 60.0),
        ("Sun Feb 23 16:24:18 2025", "Sun Feb 23 16:24:24 2025", 6.0),
        ("Feb 28 23:59:59", "Feb 29 00:00:01", 2.0),
        ("6781741.548779", "6781753.400584", 11.851805),
    ],
)
def test_times_of_one_form_can_be_subtracted(earlier: str, later: str, difference_s: float) -> None:
    start, end = seconds_of(earlier), seconds_of(later)

    assert start is not None and end is not None
    assert end - start == pytest.approx(difference_s, abs=1e-6)


@pytest.mark.parametrize("at", ["", "yesterday", "2024-13-45T99:00:00", "2月 23 10:00:00"])
def test_a_time_in_another_form_is_none(at: str) -> None:
    assert seconds_of(at) is None
