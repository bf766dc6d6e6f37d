"""Accelerators as they are on record, as the driver states them, and as they are declared above it."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.accelerators import shipped_accelerators
from apps.catalogue.engine.designations import designation
from apps.environments.engine.hardware import AtOdds, CardsSaid, HardwareFault, fault_in

GB200, H100, ASCEND = "nvidia-gb200", "nvidia-h100-sxm5-80gb", "huawei-ascend-910c"


def fault(on_record: dict[str, int], **said: list[str]) -> HardwareFault | None:
    parts = shipped_accelerators()
    known = {designation(part.name) for part in parts.values()} - {""}
    return fault_in(CardsSaid(**said), on_record=on_record, parts=parts, known=known)


@pytest.mark.parametrize(
    ("on_record", "loaded", "declared", "expected"),
    [
        (8, ["8"], [], None),
        (8, ["8"], ["8"], None),
        (8, [], [], None),
        (8, ["16"], [], None),  # two dies each
        (8, ["many"], [], None),
        (8, ["1"], [], (AtOdds.MISSING, "1/8")),
        (8, ["0"], ["8"], (AtOdds.MISSING, "0/8")),
        (8, ["1", "8"], [], (AtOdds.MISSING, "1/8")),
        (8, ["8"], ["1"], (AtOdds.UNCLEAR, "8/1")),
        (4, ["7"], [], (AtOdds.UNCLEAR, "7/4")),
        (0, ["1"], ["8"], (AtOdds.UNCLEAR, "1/8")),
        (0, ["8"], [], None),  # nothing is on record that it could contradict
        (8, [], ["1"], (AtOdds.UNCLEAR, "1/8")),
    ],
)
def test_fewer_by_the_driver_fail_and_what_does_not_agree_is_unknown(on_record, loaded, declared, expected):
    found = fault({"": on_record} if on_record else {}, loaded=loaded, declared=declared)
    assert (found and (found.code, found.said)) == expected
    if found is not None:
        assert found.verdict == ("unknown" if found.code is AtOdds.UNCLEAR else "fail")


@pytest.mark.parametrize(
    ("registered", "reported", "is_another"),
    [
        (GB200, "NVIDIA H100 80GB HBM3", True),
        (GB200, "NVIDIA GB200", False),
        (GB200, "NVIDIA B200", True),
        (H100, "NVIDIA H100 80GB HBM3", False),
        (H100, "NVIDIA H100 PCIe", False),  # memory and links tell these apart
        (H100, "NVIDIA H200", True),
        (H100, "Tesla T4", False),  # in no catalogue: not judged by its name
        ("nvidia-h20-sxm-96gb", "NVIDIA H200", True),
        ("nvidia-h200-sxm-141gb", "NVIDIA H20", True),
        ("nvidia-v100-sxm2-32gb", "Tesla V100-SXM2-32GB", False),
        ("nvidia-rubin-r200", "NVIDIA H100 80GB HBM3", True),
        ("amd-mi300x", "AMD Instinct MI300X OAM", False),
        ("amd-mi300x", "AMD Instinct MI325X", True),
        ("huawei-ascend-910b3", "910B3", False),
        ("huawei-ascend-910b3", "910B1", True),
        (ASCEND, "Ascend910", False),
        (ASCEND, "910_9382", False),  # the family's word
        ("intel-gaudi2", "HL-225", False),
        ("intel-gaudi2", "HL-325L", True),
        ("of-no-catalogue", "NVIDIA H100 80GB HBM3", False),
    ],
)
def test_a_model_that_is_certainly_another_is_told(registered, reported, is_another):
    found = fault({registered: 8}, models=[reported])
    assert (found is not None) == is_another
    if found is not None:
        assert (found.code, found.found) == (AtOdds.OTHER, reported)


@pytest.mark.parametrize(
    ("registered", "loaded", "reported", "said"),
    [
        (H100, [], "81559 MiB", None),
        (H100, [], "95830 MiB", "95830 MiB ≠ 80.0 GB"),
        (GB200, [], "81559 MiB", "81559 MiB ≠ 186 GB"),
        (GB200, [], "189471 MiB", None),
        ("nvidia-a100-sxm4-80gb", [], "40960 MiB", "40960 MiB ≠ 80.0 GB"),
        ("huawei-ascend-910b3", [], "65536 MB", None),
        (ASCEND, ["16"], "65536 MB", None),  # a die of two
        (ASCEND, [], "65536 MB", "65536 MB ≠ 128 GB"),
        ("biren-br106m", [], "65536 MB", None),  # the catalogue does not know
        (H100, [], "N/A", None),
    ],
)
def test_memory_of_another_size_is_told(registered, loaded, reported, said):
    found = fault({registered: 8}, loaded=loaded, memories=[reported])
    assert (found and found.said) == said


def test_of_two_models_in_a_node_each_may_be_what_is_reported():
    both = {H100: 4, GB200: 4}
    assert fault(both, models=["NVIDIA H100 80GB HBM3", "NVIDIA GB200"]) is None
    found = fault(both, models=["NVIDIA H200"])
    assert found is not None
    assert found.said == "NVIDIA H200 ≠ H100 SXM5 80GB / GB200 (per GPU, NVL72)"
