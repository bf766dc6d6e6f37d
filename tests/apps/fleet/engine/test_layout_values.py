"""A layout as plain values: the same again, and every wrong field named."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.errors import Invalid
from apps.fleet.engine.layout_values import as_json, as_values, from_values
from apps.fleet.engine.layouts import Layout
from apps.fleet.engine.templates import TEMPLATES

SMALL: dict[str, Any] = {
    "nodes": 2,
    "accelerators_per_node": 4,
    "shape": "single_layer",
    "tiers": [{"switches": 2, "link_bytes_per_s": 50e9}],
}


@pytest.mark.parametrize("layout", TEMPLATES, ids=lambda one: one.key)
def test_every_ready_layout_comes_back_the_same_through_json(layout: Layout) -> None:
    assert from_values(json.loads(json.dumps(as_values(layout)))) == layout


def test_four_fields_make_a_layout() -> None:
    layout = from_values(SMALL)
    assert (layout.key, layout.accelerators, layout.unidirectional_bytes_per_s) == ("free", 8, 100e9)


def test_missing_unknown_and_mistyped_fields_are_all_named() -> None:
    with pytest.raises(Invalid) as caught:
        from_values(
            {
                "nodes": "two",
                "shape": "star",
                "planes": 1,
                "sides": [2, "x"],
                "colour": "red",
                "tiers": [7, {"switches": True, "link_bytes_per_s": float("nan"), "speed": 1}],
            }
        )
    assert {(error.pointer, error.code) for error in caught.value.errors} == {
        ("/nodes", "invalid"),
        ("/accelerators_per_node", "required"),
        ("/shape", "invalid"),
        ("/planes", "invalid"),
        ("/sides", "invalid"),
        ("/colour", "unknown_field"),
        ("/tiers/0", "invalid"),
        ("/tiers/0/link_bytes_per_s", "required"),
        ("/tiers/1/switches", "invalid"),
        ("/tiers/1/link_bytes_per_s", "invalid"),
        ("/tiers/1/speed", "unknown_field"),
    }


@pytest.mark.parametrize("text", ["[" * 5000, "{", "7", "[]x"])
def test_a_cell_that_holds_no_layout_is_refused(text: str) -> None:
    with pytest.raises(Invalid):
        as_json(text)


def test_values_of_the_right_type_are_checked_as_a_layout() -> None:
    with pytest.raises(Invalid) as caught:
        from_values({**SMALL, "nodes": 0})
    assert [error.pointer for error in caught.value.errors] == ["/nodes"]


anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=6,
)


@given(changes=st.dictionaries(st.sampled_from([*as_values(TEMPLATES[0])]), anything, max_size=4))
def test_no_values_at_all_break_the_reader(changes: dict[str, Any]) -> None:
    try:
        layout = from_values({**SMALL, **changes})
    except Invalid as error:
        assert error.errors
    else:
        assert layout.accelerators >= 2
