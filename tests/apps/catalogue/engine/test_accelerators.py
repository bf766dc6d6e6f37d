"""The accelerator catalogue as values."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.accelerators import accelerator
from apps.catalogue.engine.overlays import Kind, shipped_rows
from apps.core.errors import Missing


def test_units_are_bytes_and_flops_and_bandwidth_is_one_way() -> None:
    h100 = accelerator("nvidia-h100-sxm5-80gb")
    assert h100.memory_bytes == 80e9
    assert h100.dense_flops["fp8"] == 1979e12
    assert h100.scale_up.unidirectional_bytes_per_s == 450e9


def test_no_pair_of_parts_has_more_than_a_part_has_into_its_domain() -> None:
    links = [row["scale_up"] for row in shipped_rows(Kind.ACCELERATOR).values()]
    pairs = [(link["pairwise_unidirectional_gb_s"], link["unidirectional_gb_s"]) for link in links]
    known = [(pair, one_way) for pair, one_way in pairs if None not in (pair, one_way)]
    assert known and all(pair <= one_way for pair, one_way in known)


def test_an_unknown_part_is_missing() -> None:
    with pytest.raises(Missing):
        accelerator("nvidia-h9000")
