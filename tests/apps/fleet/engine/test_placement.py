"""The placement check: Megatron-LM's groups, violations one by one, better orders, and bad input."""

from __future__ import annotations

import json
from collections.abc import Callable

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.core.errors import Invalid
from apps.core.verdicts import Verdict
from apps.fleet.engine import rank_maps
from apps.fleet.engine.description import Domain, FleetDescription, Node, Part, described
from apps.fleet.engine.layouts import describe
from apps.fleet.engine.parallel import Dimension, ParallelSizes, groups, size_errors
from apps.fleet.engine.placement import Boundary, check, seats_of
from apps.fleet.engine.rank_inputs import read_ranks
from apps.fleet.engine.templates import template


def fleet_of(key: str, *domains: str) -> FleetDescription:
    layout = template(key)
    assert layout is not None
    parts = [describe(layout, domain=domain) for domain in domains]
    return described(
        says=parts[0].says,
        domains=[one for part in parts for one in part.domains],
        nodes=[one for part in parts for one in part.nodes],
    )


def ranks_on(fleet: FleetDescription) -> tuple[str, ...]:
    return tuple(node.name for node in fleet.nodes for _ in range(node.cards or 0))


def codes(caught: pytest.ExceptionInfo[Invalid]) -> list[str]:
    return [error.code for error in caught.value.errors]


def test_groups_of_tp2_dp2_pp2_are_those_of_megatron() -> None:
    sizes = ParallelSizes(tp=2, dp=2, pp=2)
    assert groups(sizes, Dimension.TP) == ((0, 1), (2, 3), (4, 5), (6, 7))
    assert groups(sizes, Dimension.DP) == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert groups(sizes, Dimension.PP) == ((0, 4), (1, 5), (2, 6), (3, 7))


def test_experts_divide_the_same_ranks_anew() -> None:
    sizes = ParallelSizes(tp=2, dp=4, ep=2)
    assert groups(sizes, Dimension.EP) == ((0, 2), (1, 3), (4, 6), (5, 7))
    assert groups(ParallelSizes(tp=2, dp=4, ep=4, expert_tp=1), Dimension.EP) == ((0, 1, 2, 3), (4, 5, 6, 7))


def test_another_order_puts_pipeline_neighbours_side_by_side() -> None:
    sizes = ParallelSizes(tp=2, dp=2, pp=2)
    assert groups(sizes, Dimension.PP, order="tp-pp-cp-ep-dp") == ((0, 2), (1, 3), (4, 6), (5, 7))


small = st.sampled_from([1, 2, 3])


@given(tp=small, cp=small, dp=small, pp=small, dimension=st.sampled_from(list(Dimension)))
def test_the_groups_of_every_dimension_hold_each_rank_once(
    tp: int, cp: int, dp: int, pp: int, dimension: Dimension
) -> None:
    sizes = ParallelSizes(tp=tp, cp=cp, dp=dp, pp=pp, ep=dp)
    ranks = sorted(rank for group in groups(sizes, dimension) for rank in group)
    assert ranks == list(range(sizes.world))


def test_384_card_figures_are_a_plan_for_sixteen_domains() -> None:
    sizes = ParallelSizes(tp=8, ep=64, pp=6, dp=128)
    assert sizes.world == 6144 == 16 * 384
    assert size_errors(sizes, order="tp-cp-ep-dp-pp", ranks=384)[0].code == "world_mismatch"


def test_a_sound_placement_passes_and_its_pipelines_may_cross() -> None:
    fleet = fleet_of("72-as-9x8", "d1", "d2")
    found = check(seats_of(fleet, ranks_on(fleet)), ParallelSizes(tp=8, dp=9, pp=2))
    assert (found.verdict, found.violations, found.better) == (Verdict.PASS, (), None)
    crossings = {one.dimension: one.cross_domains for one in found.crossings}
    assert crossings[Dimension.PP] == 72
    assert crossings[Dimension.TP] == crossings[Dimension.DP] == 0


def test_expert_groups_that_leave_the_domain_are_named_one_by_one() -> None:
    fleet = fleet_of("72-as-9x8", "d1", "d2")
    found = check(seats_of(fleet, ranks_on(fleet)), ParallelSizes(tp=1, dp=144, ep=48))
    assert [(one.dimension, one.group, one.where) for one in found.violations] == [
        (Dimension.EP, 1, ("d1", "d2"))
    ]
    assert found.violations[0].ranks == tuple(range(48, 96))
    assert found.verdict is Verdict.FAIL
    assert found.better is None  # 48 and 24 in each domain: one group has to cross


