"""Reference tables: they load whole, hang together, and answer the questions asked of them."""

from __future__ import annotations

import pytest

from apps.catalogue.engine import cuda_driver, fault_codes, reference, torch_stack, variables
from apps.catalogue.engine.version_tables import shipped_tables
from apps.catalogue.engine.versions import Scheme, parse


def test_a_table_that_does_not_exist_is_an_error() -> None:
    with pytest.raises(FileNotFoundError):
        reference.table("no_such_table")


@pytest.mark.parametrize(
    ("cuda", "floor"),
    [("11.8", "450.80.02"), ("12.8.93", "525.60.13"), ("12040", "525.60.13"), ("13.0", "580.65.06")],
)
def test_the_driver_floor_follows_the_cuda_major(cuda: str, floor: str) -> None:
    found = cuda_driver.driver_floor_of(cuda, shipped_tables().floors)

    assert found is not None
    assert found.min_driver == floor


@pytest.mark.parametrize("cuda", ["N/A", "9.2", "twelve"])
def test_no_floor_is_guessed_for_an_unknown_cuda(cuda: str) -> None:
    assert cuda_driver.driver_floor_of(cuda, shipped_tables().floors) is None


def test_every_driver_in_the_tables_is_a_version_that_can_be_compared() -> None:
    tables = shipped_tables()
    drivers = [kit.driver for kit in tables.toolkits if kit.driver]
    drivers += [floor.min_driver for floor in tables.floors.values()]

    assert [text for text in drivers if not parse(text, Scheme.DOTTED_NUMERIC).is_ordered] == []


def test_a_toolkit_is_found_by_its_minor_version() -> None:
    kit = cuda_driver.toolkit_of("12.8.93", shipped_tables().toolkits)

    assert kit is not None
    assert kit.version.startswith("12.8")
    assert kit.driver == "570.26"
    assert cuda_driver.toolkit_of("12.7", shipped_tables().toolkits) is None


def test_a_branch_knows_whether_it_has_ended() -> None:
    ended, living = shipped_tables().branches[535], shipped_tables().branches[580]

    assert ended.is_ended
    assert not living.is_ended


@pytest.mark.parametrize(
    ("torch", "cuda", "nccl"),
    [("2.8.0+cu128", "12.8", "2.27.3"), ("2.4.0", "12.1", "2.20.5"), ("2.11.0", "13.0", "2.28.9")],
)
def test_a_torch_release_is_found_for_any_of_its_builds(torch: str, cuda: str, nccl: str) -> None:
    release = torch_stack.torch_release_of(torch, shipped_tables().releases)

    assert release is not None
    assert (release.default_cuda, release.nccl) == (cuda, nccl)


@pytest.mark.parametrize("torch", ["2.7.0a0+git295f2ed", "1.0.0", "unknown", "2.7.1.dev20250724"])
def test_a_nightly_or_unknown_torch_has_no_pins(torch: str) -> None:
    assert torch_stack.torch_release_of(torch, shipped_tables().releases) is None


@pytest.mark.parametrize(
    ("torch", "cuda"),
    [("2.8.0+cu128", "12.8"), ("2.4.0+cu121", "12.1"), ("2.4.0+cpu", None), ("2.4.0", None), ("2+cux", None)],
)
def test_a_torch_build_names_its_cuda(torch: str, cuda: str | None) -> None:
    assert torch_stack.cuda_build_of(torch) == cuda


def test_nodes_times_cards_is_the_size_of_every_system() -> None:
    wrong = [
        row["id"]
        for row in reference.table("supernodes")["systems"]
        if row["nodes"]
        and row["accelerators_per_node"]
        and row["nodes"] * row["accelerators_per_node"] != row["accelerators"]
    ]

    assert wrong == []


def test_every_fault_code_has_a_known_action_and_severity() -> None:
    codes = fault_codes.xid_codes()

    assert {code.action for code in codes.values()} <= set(fault_codes.action_order())
    assert {code.severity for code in codes.values()} == {"info", "warning", "critical"}
    assert codes[79].action == "reboot_node"
    assert codes[40].meaning == codes[39].meaning
    assert codes[40].mnemonic == "ROBUST_CHANNEL_CE1_ERROR"
    assert fault_codes.sxid_codes()[20034].severity == "potentially_fatal"


def test_the_heavier_case_of_a_link_unit_decides() -> None:
    assert fault_codes.link_decodes()[(149, "NETIR_LINK_DOWN", "linkfatal")].action == "reset_gpu"
    assert fault_codes.link_decodes()[(145, "RLW_REMAP", "nonfatal")].action == "follow_linked"


def test_variables_carry_their_legal_values_as_text() -> None:
    level = variables.variables()["NCCL_P2P_LEVEL"]

    assert level.values == ("LOC", "NVL", "PIX", "PXB", "PHB", "SYS")
    assert level.is_case_sensitive
    assert variables.variables()["NCCL_IB_TIMEOUT"].high == 31
    assert variables.variables()["TORCH_NCCL_BLOCKING_WAIT"].old_name == "NCCL_BLOCKING_WAIT"
    assert "NCCL_TIMEOUT" in variables.not_variables()
    assert not set(variables.not_variables()) & variables.known_names()
