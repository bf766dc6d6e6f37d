"""Mixed generations: what an equal split loses, what a proportional one leaves, and same-model groups."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.errors import Invalid
from apps.fleet.engine.description import Domain, Node, Part, described
from apps.fleet.engine.mixed import ComputeSource, Generation, largest_remainder, model_groups, split_work


def generation(model: str, cards: int, flops: float, source: str = "measured") -> Generation:
    return Generation(model=model, cards=cards, compute_flops=flops, source=ComputeSource(source))


def test_an_equal_split_waits_for_the_slow_half() -> None:
    plan = split_work([generation("fast", 8, 3e14), generation("slow", 8, 1e14)], units=64)
    assert [share.units for share in plan.equal.shares] == [32, 32]
    assert plan.equal.loss_share == pytest.approx(0.5)
    assert plan.equal.imbalance == pytest.approx(0.5)
    assert [share.units for share in plan.proportional.shares] == [48, 16]
    assert plan.proportional.loss_share == pytest.approx(0.0)
    assert plan.mixed_sources is False


def test_whole_units_leave_a_small_loss_that_is_shown() -> None:
    plan = split_work([generation("fast", 8, 2e14), generation("slow", 8, 1e14)], units=4)
    assert [share.units for share in plan.proportional.shares] == [3, 1]
    assert plan.proportional.loss_share == pytest.approx(1 - 8 / 9)


def test_measured_beside_catalogue_figures_is_said() -> None:
    plan = split_work([generation("a", 1, 1.0), generation("b", 1, 1.0, "catalogue")], units=2)
    assert plan.mixed_sources is True


weights = st.lists(st.floats(0.1, 1e6), min_size=1, max_size=8)


@given(weights=weights, units=st.integers(1, 10_000))
def test_shares_sum_to_the_whole_and_are_within_one_unit_of_exact(weights: list[float], units: int) -> None:
    shares = largest_remainder(weights, units)
    assert sum(shares) == units
    for share, weight in zip(shares, weights, strict=True):
        assert abs(share - units * weight / sum(weights)) < 1 + 1e-6


@given(flops=st.lists(st.floats(1e12, 1e15), min_size=2, max_size=5))
def test_a_proportional_split_of_much_work_loses_nearly_nothing(flops: list[float]) -> None:
    plan = split_work([generation(str(n), 8, one) for n, one in enumerate(flops)], units=10_000_000)
    assert plan.proportional.loss_share < 0.01


def test_nodes_of_one_model_in_one_domain_make_a_group() -> None:
    fleet = described(
        says=list(Part),
        domains=[Domain(name="d1"), Domain(name="d2")],
        nodes=[
            Node(name="a", domain="d1", model="H100", cards=8),
            Node(name="b", domain="d1", model="H200", cards=8),
            Node(name="c", domain="d1", model="H100", cards=8),
            Node(name="d", domain="d2", model="H100"),
            Node(name="e", domain="d2"),
        ],
    )
    assert [(one.domain, one.model, one.nodes, one.cards) for one in model_groups(fleet)] == [
        ("d1", "H100", ("a", "c"), 16),
        ("d1", "H200", ("b",), 8),
        ("d2", "H100", ("d",), None),
    ]


def test_everything_wrong_is_named() -> None:
    with pytest.raises(Invalid) as caught:
        split_work([generation("a", 0, -1.0)], units=0)
    assert [error.pointer for error in caught.value.errors] == [
        "/generations/0/cards",
        "/generations/0/compute_flops",
        "/units",
    ]
