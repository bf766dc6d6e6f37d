"""The validation as people and machines see it: the figures of the engine, and why a bar is not met."""

from __future__ import annotations

import pytest

from apps.planning.bar_words import NAMES, WHY
from apps.planning.engine.bars import FITTED, bars, is_fitted
from apps.planning.queries.validation import validation

pytestmark = pytest.mark.django_db


def test_every_bar_is_met_or_says_why_not():
    for bar in bars(validation().runs):
        assert bar.code in NAMES
        assert bar.met or WHY.get(bar.code), bar


def test_bars_are_those_of_the_runs():
    found = {bar.code: bar for bar in bars(validation().runs)}
    assert found["korthikanti"].count == 6 and found["korthikanti"].reached <= 0.05
    assert found["coverage"].count == len(validation().runs)
    assert found["spearman_175b"].met and not found["spearman_18.4b"].met
    assert bars(()) == []


def test_some_sources_are_fitted_and_some_held_out():
    sources = {one.source for one in validation().sources}
    assert all(any(part in source for source in sources) for part in FITTED)
    assert 0 < sum(map(is_fitted, sources)) < len(sources)


def test_the_page_shows_what_is_not_met(vic, client_of):
    page = client_of(vic).get("/plans/validation/").content.decode()
    assert "not met" in page and "rank correlation, vTrain 18.4B" in page
    assert "Six of the ten layouts" in page and "held out of the fit" in page


def test_the_api_gives_the_same_figures(vic, api):
    body = api(vic).get("/api/v1/planning/validation/").json()
    assert body["overall"]["runs"] == len(validation().runs)
    assert body["overall"]["mean_absolute_error"] == pytest.approx(validation().overall.mean_absolute_error)
    assert {bar["code"]: bar["met"] for bar in body["bars"]} == {
        bar.code: bar.met for bar in bars(validation().runs)
    }
