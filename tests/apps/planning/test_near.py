"""How the page of a search that found nothing says what would help."""

from __future__ import annotations

from typing import Any

import pytest

from apps.planning.engine.nearest import shortfall
from apps.planning.engine.reading_search import read_search
from apps.planning.near import near_context
from tests.apps.planning.engine.test_nearest import TOO_SMALL


@pytest.fixture(scope="module")
def answer() -> dict[str, Any]:
    return shortfall(read_search(TOO_SMALL)).to_json()


@pytest.mark.parametrize(
    ("code", "value", "words"),
    [
        ("reserve_share", 0.0346, "Keep no more than 3.4 % of the memory free"),
        ("capacity_bytes", 98.32e9, "Accelerators with at least 99.0 GB of memory"),
        ("capacity_bytes", 140.2e9, "Accelerators with at least 141 GB of memory"),
    ],
)
def test_a_figure_that_is_named_as_a_remedy_does_fit(answer, code, value, words):
    (remedy, *_others) = answer["remedies"]
    (row,) = near_context({**answer, "remedies": [remedy | {"code": code, "value": value}]})["remedy_rows"]
    assert row["words"] == words
