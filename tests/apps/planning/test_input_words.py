"""What a plan's document is called on pages: words for every name that the planner knows, and one form of a value."""

from __future__ import annotations

import re
from copy import deepcopy

import pytest
from django.utils.translation import override

from apps.planning.documents import _ORDER
from apps.planning.engine.rules import REASONS
from apps.planning.engine.search import Objective
from apps.planning.engine.workload import Framework
from apps.planning.found import rejected_word
from apps.planning.input_words import ASSUMED, FRAMEWORKS, LAYOUT, MODEL, OBJECTIVES, SYSTEM, shown_value
from apps.planning.page import assumption_rows, value_rows
from apps.planning.services.computing import answer_to
from tests.apps.planning.documents import SMALL

CODE = re.compile(r"[a-z]+_[a-z_]+")
PARTS = {"model", "system", "parallel", "top"}


def test_every_name_of_a_document_has_a_word():
    assert set(_ORDER) - PARTS <= {*MODEL, *SYSTEM, *LAYOUT}


@pytest.mark.parametrize("language", ["en", "zh-hans"])
@pytest.mark.parametrize("words", [MODEL, SYSTEM, LAYOUT, ASSUMED, OBJECTIVES, FRAMEWORKS])
def test_no_word_is_a_name_of_the_code(words, language):
    with override(language):
        assert [str(word) for word in words.values() if CODE.fullmatch(str(word))] == []


def test_every_choice_has_a_word():
    assert set(OBJECTIVES) == {one.value for one in Objective}
    assert set(FRAMEWORKS) == {one.value for one in Framework}


def test_every_assumption_of_an_estimate_has_a_word_with_its_name_beside_it():
    result = answer_to(deepcopy(SMALL))
    rows = assumption_rows(result, {"scale_up_busbw_gb_s": 810.41, "step_scale": 1.02, "source": "run 2"})
    assert len(rows) > 10
    assert [row["code"] for row in rows if not row["code"] or CODE.fullmatch(str(row["name"]))] == []


def test_a_figure_that_a_team_named_keeps_its_path():
    result = {"assumptions": [{"name": "dense_tflops.bf16", "value": 2500.0, "source": "the plan"}]}
    assert assumption_rows(result, {})[0] == {
        "name": "dense_tflops.bf16",
        "code": "",
        "value": "2,500",
        "source": "the plan",
        "measured": False,
    }


@pytest.mark.parametrize(
    ("name", "value", "shown"),
    [
        ("reserve_share", 0.1, "10.0 %"),
        ("objective", "tokens_per_s", "most tokens per second"),
        ("recompute", ["none", "full"], "none, full"),
        ("gated_mlp", True, "yes"),
        ("vocab", 128256, "128,256"),
        ("scale_up_gb_s", 50.0, "50"),
        ("scale_up_gb_s", -1.5, "\N{MINUS SIGN}1.5"),
        ("capacity_bytes", 186e9, "186 GB"),
        ("precision", "bf16", "bf16"),
        ("routed_domains", None, "—"),
    ],
)
def test_a_value_is_shown_in_one_form(name, value, shown):
    assert shown_value(name, value) == shown


def test_objects_in_objects_are_named_by_both():
    rows = value_rows({"overlap": {"tp": True}}, LAYOUT)
    assert rows == [{"name": "hidden behind compute · tensor (TP)", "value": "yes"}]


@pytest.mark.parametrize("code", REASONS)
def test_no_reason_of_a_rejection_holds_a_name_of_the_code(code):
    assert not CODE.search(str(rejected_word(code)))
