"""From readings to component facts."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.catalogue.engine.components import Component, component, components
from apps.catalogue.engine.versions import parse
from apps.environments.engine.facts import (
    ComponentFact,
    Standing,
    component_facts,
    facts_by_node,
    kinds_that_state,
)
from apps.evidence.engine.reading import Reading, ReadingWarning
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).resolve().parents[2] / "corpus"


@cache
def expected() -> dict[str, dict[str, Any]]:
    files: dict[str, dict[str, Any]] = yaml.safe_load((CORPUS / "expected.yaml").read_text())["files"]
    return files


def reading_of(name: str) -> Reading:
    entry = expected()[name]
    return Reading(kind=entry["kind"], facts=entry["facts"])


def values(
    facts: tuple[ComponentFact, ...], component_id: str, standing: Standing | None = None
) -> list[str]:
    return [
        fact.value
        for fact in facts
        if fact.component == component_id and (standing is None or fact.standing is standing)
    ]


def test_a_gpu_report_gives_driver_and_vbios_with_the_number_of_gpus() -> None:
    facts = component_facts(
        Reading(
            kind="nvidia_smi_xml",
            facts={
                "driver_version": "570.86.15",
                "attached_gpus": 8,
                "vbios": {"96.00.A5.00.01": 7, "96.00.A5.00.02": 1},
            },
        )
    )

    assert ComponentFact(component="gpu_driver", value="570.86.15") in facts
    assert ComponentFact(component="gpu_vbios", value="96.00.A5.00.01", count=7) in facts
    assert ComponentFact(component="gpu_vbios", value="96.00.A5.00.02", count=1) in facts
    assert values(facts, "gpu_count") == ["8"]


def test_a_report_that_was_cut_states_versions_and_no_counts() -> None:
    text = (CORPUS / "nvidia-smi-xml/h100x8-570.86.15.xml").read_text()
    whole, cut = (component_facts(read(Source.of_text(part))) for part in (text, text[:20_000]))
    assert {fact.count for fact in whole if fact.component == "gpu_vbios"} == {8}
    assert [fact.count for fact in cut if fact.component == "gpu_vbios"] == [None]
    assert values(cut, "gpu_driver") == values(whole, "gpu_driver")
    assert {fact.count for fact in cut} == {None}


def test_a_table_that_was_cut_does_not_state_how_many_cards_there_are() -> None:
    facts = {"chips": 3, "version": "23.0.rc2", "names": ["910B3"]}
    cut = ReadingWarning(code="no_end", message="the table of processes is missing; the output may be cut")
    assert values(component_facts(Reading(kind="npu_smi", facts=facts)), "gpu_count")
    assert not values(component_facts(Reading(kind="npu_smi", facts=facts, warnings=(cut,))), "gpu_count")


def test_what_python_imports_is_loaded_and_what_the_package_list_says_is_declared() -> None:
    facts = component_facts(reading_of("collect-env/h200x8-sections.txt"))

    assert values(facts, "torch", Standing.LOADED) == ["2.7.1+cu126"]
    assert values(facts, "torch", Standing.DECLARED) == ["2.7.1"]
    assert values(facts, "nccl", Standing.DECLARED) == ["2.26.2"]
    assert values(facts, "nccl", Standing.LOADED) == []


@pytest.mark.parametrize(
    ("name", "kernel"),
    [
        ("collect-env/a100x8-torch2.4.0.txt", "5.15.0-107-generic"),
        ("collect-env/mi250x-rocm6.2.txt", "4.18.0-553.22.1.el8_10.x86_64"),
        ("collect-env/gb200x4-sections-arm64.txt", "6.8.0-1028-nvidia-64k"),
    ],
)
def test_the_kernel_is_read_from_the_platform_line(name: str, kernel: str) -> None:
    assert values(component_facts(reading_of(name)), "kernel") == [kernel]


def test_the_devices_that_python_sees_are_declared_since_a_container_may_hide_some() -> None:
    facts = component_facts(reading_of("collect-env/h200x8-sections.txt"))

    assert values(facts, "gpu_count", Standing.DECLARED) == ["8"]
    assert values(facts, "gpu_count", Standing.LOADED) == []


def test_the_running_library_is_a_loaded_version() -> None:
    tests = Reading(kind="nccl_tests", facts={"library_code": 22907, "nccl_version_line": None})
    old = Reading(kind="nccl_tests", facts={"nccl_version_line": "NCCL version 2.21.5+cuda12.4"})
    log = Reading(kind="nccl_debug_log", facts={"nccl_versions": ["2.18.6+cuda11.8", "2.10.3+cuda11.0"]})

    assert values(component_facts(tests), "nccl", Standing.LOADED) == ["22907"]
    assert values(component_facts(old), "nccl", Standing.LOADED) == ["2.21.5+cuda12.4"]
    assert values(component_facts(log), "nccl", Standing.LOADED) == ["2.18.6+cuda11.8", "2.10.3+cuda11.0"]


def test_adapters_are_counted_by_firmware() -> None:
    devices = [{"name": "mlx5_0", "fw": "28.43.2026"}, {"name": "mlx5_1", "fw": "28.37.1014"}]
    facts = component_facts(Reading(kind="ibv_devinfo", facts={"devices": devices}))

    assert {(fact.value, fact.count) for fact in facts} == {("28.43.2026", 1), ("28.37.1014", 1)}


def test_a_setting_that_the_device_does_not_have_is_no_fact() -> None:
    facts = component_facts(
        Reading(kind="nvidia_smi_q", facts={"mig_mode_current": ["N/A"], "driver_version": "N/A"})
    )

    assert [(fact.component, fact.value) for fact in facts] == [("gpu_driver", "N/A")]


def test_a_node_list_gives_facts_by_node_name() -> None:
    source = Source.of_bytes((CORPUS / "k8s-nodes/constructed-gb200-2racks.json").read_bytes())
    found = facts_by_node(read(source))

    assert list(found) == ["gb200-a01", "gb200-a02", "gb200-b01", "gb200-b02"]
    assert values(found["gb200-b02"], "gpu_driver", Standing.DECLARED) == ["570.158.01"]
    assert values(found["gb200-b02"], "kernel", Standing.LOADED) == ["6.8.0-1028-nvidia-64k"]
    assert values(found["gb200-b02"], "host_os") == ["Ubuntu 22.04.5 LTS"]


def test_a_value_that_is_not_stated_gives_no_fact() -> None:
    facts = component_facts(
        Reading(kind="nvidia_smi_q", facts={"driver_version": None, "vbios": {}, "models": None})
    )

    assert facts == ()


def test_a_kind_without_components_gives_nothing() -> None:
    assert component_facts(Reading(kind="nvidia_smi_topo", facts={"gpus": 8})) == ()
    assert facts_by_node(Reading(kind="nvidia_smi_q", facts={"driver_version": "570.26"})) == {}


READABLE = [name for name, entry in expected().items() if entry["facts"].get("acceptable", True)]


@pytest.mark.parametrize("name", READABLE)
def test_every_version_in_the_corpus_has_a_known_form(name: str) -> None:
    reading = read(Source.of_bytes((CORPUS / name).read_bytes()), kind=expected()[name]["kind"])
    facts = [
        *component_facts(reading),
        *(fact for facts in facts_by_node(reading).values() for fact in facts),
    ]
    unread = [
        (fact.component, fact.value)
        for fact in facts
        if not parse(fact.value, component(fact.component).scheme).is_known
    ]

    assert unread == []
    assert {fact.component for fact in facts} <= set(components())


@pytest.mark.parametrize("entry", components().values(), ids=lambda entry: entry.id)
def test_the_catalogue_says_which_kinds_a_component_is_read_from(entry: Component) -> None:
    assert tuple(sorted(entry.read_from)) == kinds_that_state(entry.id)
