"""The accelerator catalogue as values."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.accelerators import accelerator, shipped_accelerators
from apps.core.errors import Missing


def test_units_are_bytes_and_flops_and_bandwidth_is_one_way() -> None:
    h100 = accelerator("nvidia-h100-sxm5-80gb")
    assert h100.memory_bytes == 80e9
    assert h100.dense_flops["fp8"] == 1979e12
    assert h100.scale_up.unidirectional_bytes_per_s == 450e9


def test_every_part_states_one_way_as_half_of_both() -> None:
    for part in shipped_accelerators().values():
        one_way = part.scale_up.unidirectional_bytes_per_s
        pair = part.scale_up.pairwise_unidirectional_bytes_per_s
        assert one_way is None or pair is None or pair <= one_way


def test_an_unknown_part_is_missing() -> None:
    with pytest.raises(Missing):
        accelerator("nvidia-h9000")
