"""Health figures, limits on them, and the two-of-three rule."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.errors import Invalid
from apps.core.verdicts import Verdict
from apps.evidence.engine.reading import Reading
from apps.health.engine.actions import ActionClass
from apps.health.engine.hysteresis import settled
from apps.health.engine.signals import BuiltLink, Signal, signals_in
from apps.health.engine.thresholds import built_in_rules, observe, read_rules

GPU = {
    "bus_id": "0000:07:00.0",
    "temperature_c": 91.0,
    "remapped_rows_failure": True,
    "remapped_rows_pending": False,
    "pcie_width_current": 8,
    "pcie_width_max": 16,
    "fabric_state": "In Progress",
    "recovery_action": "None",
}

READINGS: list[tuple[str, dict[str, Any], dict[tuple[str, str], Verdict]]] = [
    (
        "optical_modules",
        {
            "modules": [
                {
                    "device": "mlx5_0",
                    "rx_dbm": [1.0, -9.0],
                    "rx_low_dbm": -10.0,
                    "tx_dbm": [0.0],
                    "tx_low_dbm": -8.0,
                },
                {
                    "device": "mlx5_1",
                    "rx_dbm": [-40.0],
                    "rx_low_dbm": -10.0,
                    "tx_dbm": [],
                    "tx_low_dbm": None,
                },
                {"device": "mlx5_2", "rx_dbm": [-40.0], "rx_low_dbm": None, "tx_dbm": [], "tx_low_dbm": None},
            ]
        },
        {("optical-power", "mlx5_0"): Verdict.WARN, ("optical-power", "mlx5_1"): Verdict.FAIL},
    ),
    (
        "ibstat",
        {
            "devices": [
                {"name": "mlx5_0", "type": "MT4129"},
                {"name": "mlx5_1", "type": "MT4129"},
                {"name": "mlx5_2", "type": "MT4125"},
            ],
            "ports": [
                {
                    "device": device,
                    "port": "1",
                    "state": "active",
                    "link_layer": "Ethernet",
                    "rate_gbps": rate,
                }
                for device, rate in (("mlx5_0", 400.0), ("mlx5_1", 200.0), ("mlx5_2", 100.0))
            ],
        },
        {
            ("port-slow", "mlx5_0/1"): Verdict.PASS,
            ("port-slow", "mlx5_1/1"): Verdict.FAIL,
            ("port-slow", "mlx5_2/1"): Verdict.PASS,
            **{("port-down", f"mlx5_{place}/1"): Verdict.PASS for place in range(3)},
        },
    ),
    (
        "fabric_manager",
        {"service": {"state": "failed", "sub_state": "Result: signal", "loaded": "loaded"}},
        {("fabric-manager-down", ""): Verdict.FAIL},
    ),
    (
        "fabric_manager",
        {"service": {"state": "active", "sub_state": "running", "loaded": "loaded"}},
        {("fabric-manager-down", ""): Verdict.PASS},
    ),
    ("fabric_manager", {"service": {"state": "inactive", "loaded": "not-found"}}, {}),
    ("fabric_manager", {"service": {"state": "activating", "loaded": "loaded"}}, {}),
    ("fabric_manager", {"versions": ["570.133.20"], "service": None}, {}),
    (
        "nvidia_smi_q",
        {"gpus": [GPU], "attached_gpus": 8, "gpus_listed": 8},
        {
            ("gpus-missing", ""): Verdict.PASS,
            ("gpu-temperature", "0000:07:00.0"): Verdict.FAIL,
            ("row-remap-failed", "0000:07:00.0"): Verdict.FAIL,
            ("row-remap-pending", "0000:07:00.0"): Verdict.PASS,
            ("pcie-width", "0000:07:00.0"): Verdict.WARN,
            ("fabric-not-ready", "0000:07:00.0"): Verdict.FAIL,
            ("recovery-asked", "0000:07:00.0"): Verdict.PASS,
        },
    ),
    (
        "nvidia_smi_xml",
        {"gpus": [], "gpus_not_answering": ["0000:91:00.0"], "attached_gpus": 8, "gpus_listed": 7},
        {("gpus-missing", ""): Verdict.FAIL},
    ),
    ("nvidia_smi_q", {"gpus": [], "attached_gpus": 8, "gpus_listed": 1}, {}),
    (
        "nvidia_smi_q",
        {
            "gpus": [
                {
                    "bus_id": "0000:07:00.0",
                    "ecc_volatile_uncorrected": 1,
                    "sram_threshold_exceeded": True,
                    "unrepairable_memory": False,
                    "channel_repair_pending": True,
                }
            ]
        },
        {
            ("ecc-double-bit", "0000:07:00.0"): Verdict.FAIL,
            ("sram-threshold", "0000:07:00.0"): Verdict.FAIL,
            ("memory-unrepairable", "0000:07:00.0"): Verdict.PASS,
            ("repair-pending", "0000:07:00.0"): Verdict.WARN,
        },
    ),
    (
        "nvidia_smi_q",
        {"gpus": [], "gpus_not_answering": ["0000:91:00.0"], "attached_gpus": 8, "gpus_listed": 8},
        {("gpus-missing", ""): Verdict.FAIL},
    ),
    (
        "nvidia_smi_q",
        {"gpus": [], "driver_error": "Failed to initialize NVML: Unknown Error", "gpus_listed": 0},
        {("driver-not-answering", ""): Verdict.FAIL},
    ),
    (
        "nvidia_smi_xml",
        {"gpus": [], "driver_version": "570.86.15"},
        {("driver-not-answering", ""): Verdict.PASS},
    ),
    (
        "nvidia_smi_nvlink",
        {
            "links": [
                {"index": 0, "unidirectional_bytes_per_s": {"0": 25e9, "1": 25e9}, "inactive": []},
                {"index": 1, "unidirectional_bytes_per_s": {"0": 12.5e9, "1": 25e9}, "inactive": []},
                {"index": 2, "unidirectional_bytes_per_s": {}, "inactive": []},
            ]
        },
        {
            ("nvlink-inactive", "GPU 0"): Verdict.PASS,
            ("nvlink-slow", "GPU 0"): Verdict.PASS,
            ("nvlink-inactive", "GPU 1"): Verdict.PASS,
            ("nvlink-slow", "GPU 1"): Verdict.FAIL,
            ("nvlink-inactive", "GPU 2"): Verdict.FAIL,
        },
    ),
    (
        "nvidia_smi_nvlink",
        {
            "links": [
                {"index": 0, "errors": {"0": {"replay": 0, "crc": 3}, "1": {"replay": 0, "crc": 0}}},
                {"index": 1, "errors": {"0": {"malformed_packet": 0, "tx_packets": 9e9, "symbol_ber": 1e-9}}},
                {"index": 2, "errors": {"0": {"tx_packets": 9e9, "symbol": 12}}},
            ]
        },
        {("nvlink-errors", "GPU 0"): Verdict.WARN, ("nvlink-errors", "GPU 1"): Verdict.PASS},
    ),
    (
        "nvidia_smi_nvlink",
        {
            "gpus_all_links_inactive": [1],
            "links": [
                {"index": 0, "supported": False, "unidirectional_bytes_per_s": {}, "inactive": []},
                {"index": 1, "supported": True, "unidirectional_bytes_per_s": {}, "inactive": []},
            ],
        },
        {("nvlink-inactive", "GPU 1"): Verdict.FAIL},
    ),
    (
        "dcgm_metrics",
        {
            "by_gpu": [
                {
                    "uuid": "GPU-a",
                    "samples": [
                        {"metric": "DCGM_FI_DEV_XID_ERRORS", "value": 31.0},
                        {"metric": "DCGM_FI_DEV_GPU_TEMP", "value": None},
                        {"metric": "DCGM_FI_DEV_GPU_UTIL", "value": 80.0},
                    ],
                }
            ]
        },
        {("last-xid", "GPU-a"): Verdict.WARN},
    ),
    (
        "dcgm_metrics",
        {
            "by_gpu": [
                {
                    "pci": "00000000:1B:00.0",
                    "samples": [
                        {"metric": "DCGM_FI_DEV_PCIE_LINK_WIDTH", "value": 8.0},
                        {"metric": "DCGM_FI_DEV_PCIE_MAX_LINK_WIDTH", "value": 16.0},
                        {"metric": "DCGM_FI_DEV_POWER_USAGE", "value": 900.0},
                        {"metric": "DCGM_FI_DEV_POWER_MGMT_LIMIT", "value": 700.0},
                        {"metric": "DCGM_FI_DEV_ECC_DBE_VOL", "value": 2.0},
                        {"metric": "DCGM_FI_DEV_NVLINK_RX_ERROR_TOTAL", "value": 600.0},
                        {"metric": "DCGM_FI_DEV_NVLINK_COUNT_RX_ERRORS", "value": 600.0},
                        {"metric": "DCGM_FI_DEV_NVLINK_COUNT_RX_SYMBOL_ERRORS", "value": 9e9},
                        {"metric": "dcgm_gpu_temp", "value": 91.0},
                        {"metric": "dcgm_gpu_temp", "value": 20.0, "mig_instance": {"instance": "1"}},
                    ],
                }
            ]
        },
        {
            ("pcie-width", "0000:1b:00.0"): Verdict.WARN,
            ("power-at-limit", "0000:1b:00.0"): Verdict.WARN,
            ("ecc-double-bit", "0000:1b:00.0"): Verdict.FAIL,
            ("nvlink-errors", "0000:1b:00.0"): Verdict.FAIL,
            ("gpu-temperature", "0000:1b:00.0"): Verdict.FAIL,
        },
    ),
    (
        "dcgmi_diag",
        {
            "results": [
                {"test": "PCIe", "status": "Pass", "entities": ["0"]},
                {"test": "PCIe", "status": "Fail", "entities": ["1"]},
                {"test": "Environment Variables", "status": "Warn"},
                {"test": "EUD Test", "status": "Skip"},
            ]
        },
        {
            ("diagnostic-failed", "PCIe"): Verdict.FAIL,
            ("diagnostic-warned", "PCIe"): Verdict.PASS,
            ("diagnostic-failed", "Environment Variables"): Verdict.PASS,
            ("diagnostic-warned", "Environment Variables"): Verdict.WARN,
        },
    ),
    (
        "dcgmi_diag",
        {"runs": [{}], "details": [{"results": [{"test": "Memory", "status": "Pass"}]}]},
        {("diagnostic-failed", "Memory"): Verdict.PASS, ("diagnostic-warned", "Memory"): Verdict.PASS},
    ),
    (
        "ibstat",
        {
            "ports": [
                {
                    "device": "a",
                    "port": "1",
                    "state": "active",
                    "rate_gbps": 400.0,
                    "link_layer": "InfiniBand",
                },
                {
                    "device": "b",
                    "port": "1",
                    "state": "active",
                    "rate_gbps": 200.0,
                    "link_layer": "InfiniBand",
                },
                {"device": "c", "port": "1", "state": "down", "physical_state": "Polling", "rate_gbps": 10.0},
                {"device": "d", "port": "1", "state": "down", "physical_state": "Disabled"},
            ]
        },
        {
            ("port-down", "a/1"): Verdict.PASS,
            ("port-slow", "a/1"): Verdict.PASS,
            ("port-down", "b/1"): Verdict.PASS,
            ("port-slow", "b/1"): Verdict.FAIL,
            ("port-down", "c/1"): Verdict.FAIL,
        },
    ),
    (
        "npu_smi",
        {
            "devices": [
                {"bus_id": "x", "temp_c": 81.0, "health": "Alarm"},
                {"npu": 1, "chip": 0, "health": "UNKNOWN"},
            ]
        },
        {("npu-temperature", "x"): Verdict.WARN, ("npu-health", "x"): Verdict.FAIL},
    ),
    ("nvidia_smi_topo", {"gpus": 8}, {}),
]


@pytest.mark.parametrize(("kind", "facts", "verdicts"), READINGS)
def test_health_figures_are_held_against_their_limits(
    kind: str, facts: dict[str, Any], verdicts: dict[tuple[str, str], Verdict]
) -> None:
    seen = observe(signals_in(Reading(kind=kind, facts=facts)))

    assert {(one.rule.id, one.signal.device): one.verdict for one in seen} == verdicts


H100_LINK = BuiltLink(part="h100", bytes_per_s=25e9)


@pytest.mark.parametrize(
    ("name", "printed_gb_s", "link", "verdict"),
    [
        ("NVIDIA H100 80GB HBM3", 26.562, H100_LINK, Verdict.PASS),  # the rate on the wire
        ("NVIDIA H100 80GB HBM3", 24.9, H100_LINK, Verdict.PASS),
        ("NVIDIA H100 80GB HBM3", 13.281, H100_LINK, Verdict.FAIL),
        ("NVIDIA H100 80GB HBM3", 13.281, None, Verdict.PASS),
        ("NVIDIA A100-SXM4-80GB", 13.281, H100_LINK, Verdict.PASS),  # not what is registered: not known
    ],
)
def test_links_are_held_against_what_they_are_built_for(
    name: str, printed_gb_s: float, link: BuiltLink | None, verdict: Verdict
) -> None:
    speeds = {str(place): round(printed_gb_s * 1e9) for place in range(18)}
    gpus = [{"index": index, "unidirectional_bytes_per_s": speeds} for index in range(8)]
    reading = Reading(kind="nvidia_smi_nvlink", facts={"model": name, "links": gpus})

    seen = [one for one in observe(signals_in(reading, link=link)) if one.rule.id == "nvlink-slow"]

    assert [one.verdict for one in seen] == [verdict] * 8


def test_a_rule_can_be_switched_off() -> None:
    hot = [Signal(name="gpu_temperature_c", device="0", value=99)]
    off = read_rules(
        [
            {
                "id": "t",
                "signal": "gpu_temperature_c",
                "direction": "above",
                "fail": 90,
                "title": "T",
                "enabled": False,
            }
        ]
    )

    assert observe(hot, off) == ()
    assert observe(hot)[0].verdict is Verdict.FAIL


def test_a_figure_that_is_no_number_is_unknown() -> None:
    (seen,) = observe([Signal(name="gpu_temperature_c", device="0", value=float("nan"))])

    assert seen.verdict is Verdict.UNKNOWN


def test_the_limit_itself_is_still_good() -> None:
    verdicts = [
        observe([Signal(name="gpu_temperature_c", device="0", value=v)])[0].verdict for v in (83, 84, 90, 91)
    ]

    assert verdicts == [Verdict.PASS, Verdict.WARN, Verdict.WARN, Verdict.FAIL]


def test_every_built_in_rule_has_a_known_action() -> None:
    assert [rule.id for rule in built_in_rules() if rule.action_class is ActionClass.UNKNOWN] == []
    assert len({rule.id for rule in built_in_rules()}) == len(built_in_rules())


GOOD = {"id": "x", "signal": "s", "title": "X", "direction": "above", "warn": 1, "fail": 2}


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"id": ""}, "/0/id"),
        ({"signal": None}, "/0/signal"),
        ({"direction": "left"}, "/0/direction"),
        ({"warn": "hot"}, "/0/warn"),
        ({"fail": float("inf")}, "/0/fail"),
        ({"warn": 3}, "/0/warn"),
        ({"direction": "below"}, "/0/warn"),
        ({"warn": None, "fail": None}, "/0/fail"),
    ],
)
def test_a_wrong_rule_is_refused_with_its_place(change: dict[str, Any], pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_rules([{**GOOD, **change}])

    assert [error.pointer for error in refused.value.errors] == [pointer]


P, W, F, U = Verdict.PASS, Verdict.WARN, Verdict.FAIL, Verdict.UNKNOWN


@pytest.mark.parametrize(
    ("current", "history", "state"),
    [
        (P, [P, P, F], P),
        (P, [P, F, F], F),
        (P, [F, P, F], F),
        (F, [F, F, P], F),
        (F, [F, P, P], P),
        (P, [F, U, F], F),
        (P, [U, U, F], P),
        (F, [U, U, P], F),
        (P, [U, U, U], U),
        (P, [W, P, F], W),
        (P, [P, P, W], P),
        (U, [P], U),
        (U, [P, P], P),
        (P, [F, F, F, P, P, P], P),
        (P, [], P),
    ],
)
def test_two_of_the_last_three_decide(current: Verdict, history: list[Verdict], state: Verdict) -> None:
    assert settled(current, history) is state


@given(st.sampled_from([P, W, F]), st.lists(st.sampled_from([P, W, F, U]), max_size=6))
def test_time_outs_alone_never_make_a_failure_or_a_pass(current: Verdict, history: list[Verdict]) -> None:
    assert settled(current, [*history, U, U]) in (current, U)
