"""The allocation what-if: what each policy strands, that nothing is taken twice, and that a seed repeats."""

from __future__ import annotations

from collections import Counter

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from apps.core.errors import Invalid
from apps.fleet.engine.allocation import AllocationResult, JobClass, compare, play
from apps.fleet.engine.layouts import describe
from apps.fleet.engine.pool import Policy, PoolNode, pool_of
from apps.fleet.engine.templates import template


def nodes(domains: int, per_domain: int, cards: int = 8) -> list[PoolNode]:
    return [
        PoolNode(name=f"d{d}-n{n}", domain=f"d{d}", cards=cards)
        for d in range(1, domains + 1)
        for n in range(1, per_domain + 1)
    ]


SMALL = JobClass(name="small", cards=8, count=4, duration_s=100)
BIG = JobClass(name="big", cards=64, count=1, duration_s=50, first_at_s=10)


def test_an_eight_card_job_that_gets_a_whole_domain_of_64_strands_56() -> None:
    one = JobClass(name="small", cards=8, count=1, duration_s=100)
    result = play(nodes(1, 8), [one, BIG], policy=Policy.WHOLE_DOMAIN, seed=1)
    (stranded,) = result.stranded
    assert (stranded.domain, stranded.cards, stranded.jobs) == ("d1", 56, ("small",))
    assert stranded.nodes == tuple((f"d1-n{n}", 8) for n in range(2, 9))


def test_an_eight_card_job_scattered_over_a_domain_of_64_keeps_56_from_a_big_job() -> None:
    one = JobClass(name="small", cards=8, count=1, duration_s=100)
    result = play(nodes(1, 8), [one, BIG], policy=Policy.PER_CARD, seed=1)
    assert result.stranded[0].cards == 56
    assert len(result.stranded[0].nodes) == 8
    assert result.jobs[1].wait_s == 90


def test_topology_aware_jobs_share_one_domain_and_leave_the_other_whole() -> None:
    result = play(nodes(2, 8), [SMALL, BIG], policy=Policy.TOPOLOGY_AWARE, seed=1)
    assert {name for job in result.jobs[:4] for name, _ in job.nodes} == {f"d1-n{n}" for n in range(1, 5)}
    assert result.jobs[4].wait_s == 0
    assert [one.domain for one in result.stranded] == ["d1"]


def test_gang_without_topology_cuts_both_domains_so_the_big_job_spreads() -> None:
    result = play(nodes(2, 8), [SMALL, BIG], policy=Policy.GANG, seed=1)
    assert result.samples[0].largest_block < 64
    assert result.jobs[4].domains == 2


def test_topology_aware_takes_the_smallest_part_that_holds_the_job() -> None:
    made = [
        PoolNode(name=f"n{n}", domain="d", sub_domain=f"s{n // 4}", cards=8, busy=4 if n == 5 else 0)
        for n in range(8)
    ]
    mix = [
        JobClass(name="half", cards=4, count=1, duration_s=10),
        JobClass(name="hall", cards=24, count=1, duration_s=10, first_at_s=1),
    ]
    result = play(made, mix, policy=Policy.TOPOLOGY_AWARE, seed=1)
    assert result.jobs[0].nodes == (("n5", 4),)
    assert [name for name, _ in result.jobs[1].nodes] == ["n4", "n6", "n7"]


def test_pods_that_hold_cards_and_wait_for_more_can_lock_each_other() -> None:
    mix = [JobClass(name="pair", cards=12, count=2, duration_s=10)]
    locked = play(nodes(1, 2), mix, policy=Policy.PER_CARD, seed=3)
    gang = play(nodes(1, 2), mix, policy=Policy.GANG, seed=3)
    assert (locked.deadlocked, locked.never_started) == (True, 2)
    assert (gang.deadlocked, gang.never_started, gang.makespan_s) == (False, 0, 20)


def test_a_job_larger_than_the_fleet_never_starts() -> None:
    mix = [JobClass(name="huge", cards=999, count=1, duration_s=1)]
    for result in compare(nodes(2, 2), mix, seed=1):
        assert result.never_started == 1
        assert result.mean_wait_s is None


def test_a_job_larger_than_a_domain_gets_whole_ones() -> None:
    mix = [JobClass(name="wide", cards=96, count=1, duration_s=1)]
    aware, whole = compare(nodes(3, 8), mix, seed=1, policies=(Policy.TOPOLOGY_AWARE, Policy.WHOLE_DOMAIN))
    assert aware.jobs[0].domains == whole.jobs[0].domains == 2


