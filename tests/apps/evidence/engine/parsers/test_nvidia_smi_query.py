"""`nvidia-smi -L` and `nvidia-smi --query-gpu`: what was asked for is read, as `nvidia-smi -q` would say it."""

from __future__ import annotations

import pytest

from apps.environments.engine.facts import component_facts
from apps.evidence.engine.reading import Unreadable
from apps.health.engine.signals import signals_in
from tests.apps.evidence.engine.parsers.readings import codes, read

FIRST, SECOND = "GPU-4c0a8c5d-0aa1-7b2c-9d3e-000000000001", "GPU-4c0a8c5d-0aa1-7b2c-9d3e-000000000002"
HEADER = (
    "index, name, uuid, pci.bus_id, driver_version, count, memory.total [MiB], temperature.gpu, power.draw [W], "
    "power.limit [W], ecc.errors.uncorrected.volatile.total, pcie.link.width.current, pcie.link.width.max, "
    "mig.mode.current"
)
ROWS = [
    f"{index}, NVIDIA H100 80GB HBM3, {uuid}, 00000000:{bus}:00.0, 550.54.15, 2, 81559 MiB, 34, 71.52 W, 700.00 W, 0, "
    "16, 16, [N/A]"
    for index, (uuid, bus) in enumerate([(FIRST, "1B"), (SECOND, "43")])
]
WITHOUT_UNITS = [row.replace(" MiB", "").replace(" W", "") for row in ROWS]


def csv(*rows: str, header: str = HEADER) -> str:
    return "".join(f"{line}\n" for line in (header, *rows))


@pytest.mark.parametrize("rows", [ROWS, WITHOUT_UNITS], ids=["with units", "nounits"])
def test_the_fields_give_what_the_long_report_gives(rows: list[str]) -> None:
    found = read(csv(*rows))
    gpu = found.facts["gpus"][0]

    assert (found.kind, codes(found)) == ("nvidia_smi_query", [])
    assert found.facts["driver_version"] == "550.54.15"
    assert found.facts["models"] == {"NVIDIA H100 80GB HBM3": 2}
    assert found.facts["fb_total"] == ["81559 MiB"]
    assert (found.facts["attached_gpus"], found.facts["gpus_listed"]) == (2, 2)
    assert (gpu["bus_id"], gpu["uuid"]) == ("0000:1b:00.0", FIRST)
    assert (gpu["memory_total_bytes"], gpu["temperature_c"], gpu["power_w"]) == (81559 * 2**20, 34.0, 71.52)
    assert (gpu["ecc_volatile_uncorrected"], gpu["pcie_width_current"], gpu["mig_mode"]) == (0, 16, None)


def test_versions_and_health_follow_from_the_fields() -> None:
    found = read(csv(*ROWS))
    said = {(fact.component, fact.value) for fact in component_facts(found)}
    signals = {(signal.name, signal.value) for signal in signals_in(found)}

    assert {("gpu_driver", "550.54.15"), ("gpu_count", "2"), ("gpu_memory", "81559 MiB")} <= said
    assert {("gpus_missing", 0), ("gpu_temperature_c", 34.0), ("pcie_width_share", 1.0)} <= signals


def test_figures_that_cannot_be_are_said_and_not_read() -> None:
    row = (
        ROWS[0]
        .replace("81559 MiB", "-81559 MiB")
        .replace(", 34,", ", -300,")
        .replace("700.00 W, 0,", "700.00 W, -5,")
    )
    found = read(csv(row))
    gpu = found.facts["gpus"][0]
    assert (gpu["memory_total_bytes"], gpu["temperature_c"], gpu["ecc_volatile_uncorrected"]) == (
        None,
        None,
        None,
    )
    assert "odd_value" in codes(found)


def test_a_field_that_has_two_values_says_nothing() -> None:
    twice = "index, uuid, ecc.errors.uncorrected.volatile.total, ecc.errors.uncorrected.volatile.total"
    found = read(csv(f"0, {FIRST}, 7, 0", header=twice))
    assert found.facts["gpus"][0]["ecc_volatile_uncorrected"] is None
    assert "contradictory_value" in codes(found)


def test_one_telling_field_is_enough_and_an_ordinary_word_is_not() -> None:
    assert read("driver_version\n550.54.15\n550.54.15\n").facts["driver_version"] == "550.54.15"
    with pytest.raises(Unreadable) as refused:
        read("name\nNVIDIA H100 80GB HBM3\n")
    assert refused.value.code == "unrecognised"


def test_values_without_their_names_are_refused_with_the_option_to_leave_out() -> None:
    for rows in (ROWS, WITHOUT_UNITS):
        with pytest.raises(Unreadable, match="without noheader"):
            read("\n".join(rows) + "\n")


def test_a_row_that_is_cut_is_said_and_not_read() -> None:
    found = read(csv(ROWS[0], ROWS[1][:60]))
    assert (codes(found), found.facts["gpus_listed"]) == (["cut_line", "gpus_missing"], 1)


@pytest.mark.parametrize("between", [(), (HEADER,), ("name, uuid, temperature.gpu",)], ids=str)
def test_what_comes_after_a_report_is_not_more_gpus(between) -> None:
    found = read(csv(*ROWS, *between, *ROWS))
    assert (codes(found), found.facts["gpus_listed"]) == (["several_reports"], 2)


def test_a_gpu_that_is_lost_does_not_answer_and_one_failed_sensor_is_no_loss() -> None:
    lost = ROWS[1].replace("NVIDIA H100 80GB HBM3", "[GPU is lost]")
    assert read(csv(ROWS[0], lost)).facts["gpus_not_answering"] == ["0000:43:00.0"]
    little = read(csv("0000:43:00.0, [Unknown Error]", header="pci.bus_id, temperature.gpu"))
    assert little.facts["gpus_not_answering"] == []


LIST = (
    f"GPU 0: NVIDIA H100 80GB HBM3 (UUID: {FIRST})\n"
    "  MIG 3g.40gb     Device  0: (UUID: MIG-7089d0f3-293f-58c9-8f8c-5ea666eedbde)\n"
    "  MIG 3g.40gb     Device  1: (UUID: MIG-56c30729-347f-5dd6-8da0-c3cc59e969e0)\n"
    f"GPU 1: NVIDIA H100 80GB HBM3 (UUID: {SECOND})\n"
)


def test_the_list_gives_models_and_uuids() -> None:
    found = read(LIST)

    assert (found.kind, codes(found)) == ("nvidia_smi_list", [])
    assert found.facts["models"] == {"NVIDIA H100 80GB HBM3": 2}
    assert found.facts["uuids"] == [FIRST, SECOND]
    assert [len(gpu["mig_devices"]) for gpu in found.facts["gpus"]] == [2, 0]
    assert {(fact.component, fact.value) for fact in component_facts(found)} == {
        ("gpu_model", "NVIDIA H100 80GB HBM3"),
        ("gpu_count", "2"),
    }


@pytest.mark.parametrize(
    ("text", "code"),
    [
        (LIST + LIST, "gpu_repeated"),
        (LIST[LIST.index("GPU 1") :], "gpus_missing"),
        (LIST.replace("  MIG 3g.40gb     Device  0", "  MIG 3g.40gb     Device  7"), "mig_devices_missing"),
        (LIST.replace(f"(UUID: {SECOND})", "(UUID: GPU"), "cut_line"),
    ],
)
def test_damage_of_the_list_is_said_and_nothing_is_counted(text: str, code: str) -> None:
    found = read(text)
    assert code in codes(found)
    assert code == "mig_devices_missing" or not found.lists_all
