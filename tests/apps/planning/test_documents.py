"""Documents: what cannot be kept is refused with its place, whatever else is right."""

from __future__ import annotations

import pytest

from apps.core.errors import Invalid
from apps.planning.documents import configuration_words, in_order, model_name, require_storable
from apps.planning.services.computing import check_document
from tests.apps.planning.documents import SEARCH, small


@pytest.mark.parametrize(
    ("document", "pointer"),
    [
        (small() | {"note": "a\0b"}, "/note"),
        (small() | {"a\0b": 1}, ""),
        (small() | {"far": float("inf")}, "/far"),
        (small() | {"list": [1, float("nan")]}, "/list/1"),
        (small() | {"note": "x" * 200_000}, ""),
    ],
)
def test_what_a_database_cannot_hold_is_refused(document, pointer):
    with pytest.raises(Invalid) as refused:
        require_storable(document)
    assert refused.value.errors[0].pointer == pointer


def test_objects_in_objects_without_end_are_refused():
    nested: dict = {}
    for _level in range(50):
        nested = {"in": nested}
    with pytest.raises(Invalid):
        require_storable(small() | {"deep": nested})


@pytest.mark.parametrize(
    "kept",
    [
        {"recompute": 1, "schedule": 3, "placement": 0},
        {"recompute": "selective", "schedule": "zero_bubble", "placement": "tp-cp-dp-pp"},
    ],
)
def test_results_that_hold_codes_or_words_are_read_alike(kept):
    words = {"recompute": "selective", "schedule": "zero_bubble", "placement": "tp-cp-dp-pp"}
    assert configuration_words({"tp": 2} | kept) == {"tp": 2} | words


@pytest.mark.parametrize("asked", [small(tp=float("inf")), SEARCH | {"seq_len": float("inf")}])
def test_an_infinite_size_is_invalid(asked):
    with pytest.raises(Invalid):
        check_document(asked)


def test_inputs_are_shown_in_the_order_in_which_people_read_them():
    shuffled = {"parallel": {"seq_len": 1, "tp": 2, "odd": 3}, "model": {"vocab": 1, "layers": 2}}
    ordered = in_order(shuffled)
    assert list(ordered) == ["model", "parallel"]
    assert list(ordered["parallel"]) == ["tp", "seq_len", "odd"]
    assert ordered == shuffled


def test_a_shape_of_the_catalogue_has_its_name():
    shape = {"layers": 80, "hidden": 8192, "ffn_hidden": 28672, "heads": 64, "kv_heads": 8, "vocab": 128256}
    assert model_name(shape) == "Llama 3 70B"
    assert model_name(shape | {"layers": 79}) == ""