def test_cards_that_are_busy_from_the_start_are_never_given_out() -> None:
    made = [PoolNode(name="a", domain="d", cards=8, busy=6), PoolNode(name="b", domain="e", cards=8)]
    result = play(made, [JobClass(name="j", cards=10, count=1, duration_s=1)], policy=Policy.GANG, seed=1)
    assert sorted(result.jobs[0].nodes) == [("a", 2), ("b", 8)]
    kept = play(
        made, [JobClass(name="j", cards=2, count=2, duration_s=1)], policy=Policy.WHOLE_DOMAIN, seed=1
    )
    assert {job.nodes for job in kept.jobs} == {(("b", 2),)}
    assert kept.makespan_s == 2


def test_a_pool_of_a_real_fleet_knows_homes_and_busy_cards() -> None:
    layout = template("144-as-4x36")
    assert layout is not None
    pool = pool_of(describe(layout, domain="d1"), busy={"d1-n02": 8})
    assert (pool[0].sub_domain, pool[4].sub_domain, pool[1].busy) == ("d1-s1", "", 8)
    job = JobClass(name="j", cards=8, count=1, duration_s=1)
    result = play(pool, [job], policy=Policy.TOPOLOGY_AWARE, seed=1)
    assert result.jobs[0].nodes == (("d1-n01", 8),)


mixes = st.lists(
    st.builds(
        JobClass,
        name=st.sampled_from(["a", "b", "c"]),
        cards=st.integers(1, 40),
        count=st.integers(1, 5),
        duration_s=st.floats(1, 100),
        first_at_s=st.floats(0, 50),
        mean_gap_s=st.floats(0, 20),
    ),
    min_size=1,
    max_size=3,
)


def running_at(result: AllocationResult, at_s: float) -> Counter[str]:
    cards: Counter[str] = Counter()
    for job in result.jobs:
        if job.started_at_s is not None and job.started_at_s <= at_s < (job.ended_at_s or 0):
            cards.update(dict(job.nodes))
    return cards


@settings(max_examples=40, deadline=None)
@given(mix=mixes, policy=st.sampled_from(list(Policy)), seed=st.integers(0, 99))
def test_no_card_is_given_twice_and_every_job_gets_what_it_asked_for(
    mix: list[JobClass], policy: Policy, seed: int
) -> None:
    result = play(nodes(3, 2), mix, policy=policy, seed=seed)
    for job in result.jobs:
        if job.started_at_s is not None:
            assert sum(cards for _, cards in job.nodes) == job.cards
            assert job.started_at_s >= job.submitted_at_s
            running = running_at(result, job.started_at_s)
            assert all(cards <= 8 for cards in running.values())
    for sample in result.samples:
        assert 0 <= sample.fragmentation <= 1
        assert sample.stranded_cards <= sample.free_cards <= 48
    assert 0 <= result.utilisation <= 1 + 1e-9


@settings(max_examples=15, deadline=None)
@given(mix=mixes, policy=st.sampled_from(list(Policy)))
def test_the_same_seed_gives_the_same_result(mix: list[JobClass], policy: Policy) -> None:
    assert play(nodes(2, 3), mix, policy=policy, seed=7) == play(nodes(2, 3), mix, policy=policy, seed=7)


@settings(max_examples=25, deadline=None)
@given(mix=mixes, seed=st.integers(0, 9))
def test_topology_aware_keeps_every_job_that_fits_a_domain_inside_one(mix: list[JobClass], seed: int) -> None:
    result = play(nodes(3, 2), mix, policy=Policy.TOPOLOGY_AWARE, seed=seed)
    assert all(job.domains == 1 for job in result.jobs if job.cards <= 16 and job.nodes)


def test_progress_rises_to_the_number_of_jobs_and_can_stop_the_play() -> None:
    told: list[tuple[int, int]] = []
    compare(nodes(1, 8), [SMALL], seed=1, progress=lambda done, total: told.append((done, total)))
    assert told[-1] == (16, 16)
    assert [done for done, _ in told] == sorted(done for done, _ in told)

    def stop(done: int, total: int) -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        play(nodes(1, 8), [SMALL], policy=Policy.GANG, seed=1, progress=stop)


def test_bad_mixes_and_nodes_name_every_field() -> None:
    bad = JobClass(name="x", cards=0, count=0, duration_s=0, first_at_s=-1, mean_gap_s=float("nan"))
    with pytest.raises(Invalid) as caught:
        play(nodes(1, 1), [bad], policy=Policy.GANG, seed=1)
    assert [error.pointer.rsplit("/", 1)[1] for error in caught.value.errors] == [
        "cards",
        "count",
        "duration_s",
        "first_at_s",
        "mean_gap_s",
    ]
    twice = [PoolNode(name="a", domain="d", cards=8, busy=9), PoolNode(name="a", domain="d", cards=0)]
    with pytest.raises(Invalid) as caught:
        play(twice, [SMALL], policy=Policy.GANG, seed=1)
    assert [error.pointer for error in caught.value.errors] == [
        "/nodes/0/busy",
        "/nodes/1/name",
        "/nodes/1/cards",
    ]
