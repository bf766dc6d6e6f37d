"""ibstat, ibstatus and ibv_devinfo: three ways to say the same of a port."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from apps.evidence.engine import registry
from apps.evidence.engine.parsers import ibstat, ibstatus, ibv_devinfo
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[4] / "corpus"
IBSTAT = """\
CA 'mlx5_0'
\tCA type: MT4129
\tNumber of ports: 1
\tFirmware version: 28.39.1002
\tPort 1:
\t\tState: {state}
\t\tPhysical state: {physical}
\t\tRate: 400
\t\tBase lid: 7
\t\tLink layer: InfiniBand
"""
IBSTATUS = """\
Infiniband device 'mlx5_0' port 1 status:
\tdefault gid:\t fe80:0000:0000:0000:0000:0000:0000:0001
\tbase lid:\t 0x7
\tsm lid:\t\t 0x1
\tstate:\t\t {state}
\tphys state:\t {physical}
\trate:\t\t 400 Gb/sec (4X NDR)
\tlink_layer:\t InfiniBand
"""
DEVINFO = """\
hca_id:\tmlx5_0
\ttransport:\t\t\tInfiniBand (0)
\tfw_ver:\t\t\t\t28.39.1002
\tboard_id:\t\t\tMT_0000000838
\tphys_port_cnt:\t\t\t1
\t\tport:\t1
\t\t\tstate:\t\t\t{state}
\t\t\tport_lid:\t\t7
\t\t\tlink_layer:\t\tInfiniBand
\t\t\tactive_width:\t\t4X (2)
\t\t\tactive_speed:\t\t100.0 Gbps (128)
\t\t\tphys_state:\t\t{physical}
"""
SAME = {"device": "mlx5_0", "port": "1", "link_layer": "InfiniBand"}
TOOLS = [
    (ibstat, IBSTAT, ("Active", "LinkUp"), ("Down", "Polling")),
    (ibstatus, IBSTATUS, ("4: ACTIVE", "5: LinkUp"), ("1: DOWN", "2: Polling")),
    (ibv_devinfo, DEVINFO, ("PORT_ACTIVE (4)", "LINK_UP (5)"), ("PORT_DOWN (1)", "POLLING (2)")),
]


def corpus(name: str) -> Reading:
    return registry.read(Source.of_bytes((CORPUS / name).read_bytes()))


def read(tool: Any, text: str) -> Reading:
    source = Source.of_text(text)
    assert registry.recognise(source) == tool.KIND
    reading: Reading = tool.read(source)
    return reading


@pytest.mark.parametrize(("tool", "text", "up", "down"), TOOLS)
def test_an_active_port_is_said_alike_by_all(tool: Any, text: str, up: tuple[str, str], down: object) -> None:
    reading = read(tool, text.format(state=up[0], physical=up[1]))
    (port,) = reading.facts["ports"]
    assert (port["state"], port["rate_gbps"]) == ("active", 400.0)
    assert SAME.items() <= port.items()
    assert reading.warnings == ()


@pytest.mark.parametrize(("tool", "text", "up", "down"), TOOLS)
def test_the_rate_of_a_port_that_is_down_means_nothing(
    tool: Any, text: str, up: object, down: tuple[str, str]
) -> None:
    reading = read(tool, text.format(state=down[0], physical=down[1]))
    (port,) = reading.facts["ports"]
    assert (port["state"], port["rate_gbps"]) == ("down", None)
    assert port["physical_state"].lower() == "polling"
    assert [w.code for w in reading.warnings] == ["port_not_active"]


@pytest.mark.parametrize(("tool", "text", "up", "down"), TOOLS)
def test_a_cut_block_is_warned_of(tool: Any, text: str, up: tuple[str, str], down: object) -> None:
    whole = text.format(state=up[0], physical=up[1])
    lines = whole.splitlines(keepends=True)
    reading = read(tool, whole + "".join(lines[:5]).replace("mlx5_0", "mlx5_1").split("\tstate")[0])
    assert {"ports_missing", "port_state_missing"} & {w.code for w in reading.warnings}


@pytest.mark.parametrize(("tool", "text", "up", "down"), TOOLS[:2])
def test_a_block_without_its_last_line_is_warned_of(
    tool: Any, text: str, up: tuple[str, str], down: object
) -> None:
    cut = text.format(state=up[0], physical=up[1]).rstrip().rpartition("\n")[0]
    assert [w.code for w in read(tool, cut[:-1]).warnings] == ["port_incomplete"]


@pytest.mark.parametrize(("tool", "text", "up", "down"), TOOLS)
def test_a_doubled_block_is_warned_of(tool: Any, text: str, up: tuple[str, str], down: object) -> None:
    reading = read(tool, text.format(state=up[0], physical=up[1]) * 2)
    assert "port_repeated" in [w.code for w in reading.warnings]


@pytest.mark.parametrize("tool", [ibstat, ibstatus, ibv_devinfo])
def test_a_text_without_ports_is_refused(tool: Any) -> None:
    with pytest.raises(Unreadable):
        tool.read(Source.of_text("command not found\n"))


def test_disabled_and_polling_are_told_apart() -> None:
    ports = corpus("ibstat/h100-some-down-polling.txt").facts["ports"]
    assert {p["device"]: p["physical_state"] for p in ports if p["state"] != "active"} == {
        "mlx5_11": "Polling",
        "mlx5_5": "Disabled",
    }


def test_an_error_of_the_tool_is_warned_of_with_its_line() -> None:
    warnings = corpus("ibstat/a100-ibpanic-exit-255.txt").warnings
    assert [(w.code, w.line) for w in warnings] == [("tool_error", 137)]


def test_an_adapter_that_is_cut_before_its_ports_is_said() -> None:
    whole = DEVINFO.format(state="PORT_ACTIVE (4)", physical="LINK_UP (5)")
    reading = ibv_devinfo.read(Source.of_text(whole + "hca_id:\tmlx5_1\n\tfw_ver:\t28.39.1002\n"))

    assert [(one.code, one.line) for one in reading.warnings] == [("ports_missing", 13)]
