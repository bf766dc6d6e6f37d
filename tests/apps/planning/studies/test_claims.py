"""The claims check over HTTP: golden figures, contradictions, and input that cannot be."""

from __future__ import annotations

import pytest

from tests.apps.planning.engine.test_memory import GOLDEN

pytestmark = pytest.mark.django_db
PAIRS = [row for row in GOLDEN["effective_compute"] if "b" in row]


@pytest.fixture
def page(client_of, vic):
    """The text of the study's page for a query."""
    return lambda **query: client_of(vic).get("/plans/studies/claims/", query).content.decode()


@pytest.mark.parametrize("row", PAIRS)
def test_speedup_and_time_saved_are_golden_on_the_page(page, row):
    text = page(
        cards_before=row["a"]["cards"],
        mfu_before_percent=100 * row["a"]["mfu"],
        cards_after=row["b"]["cards"],
        mfu_after_percent=100 * row["b"]["mfu"],
    )
    assert f"{row['speedup']:.3f} ×" in text
    assert f"{100 * row['time_saved']:.1f} %" in text
