"""Counts of accelerators: what is on record, what the driver states, and what is declared above it."""

from __future__ import annotations

import pytest

from apps.launches.engine.accelerators import CountFault, fault_in


@pytest.mark.parametrize(
    ("on_record", "loaded", "declared", "fault"),
    [
        (8, ["8"], [], None),
        (8, ["8"], ["8"], None),
        (8, [], [], None),
        (8, ["16"], [], None),  # two dies each
        (8, ["many"], [], None),
        (8, ["1"], [], ("fail", 1, 8)),
        (8, ["0"], ["8"], ("fail", 0, 8)),
        (8, ["1", "8"], [], ("fail", 1, 8)),
        (8, ["8"], ["1"], ("unknown", 8, 1)),
        (0, ["1"], ["8"], ("unknown", 1, 8)),
        (8, [], ["1"], ("unknown", 1, 8)),
    ],
)
def test_fewer_by_the_driver_fail_and_what_does_not_agree_is_unknown(on_record, loaded, declared, fault):
    found = fault_in(on_record=on_record, loaded=loaded, declared=declared)
    expected = fault and CountFault(verdict=fault[0], found=fault[1], held_against=fault[2])
    assert found == expected
