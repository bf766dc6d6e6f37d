"""Rack power, cooling bands, rooms, and the cost of tokens."""

from __future__ import annotations

import dataclasses

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.engine.accelerators import accelerator
from apps.core.errors import OutOfRange
from apps.planning.engine.cost import (
    Block,
    Offer,
    Prices,
    better_buy,
    break_even_speedup,
    cost_per_million_tokens,
    marginal_gains,
    sensitivity,
    total_cost,
    yearly_cost,
)
from apps.planning.engine.operations import cooling_bands, power_figure, power_source, published_racks
from apps.planning.engine.power import (
    Feed,
    RackParts,
    Room,
    cooling_for,
    energy_j_per_token,
    exceeds_band,
    fit_room,
    rack_power,
)
from tests.apps.planning.engine.test_memory import GOLDEN

NVL72 = RackParts(cards=72, card_w=1200, node_overhead_share=0.35, switch_trays=9, switch_tray_kw=1.0)
PRICES = Prices(capital_per_card=40_000, years=4, energy_per_kwh=0.1, it_kw_per_card=1.4)


def test_cooling_bands_are_golden() -> None:
    shipped = {band.id: [band.low_kw, band.high_kw] for band in cooling_bands()}
    assert shipped == GOLDEN["cooling_kw_per_rack"]


def test_rack_power_is_the_sum_of_its_parts() -> None:
    power = rack_power(NVL72)
    assert power.cards_kw == pytest.approx(86.4)
    assert power.total_kw == pytest.approx(86.4 * 1.35 + 9)


def overhead_share(rack_kw: float, cards: int, card_kw: float, rest_kw: float = 0.0) -> float:
    """What of a published power is neither cards nor the rest, against the cards."""
    return (rack_kw - cards * card_kw - rest_kw) / (cards * card_kw)


def test_the_overhead_follows_from_the_rack_that_its_source_names() -> None:
    (rack,) = (one for one in published_racks() if one.name == "GB200 NVL72")
    card_w = accelerator("nvidia-gb200").tdp_w
    assert card_w == 1200
    rest = 9 * power_figure("switch_tray_kw") + 2.0
    low, high = (overhead_share(kw, 72, card_w / 1000, rest) for kw in (rack.low_kw, rack.high_kw))
    assert low < power_figure("node_overhead_share") < high
    said = power_source("node_overhead_share")
    assert f"{low:.2f} to {high:.2f}" in said and f"{rack.low_kw:g} to {rack.high_kw:g} kW" in said
    assert f"has {overhead_share(10.2, 8, 0.7):.2f}" in said


@pytest.mark.parametrize(
    ("kw", "band"),
    [(10, "air"), (20, "cold_plate"), (40, "cold_plate"), (60, "immersion"), (125, "immersion")],
)
def test_the_weakest_cooling_that_carries_a_rack_is_chosen(kw: float, band: str) -> None:
    assert cooling_for(kw).id == band


def test_a_rack_may_be_above_what_a_way_of_cooling_carries() -> None:
    cold_plate = next(band for band in cooling_bands() if band.id == "cold_plate")
    assert exceeds_band(125, cold_plate) and not exceeds_band(45, cold_plate)


def test_redundant_feeds_carry_half() -> None:
    feed = Feed(volts=400, amperes=63, feeds=4)
    assert feed.usable_kw == pytest.approx(3**0.5 * 400 * 63 * 2 * 0.8 / 1000)
    assert dataclasses.replace(feed, redundant=False).usable_kw == pytest.approx(2 * feed.usable_kw)


@pytest.mark.parametrize(
    ("change", "racks", "limit"),
    [
        ({}, 4, "power"),
        ({"racks": 3}, 3, "racks"),
        ({"cooling_kw_per_rack": 50}, 0, "cooling"),
        ({"feed": Feed(volts=400, amperes=32, feeds=2)}, 0, "feed"),
    ],
)
def test_the_first_limit_of_a_room_is_named(change: dict, racks: int, limit: str) -> None:
    room = dataclasses.replace(Room(it_kw=500, racks=10, cooling_kw_per_rack=150), **change)
    fit = fit_room(room, rack_kw=125, racks_per_domain=1)
    assert (fit.racks, fit.limit) == (racks, limit)
    assert fit.facility_kw == pytest.approx(fit.it_kw * room.pue)


def test_only_whole_domains_fit() -> None:
    fit = fit_room(Room(it_kw=900, racks=10, cooling_kw_per_rack=150), rack_kw=125, racks_per_domain=2)
    assert (fit.racks, fit.domains) == (6, 3)


def test_energy_per_token() -> None:
    assert energy_j_per_token(it_kw=100, pue=1.2, tokens_per_s=60_000) == pytest.approx(2.0)


def test_a_year_costs_the_sum_of_its_parts() -> None:
    year = yearly_cost(PRICES, 100)
    assert year.capital == 1_000_000
    assert year.energy == pytest.approx(140 * 1.3 * 8766 * 0.1)
    assert year.total == pytest.approx(year.capital + year.interest + year.energy + year.upkeep)
    assert total_cost(PRICES, 100) == pytest.approx(4 * year.total)


@given(speed=st.floats(1e3, 1e9), cards=st.integers(1, 10_000))
def test_cost_per_token_falls_with_speed_and_rises_with_lost_time(speed: float, cards: int) -> None:
    cost = cost_per_million_tokens(PRICES, cards, tokens_per_s=speed)
    assert cost_per_million_tokens(PRICES, cards, tokens_per_s=2 * speed) == pytest.approx(cost / 2)
    assert cost_per_million_tokens(PRICES, cards, tokens_per_s=speed, goodput=0.8) == pytest.approx(
        cost / 0.8
    )


def test_marginal_gains_fall_and_a_step_that_gains_nothing_has_no_price() -> None:
    gains = marginal_gains(
        PRICES, [Block(cards=c, tokens_per_s=t) for c, t in ((72, 1.0), (144, 1.8), (288, 1.8))]
    )
    assert [gain.added_cards for gain in gains] == [72, 144]
    first = gains[0].marginal_cost_per_million
    assert first is not None and first > cost_per_million_tokens(PRICES, 72, tokens_per_s=1.0)
    assert gains[1].marginal_cost_per_million is None


def test_the_better_buy_is_the_cheaper_token() -> None:
    dear = dataclasses.replace(PRICES, capital_per_card=60_000)
    ordinary = Offer(name="ordinary", prices=PRICES, cards=72, tokens_per_s=100)
    break_even = break_even_speedup(dear, PRICES, 72)
    slow = Offer(name="supernode", prices=dear, cards=72, tokens_per_s=100 * break_even * 0.99)
    fast = dataclasses.replace(slow, tokens_per_s=100 * break_even * 1.01)
    assert better_buy(ordinary, slow)[0].name == "ordinary"
    assert better_buy(ordinary, fast)[0].name == "supernode"
    assert better_buy(ordinary, fast)[1] == pytest.approx(0.01, rel=1e-6)


def test_sensitivity_lists_the_widest_swing_first() -> None:
    swings = sensitivity(PRICES, 72, tokens_per_s=1e5)
    widths = [abs(s.high - s.low) for s in swings]
    assert widths == sorted(widths, reverse=True)
    assert swings[0].name in ("tokens_per_s", "years")


def test_impossible_prices_are_refused() -> None:
    with pytest.raises(OutOfRange):
        dataclasses.replace(PRICES, years=0)
    with pytest.raises(OutOfRange):
        cost_per_million_tokens(PRICES, 8, tokens_per_s=0)
