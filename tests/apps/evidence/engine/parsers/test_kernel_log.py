"""Kernel logs: shapes of Xid and SXid lines, bursts, and what is a quotation."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from apps.evidence.engine import registry
from apps.evidence.engine.parsers import kernel_log
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[4] / "corpus"
XID_79 = "NVRM: Xid (PCI:0000:3b:00): 79, pid=1234, name=python3, GPU has fallen off the bus."


def read(text: str) -> Reading:
    return kernel_log.read(Source.of_text(text))


def events(text: str) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = read(text).facts["events"]
    return found


def corpus(name: str) -> Reading:
    return registry.read(Source.of_bytes((CORPUS / name).read_bytes()))


@pytest.mark.parametrize(
    ("front", "style", "at", "host"),
    [
        ("", None, None, None),
        ("[  123.456789] ", "uptime", "123.456789", None),
        ("[  123.456789][ T4321] ", "uptime", "123.456789", None),
        ("<4>[  123.456789] ", "uptime", "123.456789", None),
        ("(Worker pid=7, ip=192.0.2.1) [  123.456789] ", "uptime", "123.456789", None),
        ("(raylet, ip=192.0.2.1) [  123.456789] ", "uptime", "123.456789", None),
        ("(pid=7) [  123.456789] ", "uptime", "123.456789", None),
        ("[pod/ops/dmesg-x7] [  123.456789] ", "uptime", "123.456789", None),
        ("dmesg-1  | [  123.456789] ", "uptime", "123.456789", None),
        ("4,1234,123456789,-;", None, None, None),
        ("kern  :warn  : [  123.456789] ", "uptime", "123.456789", None),
        ("[Sun Feb 23 16:24:18 2025] ", "ctime", "Sun Feb 23 16:24:18 2025", None),
        ("[Sun Feb  2 16:24:18 2025] ", "ctime", "Sun Feb  2 16:24:18 2025", None),
        ("2025-01-21T04:41:44,284433+00:00 ", "iso", "2025-01-21T04:41:44,284433+00:00", None),
        ("2025-01-21T04:41:44+0000 n1 kernel: ", "iso", "2025-01-21T04:41:44+0000", "n1"),
        ("Jan 21 04:41:44 n1 kernel: ", "syslog", "Jan 21 04:41:44", "n1"),
        ("Jan 21 04:41:44 n1 kernel: [  123.456789] ", "syslog", "Jan 21 04:41:44", "n1"),
        ("6月 28 02:52:53 n1 kernel: ", "syslog", "6月 28 02:52:53", "n1"),
        ("1759600000.500000 n1 kernel: ", "unix", "1759600000.500000", "n1"),
        ("n1: [  123.456789] ", "uptime", "123.456789", "n1"),
        ("2025-01-21T04:41:44.284Z cpu12:2097543)", "iso", "2025-01-21T04:41:44.284Z", None),
        ("2026-03-01T10:00:00.123Z [Sun Feb 23 16:24:18 2025] ", "ctime", "Sun Feb 23 16:24:18 2025", None),
    ],
)
def test_what_stands_in_front_of_a_message(
    front: str, style: str | None, at: str | None, host: str | None
) -> None:
    reading = read(f"{front}{XID_79}\n")
    (event,) = reading.facts["events"]
    assert (reading.facts["timestamp_style"], event["at"], event["host"]) == (style, at, host)
    assert (event["code"], event["pci"], event["pid"], event["process"]) == (
        79,
        "0000:3b:00.0",
        1234,
        "python3",
    )
    assert event["text"] == "GPU has fallen off the bus."


@pytest.mark.parametrize(
    ("message", "code", "pci", "pid", "text"),
    [
        (
            "NVRM: Xid (0000:02:00): 13, 0003 00000000 000090c0",
            13,
            "0000:02:00.0",
            None,
            "0003 00000000 000090c0",
        ),
        ("NVRM: Xid (PCI:0000:01:00): 79, GPU is gone", 79, "0000:01:00.0", None, "GPU is gone"),
        ("NVRM: Xid (PCI:0000:01:00): 48, pid='<unknown>', DBE", 48, "0000:01:00.0", None, "DBE"),
        ("NVRM: Xid (PCI:0000:00:1e.0): 43, pid=7, Ch 08", 43, "0000:00:1e.0", 7, "Ch 08"),
        ("NVRM: Xid (PCI:0018:C1:00): 79, ", 79, "0018:c1:00.0", None, ""),
        ("NVRM: Xid (PCI:0000:3b:00 GPU-I:01 GPU-CI:02): 94, pid=9, name=a, b", 94, "0000:3b:00.0", 9, "b"),
    ],
)
def test_shapes_of_the_message(message: str, code: int, pci: str, pid: int | None, text: str) -> None:
    (event,) = events(f"[  1.000000] {message}\n")
    assert (event["code"], event["pci"], event["pid"], event["text"]) == (code, pci, pid, text)


def test_nvlink_5_errors_carry_unit_severity_and_link() -> None:
    found = corpus("xid-dmesg/xid149-154-gb200-nvlink5.log").facts["events"]
    assert [(e["code"], e["unit"], e["severity"], e["link"]) for e in found if e["code"] == 149][:3] == [
        (149, "NETIR_LINK_EVT", "Fatal", 1),
        (149, "NETIR_LINK_EVT", "Fatal", 1),
        (149, "NETIR_LINK_EVT", "Fatal", 0),
    ]


def test_xid_74_carries_its_link() -> None:
    message = "pid=1, name=a, NVLink: fatal error detected on link 6(0x10000, 0x0)"
    assert events(f"[  1.0] NVRM: Xid (PCI:0000:3b:00): 74, {message}\n")[0]["link"] == 6


def test_xid_154_carries_the_recovery_action() -> None:
    found = corpus("xid-dmesg/xid149-154-gb200-nvlink5.log").facts["events"]
    assert [(e["recovery_action_before"], e["recovery_action"]) for e in found if e["code"] == 154][:2] == [
        ("None", "Drain and Reset"),
        ("Drain and Reset", "GPU Reset Required"),
    ]


def test_a_burst_within_a_second_is_one_event() -> None:
    facts = corpus("xid-dmesg/xid13-43-iso-decode-with-oom.log").facts
    assert facts["xid_counts"] == {"13": 16, "43": 1}
    assert [(event["code"], event["count"]) for event in facts["events"]] == [(13, 16), (43, 1)]


def test_the_same_code_in_two_seconds_or_on_two_gpus_is_two_events() -> None:
    other = XID_79.replace("3b", "4b")
    text = f"[  1.1] {XID_79}\n[  1.9] {XID_79}\n[  2.1] {XID_79}\n[  2.2] {other}\n"
    assert [(e["pci"], e["count"]) for e in events(text)] == [
        ("0000:3b:00.0", 2),
        ("0000:3b:00.0", 1),
        ("0000:4b:00.0", 1),
    ]


def test_rpc_history_is_no_event() -> None:
    facts = corpus("xid-dmesg/xid119-gsp-timeout.log").facts
    assert facts["xid_counts"] == {"119": 5}
    assert [event["process"] for event in facts["events"]] == [
        "nvidia-smi",
        "nvidia-smi",
        "nvidia-smi",
        "cache_mgr_main",
        "gpud",
    ]


def test_uuid_and_serial_number_are_joined_to_the_event() -> None:
    (event,) = corpus("xid-dmesg/xid79-with-sxid20034.log").facts["events"]
    assert event["gpu_uuid"] == "GPU-00000000-0000-0000-0000-000000000001"
    assert event["gpu_serial"] == "1320000000001"


def test_the_three_shapes_of_an_sxid_are_one_event() -> None:
    found = corpus("xid-dmesg/xid79-with-sxid20034.log").facts["sxid_events"]
    assert [(e["switch"], e["severity"], e["links"], e["count"]) for e in found] == [
        (1, "Fatal", [48], 1),
        (0, "Fatal", [63, 62], 4),
        (2, "Fatal", [37], 3),
    ]


def test_an_sxid_without_a_link_has_a_severity_and_no_link_fault() -> None:
    text = "[  1.0] nvidia-nvswitch0: SXid (PCI:0000:c3:00.0): 11001, Non-fatal, ingress invalid command\n"
    facts = read(text).facts
    assert facts["sxid_events"][0]["severity"] == "Non-fatal"
    assert facts["sxid_link_faults"] == []


def test_a_damaged_xid_is_said_with_its_line() -> None:
    reading = read(f"[  1.0] {XID_79}\n[  2.0] NVRM: Xid (PCI:0000:3b:0\n")
    assert [(w.code, w.line) for w in reading.warnings] == [("xid_not_understood", 2)]
    assert reading.facts["xid_counts"] == {"79": 1}


def test_messages_left_out_by_the_driver_are_said() -> None:
    assert "rate_limited" in [w.code for w in corpus("xid-dmesg/xid119-gsp-timeout.log").warnings]


def test_an_xid_inside_a_sentence_is_no_event() -> None:
    reading = read(f'[  1.0] {XID_79}\n[  2.0] agent[7]: alert "{XID_79}" was sent\n')
    assert reading.facts["xid_counts"] == {"79": 1}
    assert [w.code for w in reading.warnings] == ["xid_quoted"]


SOURCE_CODE = f"""\
package xid

