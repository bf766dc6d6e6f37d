"""The component catalogue."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.components import RuleKind, component, components
from apps.catalogue.engine.reference import table
from apps.catalogue.engine.versions import Scheme


def test_the_catalogue_names_each_component_once() -> None:
    rows = table("components")["components"]

    assert len(rows) == len(components())
    assert len({entry.label for entry in components().values()}) == len(rows)


@pytest.mark.parametrize(
    "wanted",
    [
        "gpu_driver",
        "gpu_vbios",
        "nic_firmware",
        "nccl",
        "rccl",
        "hccl",
        "cudnn",
        "torch",
        "os",
        "kernel",
        "container_image",
        "cann",
        "torch_npu",
        "npu_firmware",
        "dtk",
        "fabric_manager",
        "nvswitch_firmware",
    ],
)
def test_the_catalogue_covers_what_a_matrix_locks(wanted: str) -> None:
    assert components()[wanted].id == wanted


def test_firmware_is_uniform_by_default() -> None:
    rules = {entry.rule for entry in components().values() if entry.area == "firmware"}

    assert rules == {RuleKind.UNIFORM}


def test_an_unknown_component_is_compared_as_opaque_text() -> None:
    custom = component("our_scheduler")

    assert (custom.label, custom.scheme, custom.rule) == ("our_scheduler", Scheme.OPAQUE, RuleKind.EXACT)