def test_a_tp_group_over_a_split_node_is_warned_of_and_mended() -> None:
    fleet = fleet_of("144-as-4x36", "d1")
    found = check(seats_of(fleet, ranks_on(fleet)), ParallelSizes(tp=4, dp=36))
    assert found.verdict is Verdict.PASS  # split nodes are cut at four cards
    found = check(seats_of(fleet, ranks_on(fleet)), ParallelSizes(tp=8, dp=18))
    named = [
        (one.group, one.boundary, one.where) for one in found.violations if one.dimension is Dimension.TP
    ]
    assert named == [
        (4, Boundary.SUBDOMAIN, ("d1-s1", "d1-s2")),
        (13, Boundary.SUBDOMAIN, ("d1-s3", "d1-s4")),
    ]
    assert found.verdict is Verdict.WARN


def test_hosts_in_a_mixed_order_get_a_better_one() -> None:
    fleet = fleet_of("72-as-18x4", "d1", "d2")
    ours = [node.name for node in fleet.nodes if node.domain == "d1"]
    others = [node.name for node in fleet.nodes if node.domain == "d2"]
    zipped = tuple(name for pair in zip(ours, others, strict=True) for node in pair for name in (node,) * 4)
    found = check(seats_of(fleet, zipped), ParallelSizes(tp=8, dp=18))
    assert len(found.violations) == 18
    assert found.better is not None
    assert found.better.violations == (0, 0)
    assert sorted((seat.node, seat.index) for seat in found.better.seats) == sorted(
        (seat.node, seat.index) for seat in found.seats
    )
    again = check(found.better.seats, ParallelSizes(tp=8, dp=18), order=found.better.order)
    assert again.verdict is Verdict.PASS


def test_homes_that_hold_no_whole_number_of_groups_do_not_shift_those_after_them() -> None:
    domains = [f"d{number}" for number in range(1, 9)]
    nodes = [Node(name=f"{domain}-{n}", domain=domain, cards=1) for domain in domains for n in range(9)]
    fleet = described(
        says=[Part.NODES, Part.DOMAINS, Part.CARDS],
        domains=[Domain(name=domain) for domain in domains],
        nodes=nodes,
    )
    found = check(seats_of(fleet, ranks_on(fleet)), ParallelSizes(tp=8, dp=9))
    assert len(found.violations) == 7
    assert found.better is not None
    assert found.better.violations == (1, 0)


def test_another_order_of_dimensions_is_proposed_where_it_helps() -> None:
    fleet = fleet_of("8-switched", "d1", "d2")
    sizes = ParallelSizes(tp=8, pp=2)
    found = check(seats_of(fleet, ranks_on(fleet)), sizes, order="pp-tp-cp-ep-dp")
    assert len(found.violations) == 8 // 8 * 2
    assert found.better is not None
    assert found.better.violations == (0, 0)


def test_unknown_hosts_and_crowded_nodes_are_all_named() -> None:
    fleet = fleet_of("8-switched", "d1")
    loose = described(
        says=fleet.says, domains=fleet.domains, nodes=[*fleet.nodes, Node(name="loose", cards=8)]
    )
    with pytest.raises(Invalid) as caught:
        seats_of(loose, ("ghost", "loose", "phantom", *["d1-n01"] * 9))
    assert codes(caught) == ["unknown_host", "no_domain", "unknown_host", "too_many_ranks"]
    assert [error.pointer for error in caught.value.errors] == [
        "/ranks/0",
        "/ranks/1",
        "/ranks/2",
        "/ranks/3",
    ]


def test_a_fleet_that_does_not_count_cards_still_places_ranks() -> None:
    fleet = described(
        says=[Part.NODES, Part.DOMAINS],
        domains=[Domain(name="d")],
        nodes=[Node(name="a", domain="d"), Node(name="b", domain="d")],
    )
    assert [seat.index for seat in seats_of(fleet, ("a", "a", "b"))] == [0, 1, 0]


@pytest.mark.parametrize(
    ("sizes", "order", "expected"),
    [
        (ParallelSizes(tp=0, pp=-1), "tp-cp-ep-dp-pp", ["too_small", "too_small"]),
        (ParallelSizes(tp=8), "tp-cp-dp-pp", ["bad_order"]),
        (ParallelSizes(tp=8), "tp-cp-ep-dp-pp", ["world_mismatch"]),
        (ParallelSizes(tp=4, dp=4, ep=3), "tp-cp-ep-dp-pp", ["expert_mismatch"]),
        (ParallelSizes(tp=4, dp=2, ep=2, pp=2), "tp-cp-ep-pp-dp", ["bad_order"]),
    ],
)
def test_sizes_that_do_not_go_together_are_refused(
    sizes: ParallelSizes, order: str, expected: list[str]
) -> None:
    fleet = fleet_of("72-as-9x8", "d1")
    ranks = ranks_on(fleet)[:16]
    with pytest.raises(Invalid) as caught:
        check(seats_of(fleet, ranks), sizes, order=order)
    assert codes(caught) == expected