import "testing"

func TestParse(t *testing.T) {{
    lines := []string{{
        "{XID_79}",
        "[  1.000000] {XID_79}",
    }}
    raw := `
{XID_79}
[  1.000000] {XID_79}
`
    for _, line := range lines {{
        if Parse(line) != 79 {{
            t.Fatal("wrong code")
        }}
    }}
}}
"""
DOCUMENTATION = f"""\
# Xid errors

An Xid message is an error report of the driver that is written to the kernel log.
Most Xid messages have several possible causes, so read the whole log before you act.

- Xid 13: an exception of the graphics engine, most often an error of the application.
- Xid 79: the GPU is no longer there, look at power, seating and temperature first.

A typical line looks like this:

{XID_79}

| code | meaning |
|------|---------|
| 79   | GPU has fallen off the bus |
"""


@pytest.mark.parametrize("text", [SOURCE_CODE, DOCUMENTATION], ids=["source code", "documentation"])
def test_text_that_quotes_xids_is_no_incident(text: str) -> None:
    assert kernel_log.recognise(text) == 0
    with pytest.raises(Unreadable, match="quotes Xids"):
        read(text)


def test_a_question_with_a_log_in_it_is_a_log() -> None:
    log = "".join(f"[  {i}.000000] {XID_79}\n" for i in range(12))
    text = (
        f"Our node lost a GPU during the night and the job died after three hours.\n```\n{log}```\nThanks!\n"
    )
    assert registry.recognise(Source.of_text(text)) == kernel_log.KIND
    assert read(text).facts["xid_counts"] == {"79": 12}


def test_an_ordinary_kernel_log_is_a_log_without_xids() -> None:
    text = "".join(f"[  {i}.000000] eth{i}: link is up\n" for i in range(9))
    assert registry.recognise(Source.of_text(text)) == kernel_log.KIND
    assert read(text).facts["xid_counts"] == {}


def test_events_are_bounded_and_counts_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.evidence.engine.parsers._kernel_events.MOST_EVENTS", 3)
    reading = read("".join(f"[  {i}.000000] {XID_79}\n" for i in range(5)))
    assert len(reading.facts["events"]) == 3
    assert reading.facts["xid_counts"] == {"79": 5}
    assert [w.code for w in reading.warnings] == ["events_left_out"]


def lines_with(*times: str) -> str:
    return "".join(f"{time}{XID_79}\n" for time in times)


@pytest.mark.parametrize(
    "name", ["xid-dmesg/" + path.name for path in sorted((CORPUS / "xid-dmesg").glob("*"))]
)
def test_a_log_that_was_pasted_twice_counts_once(name: str) -> None:
    whole = (CORPUS / name).read_bytes()
    once, twice = corpus(name), registry.read(Source.of_bytes(whole + whole), kind="kernel_log")
    stamped = once.facts["timestamp_style"] is not None
    for key in ("xid_counts", "xid_by_pci", "sxid_lines", "sxid_link_faults"):
        if stamped and once.facts[key]:
            assert twice.facts[key] == once.facts[key]
            assert "lines_repeated" in [warning.code for warning in twice.warnings]
    assert "lines_repeated" not in [warning.code for warning in once.warnings]


def test_lines_that_stand_there_again_are_counted_once_and_named() -> None:
    reading = read(lines_with("[  1.000001] ", "[  2.000001] ", "[  1.000001] ", "[  2.000001] "))
    assert reading.facts["xid_counts"] == {"79": 2}
    (warning,) = reading.warnings
    assert (warning.code, warning.line) == ("lines_repeated", 3)
    assert ": 2;" in warning.message


def test_equal_lines_of_one_second_are_a_burst_until_the_log_comes_back_to_it() -> None:
    early, late = "[Sun Feb 23 16:24:18 2025] ", "[Sun Feb 23 16:24:19 2025] "
    assert read(lines_with(early, early, late)).facts["xid_counts"] == {"79": 3}
    again = read(lines_with(early, early, late, early, early, late))
    assert again.facts["xid_counts"] == {"79": 3}
    assert [warning.code for warning in again.warnings] == ["lines_repeated"]


def test_two_hosts_that_write_at_once_do_not_repeat_each_other() -> None:
    text = lines_with(
        "Jan 21 04:41:44 n1 kernel: ",
        "Jan 21 04:41:45 n2 kernel: ",
        "Jan 21 04:41:44 n1 kernel: ",
        "Jan 21 04:41:45 n2 kernel: ",
    )
    assert read(text).facts["xid_counts"] == {"79": 4}
    assert read(text).warnings == ()


def test_without_a_time_equal_lines_are_not_taken_for_repeated() -> None:
    assert read(lines_with("", "")).facts["xid_counts"] == {"79": 2}


@pytest.mark.parametrize(
    "front", ["{}: ", "[1,{}]<stdout>:", "[node-7@1,{}]<stdout>: ", "[pod/ops/dmesg-{}] "]
)
def test_logs_of_several_processes_in_one_are_said(front: str) -> None:
    text = "".join(f"{front.format(rank)}[  12.500000] {XID_79}\n" for rank in (0, 1))

    reading = read(text)

    assert reading.facts["xid_counts"] == {"79": 2}
    assert [(one.code, one.line) for one in reading.warnings if one.code == "several_processes"] == [
        ("several_processes", 2)
    ]
    assert "several_processes" not in [one.code for one in read(text.splitlines()[0] + "\n").warnings]


XID = "NVRM: Xid (PCI:0000:9b:00): 79, pid=1234, name=python, GPU has fallen off the bus."
ENTRY = {
    "__REALTIME_TIMESTAMP": "1740382272123456",
    "_HOSTNAME": "sn01",
    "SYSLOG_IDENTIFIER": "kernel",
    "MESSAGE": XID,
}
EXPORT = "\n".join(f"{name}={value}" for name, value in {"__CURSOR": "s=a1;i=3", **ENTRY}.items()) + "\n"
PRETTY = "{\n" + ",\n".join(f'\t"{name}" : "{value}"' for name, value in ENTRY.items()) + "\n}"
JOURNAL = {
    "json": (
        '{"__REALTIME_TIMESTAMP":"1740382272123456","_HOSTNAME":"sn01","_TRANSPORT":"kernel",'
        f'"SYSLOG_IDENTIFIER":"kernel","PRIORITY":"3","MESSAGE":"{XID}"}}\n',
        "2025-02-24T07:31:12.123456Z",
    ),
    "short-iso": (f"2025-02-24T07:31:12+0000 sn01 kernel: {XID}\n", "2025-02-24T07:31:12+0000"),
    "short-precise": (f"Feb 24 07:31:12.123456 sn01 kernel: {XID}\n", "Feb 24 07:31:12.123456"),
    "short-full": (f"Mon 2025-02-24 07:31:12 UTC sn01 kernel: {XID}\n", "2025-02-24 07:31:12 UTC"),
    "short-monotonic": (f"[  812.123456] sn01 kernel: {XID}\n", "812.123456"),
    "short-unix": (f"1740382272.123456 sn01 kernel: {XID}\n", "1740382272.123456"),
    "verbose": (
        "Mon 2025-02-24 07:31:12.123456 UTC [s=a1;i=3;b=c4;m=2f;t=62;x=7]\n"
        f"    _HOSTNAME=sn01\n    MESSAGE={XID}\n    SYSLOG_IDENTIFIER=kernel\n    PRIORITY=3\n",
        "2025-02-24 07:31:12.123456 UTC",
    ),
    "export": (f"{EXPORT}\n", "2025-02-24T07:31:12.123456Z"),
    "json-pretty": (f"{PRETTY}\n", "2025-02-24T07:31:12.123456Z"),
}


def in_array(entry: str, later: str) -> str:
    return f"[{entry.strip()}, {later.strip()}]\n"


def in_pretty_array(entry: str, later: str) -> str:
    return f"[\n  {entry.strip()},\n  {later.strip()}\n]\n"


def a_line_each(entry: str, later: str) -> str:
    return f"[\n{entry.strip()},\n{later.strip()}\n]\n"


@pytest.mark.parametrize(
    ("form", "array"), [("json", in_array), ("json", a_line_each), ("json-pretty", in_pretty_array)]
)
def test_an_array_of_the_journal_is_read_entry_by_entry(form: str, array: Callable[[str, str], str]) -> None:
    entry, at = JOURNAL[form]
    found = registry.read(Source.of_text(array(entry, entry.replace("2272", "2300"))))

    assert (found.kind, found.facts["xid_counts"], found.warnings) == ("kernel_log", {"79": 2}, ())
    assert (found.facts["events"][0]["host"], found.facts["events"][0]["at"]) == ("sn01", at)


def test_an_array_that_is_longer_than_a_line_may_be_is_not_cut_in_silence() -> None:
    entry = JOURNAL["json"][0].strip()
    many = [entry.replace("1740382272", str(1740382272 + 60 * place)) for place in range(600)]
    found = registry.read(Source.of_text(f"[{','.join(many)}]"), kind="kernel_log")

    assert found.facts["xid_counts"]["79"] < 600
    assert [warning.code for warning in found.warnings][-1] == "entry_not_understood"


@pytest.mark.parametrize(
    ("behind", "at"),
    [
        ("", "2025-02-24T07:31:12.123456789Z"),
        ("[  812.123456] ", "812.123456"),
        ("<3>[  812.123456] ", "812.123456"),
    ],
)
def test_what_a_node_keeps_of_a_container_is_read(behind: str, at: str) -> None:
    found = registry.read(Source.of_text(f"2025-02-24T07:31:12.123456789Z stderr F {behind}{XID}\n"))

    assert (found.kind, found.facts["xid_counts"]) == ("kernel_log", {"79": 1})
    assert found.facts["events"][0]["at"] == at


@pytest.mark.parametrize("form", JOURNAL)
def test_the_journal_is_read_in_every_form(form: str) -> None:
    entry, at = JOURNAL[form]
    found = registry.read(
        Source.of_text(f"{entry}{entry.replace('7:31:12', '7:31:40').replace('2272', '2300')}")
    )
    first = found.facts["events"][0]

    assert (found.kind, found.facts["xid_counts"]) == (
        "kernel_log",
        {"79": 2 if form != "short-monotonic" else 1},
    )
    assert (first["host"], first["at"], first["pid"]) == ("sn01", at, 1234)


def test_entries_of_the_journal_that_are_cut_or_no_text_do_no_harm() -> None:
    entry = JOURNAL["json"][0]
    as_bytes = entry.replace("1740382272", "1740382300").replace(f'"{XID}"', str([*XID.encode()]))
    found = registry.read(Source.of_text(entry + as_bytes + entry[:80]), kind="kernel_log")

    assert found.facts["xid_counts"] == {"79": 2}
