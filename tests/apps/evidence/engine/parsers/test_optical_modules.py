"""Optical power of transceivers, as mlxlink and ethtool print it."""

from __future__ import annotations

import pytest

from apps.evidence.engine.parsers import optical_modules
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source

MLXLINK = """# mlxlink -d mlx5_0 -m
Operational Info
----------------
State                              : Active

Module Info
-----------
Identifier                         : OSFP
Vendor Name                        : Finisar
Vendor Serial Number               : X24A15P
Temperature [C]                    : 54 [-5..75]
Rx Power Current [dBm]             : 1.886,-9.4,2.281,1.976 [-10.41..6]
Tx Power Current [dBm]             : 1.562,1.427,1.559,1.761 [-8.508..5]
"""
ETHTOOL = """root@n1:~# ethtool -m eth0
	Identifier                                : 0x11 (QSFP28)
	Vendor SN                                 : MT1652FT00065
	Transmit avg optical power (Channel 1)    : 0.9077 mW / -0.42 dBm
	Transmit avg optical power (Channel 2)    : 0.0000 mW / -inf dBm
	Rcvr signal avg optical power(Channel 1)  : 0.0100 mW / -20.00 dBm
	Rcvr signal avg optical power(Channel 2)  : 0.0000 mW / -inf dBm
	Laser rx power low alarm   (Chan 1)       : On
	Laser rx power low alarm threshold        : 0.0646 mW / -11.90 dBm
"""
COPPER = MLXLINK.replace("1.886,-9.4,2.281,1.976 [-10.41..6]", "0,0,0,0 [0..0]").replace(
    "1.562,1.427,1.559,1.761 [-8.508..5]", "0,0,0,0 [0..0]"
)


def _read(text: str) -> Reading:
    return read(Source.of_bytes(text.encode(), name="x.txt"))


def test_lanes_and_limits_of_mlxlink_are_read() -> None:
    reading = _read(MLXLINK)

    (module,) = reading.facts["modules"]
    assert (reading.kind, reading.warnings) == ("optical_modules", ())
    assert (module["device"], module["vendor"], module["serial"]) == ("mlx5_0", "Finisar", "X24A15P")
    assert (module["rx_dbm"], module["rx_low_dbm"]) == ([1.886, -9.4, 2.281, 1.976], -10.41)
    assert (module["tx_dbm"], module["tx_low_dbm"]) == ([1.562, 1.427, 1.559, 1.761], -8.508)


def test_a_lane_that_sends_nothing_is_not_in_use() -> None:
    (module,) = _read(ETHTOOL).facts["modules"]

    assert (module["device"], module["tx_dbm"], module["rx_dbm"]) == ("eth0", [-0.42], [-20.0])
    assert (module["rx_low_dbm"], module["tx_low_dbm"]) == (-11.9, None)
    assert module["alarms"] == ["Laser rx power low alarm"]


def test_a_dark_fibre_is_read_as_no_light() -> None:
    (module,) = _read(ETHTOOL.replace("0.0100 mW / -20.00 dBm", "0.0000 mW / -inf dBm")).facts["modules"]

    assert module["rx_dbm"] == [-40.0]


def test_several_devices_in_one_text_are_kept_apart() -> None:
    modules = _read(MLXLINK + ETHTOOL + ETHTOOL.partition("\n")[2]).facts["modules"]

    assert [module["device"] for module in modules] == ["mlx5_0", "eth0", None]


def test_a_copper_cable_has_no_optics() -> None:
    assert len(_read(COPPER + ETHTOOL).facts["modules"]) == 1
    with pytest.raises(Unreadable):
        _read(COPPER)
    with pytest.raises(Unreadable):
        _read(COPPER.replace("0,0,0,0 [0..0]", "N/A"))


@pytest.mark.parametrize("damage", ["1.8;9", "1.8,1.9.7 [-10.41..6]"])
def test_a_damaged_power_is_warned_of(damage: str) -> None:
    reading = _read(MLXLINK.replace("1.886,-9.4,2.281,1.976 [-10.41..6]", damage))

    assert [warning.code for warning in reading.warnings] == ["power_not_understood"]
    assert reading.facts["modules"][0]["rx_dbm"] == []


@pytest.mark.parametrize("power", ["NAN", "inf", "1..5", "0,5,", "[...6]"])
def test_what_is_no_power_of_mlxlink_is_said(power: str) -> None:
    reading = _read(MLXLINK.replace("1.886,-9.4,2.281,1.976 [-10.41..6]", power))

    assert reading.facts["modules"][0]["rx_dbm"] == []
    assert [(one.code, one.line) for one in reading.warnings] == [("power_not_understood", 12)]


@pytest.mark.parametrize("power", ["inf dBm", "-20,00 dBm", "nan dBm", "0.0100 mW"])
def test_what_is_no_power_of_ethtool_is_said(power: str) -> None:
    reading = _read(ETHTOOL.replace("0.0100 mW / -20.00 dBm", power))

    assert [(one.code, one.line) for one in reading.warnings] == [("power_not_understood", 6)]
    assert -20.0 not in reading.facts["modules"][0]["rx_dbm"]


def test_a_lane_without_a_power_keeps_its_place() -> None:
    text = MLXLINK.replace("1.886,-9.4,", "N/A,-9.4,").replace("1.562,1.427,1.559,1.761", "1.5,-40.0,1.5,N/A")

    (module,) = _read(text).facts["modules"]

    assert (module["rx_dbm"], module["tx_dbm"]) == ([2.281, 1.976], [1.5, 1.5])


def test_two_processes_are_not_mixed() -> None:
    text = "".join(f"[1,{rank}]<stdout>:{line}\n" for line in ETHTOOL.splitlines() for rank in (0, 1))

    reading = _read(text)

    assert reading.facts == _read(ETHTOOL).facts
    assert [one.code for one in reading.warnings] == ["several_processes"]


def test_a_transceiver_that_is_listed_again_is_said() -> None:
    twice = _read(MLXLINK * 2)
    changed = _read(MLXLINK + MLXLINK.replace("1.886", "-30.5"))

    assert twice.facts == _read(MLXLINK).facts
    assert [(one.code, one.line) for one in twice.warnings] == [("module_repeated", 14)]
    assert [module["rx_dbm"][0] for module in changed.facts["modules"]] == [1.886, -30.5]
    assert [one.code for one in changed.warnings] == ["module_repeated"]


def test_more_transceivers_than_are_kept_are_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(optical_modules, "_MOST_MODULES", 1)

    reading = _read(MLXLINK + ETHTOOL)

    assert [module["device"] for module in reading.facts["modules"]] == ["mlx5_0"]
    assert [(one.code, one.line) for one in reading.warnings] == [("modules_left_out", 14)]


@pytest.mark.parametrize(
    "command",
    [
        "[root@n1 ~]# mlxlink --device mlx5_0 --show_module",
        "+ sudo mlxlink -m -d mlx5_0",
        "$ mlxlink --device=mlx5_0 -m",
    ],
)
def test_the_device_is_that_of_the_command_above(command: str) -> None:
    assert _read(MLXLINK.replace("# mlxlink -d mlx5_0 -m", command)).facts["modules"][0]["device"] == "mlx5_0"


@pytest.mark.parametrize(
    "text", [MLXLINK[: MLXLINK.index("Tx Power")], ETHTOOL[: ETHTOOL.index("(Channel 2)  :")]]
)
def test_a_text_that_ends_before_all_lanes_is_said_to_be_cut(text: str) -> None:
    assert "lanes_differ" in [one.code for one in _read(text).warnings]