def test_hostfiles_of_open_mpi_and_mpich_are_read() -> None:
    text = "# first rack\nsn01 slots=2\nsn02:1 # half\n\nsn03\n"
    assert rank_maps.from_hostfile(text, slots_default=2) == ("sn01", "sn01", "sn02", "sn03", "sn03")


def test_every_bad_line_of_a_hostfile_is_named() -> None:
    with pytest.raises(Invalid) as caught:
        rank_maps.from_hostfile("a slots=x\nb:0\nc\nd what", slots_default=8)
    assert [error.pointer for error in caught.value.errors] == ["/hostfile/1", "/hostfile/2", "/hostfile/4"]


def test_a_slurm_node_list_puts_a_block_of_ranks_on_each_node() -> None:
    assert rank_maps.from_node_list("sn[01-02]", per_node=2) == ("sn01", "sn01", "sn02", "sn02")


def test_pods_go_by_index_or_by_the_number_of_their_name() -> None:
    pods = [{"name": "train-1", "node": "b"}, {"name": "x", "index": 0, "node": "a"}]
    assert rank_maps.from_pods(pods, per_pod=2) == ("a", "a", "b", "b")


WIDE = """
NAME       READY   STATUS    RESTARTS      AGE   IP          NODE     NOMINATED NODE   READINESS GATES
worker-1   1/1     Running   2 (3h ago)    5h    10.0.0.12   b        <none>           <none>
worker-0   1/1     Running   0             5h    10.0.0.11   a        <none>           <none>
"""
PENDING = "NAME   NODE\nworker-0   a\nworker-1   <none>\n"
ITEMS = [
    {"metadata": {"name": "train-1-x7k2p", "labels": {"batch.kubernetes.io/job-completion-index": "1"}}},
    {"metadata": {"name": "train-0"}, "spec": {"nodeName": "a"}},
]


def test_pods_are_read_as_kubectl_prints_them() -> None:
    assert read_ranks(WIDE, per_node=2) == ("a", "a", "b", "b")
    placed = [ITEMS[0] | {"spec": {"nodeName": "b"}}, ITEMS[1]]
    assert read_ranks(json.dumps({"kind": "List", "items": placed}), per_node=1) == ("a", "b")


@pytest.mark.parametrize("text", [PENDING, json.dumps({"items": ITEMS}), '{"items": [1]}', '{"items": []}'])
def test_pods_without_a_node_are_named(text: str) -> None:
    with pytest.raises(Invalid) as caught:
        read_ranks(text, per_node=1)
    assert caught.value.errors[0].pointer.startswith("/pods")


@pytest.mark.parametrize(
    "value", [["a", "b"], {"1": "b", "0": "a"}, [{"rank": 1, "node": "b"}, {"rank": 0, "node": "a"}]]
)
def test_json_comes_in_three_forms(value: object) -> None:
    assert rank_maps.from_json(value) == ("a", "b")


@pytest.mark.parametrize(
    ("read", "expected"),
    [
        (lambda: rank_maps.from_json({"0": "a", "3": "b"}), ["hole"]),
        (lambda: rank_maps.from_json({"0": "a", "00": "b"}), ["duplicate_rank"]),
        (lambda: rank_maps.from_json({"-1": "a", "x": "b"}), ["bad_rank", "bad_rank"]),
        (lambda: rank_maps.from_json(["a", None, 3]), ["no_node", "no_node"]),
        (lambda: rank_maps.from_json("sn01"), ["wrong_shape"]),
        (lambda: rank_maps.from_json({}), ["empty"]),
        (lambda: rank_maps.from_hostfile("# nothing", slots_default=8), ["empty"]),
        (lambda: rank_maps.from_hostfile("a slots=99999999", slots_default=8), ["too_many_ranks"]),
        (lambda: rank_maps.from_node_list("sn[01-02],sn01", per_node=8), ["duplicate_node"]),
        (lambda: rank_maps.from_node_list("sn[1-999999]", per_node=8), ["too_many_names"]),
        (lambda: rank_maps.from_node_list("sn[1", per_node=8), ["bad_host_list"]),
        (lambda: rank_maps.from_node_list("sn1", per_node=0), ["too_small"]),
        (lambda: rank_maps.from_pods([{"name": "x", "node": "a"}], per_pod=1), ["missing"]),
    ],
)
def test_bad_rank_maps_say_what_is_wrong(read: Callable[[], object], expected: list[str]) -> None:
    with pytest.raises(Invalid) as caught:
        read()
    assert codes(caught) == expected
