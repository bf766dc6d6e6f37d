"""The known shapes of fabrics as graphs: meshes, switch layers, Clos networks, rings and tori."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence

import numpy as np

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.fleet.engine.graph import Edges, Graph, Ints, Medium, TopologyKind, edges


def full_mesh(
    *, endpoints: int, links_per_pair: int = 1, link_bytes_per_s: float, medium: Medium = Medium.BOARD
) -> Graph:
    """Every endpoint joined with every other. Any half is as good as any other: n²/4 pairs cross it."""
    _at_least(2, endpoints=endpoints)
    tail, head = np.triu_indices(endpoints, k=1)
    pairs = np.stack([tail, head], axis=1).astype(np.int64)
    return Graph(
        kind=TopologyKind.FULL_MESH,
        endpoints=endpoints,
        level=np.zeros(endpoints, dtype=np.int64),
        layers=(edges(pairs, links=links_per_pair, link_bytes_per_s=link_bytes_per_s, medium=medium),),
        halves=(np.arange(endpoints // 2),),
        halves_are_optimal=True,
        regular=True,
    )


def single_layer(
    *,
    endpoints: int,
    switches: int,
    links_to_each_switch: int = 1,
    link_bytes_per_s: float,
    medium: Medium = Medium.COPPER,
) -> Graph:
    """Every endpoint joined with every switch of one layer, as in an NVL72 rack."""
    _at_least(2, endpoints=endpoints)
    _at_least(1, switches=switches)
    first = np.arange(endpoints, endpoints + switches)
    down = edges(
        _all_pairs(np.arange(endpoints), first),
        links=links_to_each_switch,
        link_bytes_per_s=link_bytes_per_s,
        medium=medium,
    )
    return Graph(
        kind=TopologyKind.SINGLE_LAYER,
        endpoints=endpoints,
        level=np.repeat(np.array([0, 1], dtype=np.int64), [endpoints, switches]),
        layers=(down,),
        halves=(np.arange(endpoints // 2),),
        halves_are_optimal=True,
        regular=True,
    )


def leaf_spine(
    *,
    group_sizes: Sequence[int],
    leaves_per_group: int = 1,
    spines: int,
    planes: bool = False,
    links_to_each_leaf: int = 1,
    down_bytes_per_s: float,
    links_to_each_spine: int = 1,
    up_bytes_per_s: float,
    down_medium: Medium = Medium.COPPER,
    up_medium: Medium = Medium.OPTICAL,
    kind: TopologyKind = TopologyKind.LEAF_SPINE,
) -> Graph:
    """Groups of endpoints, each on its own leaves, and every leaf joined with every spine.

    planes: the n-th leaf of each group is joined with the n-th share of the spines only.

    Sub-domains and an upper layer are the same shape with several leaves per group. For a fixed placement
    of the switches the cut is linear in how each group is divided, and the best of the placements is concave;
    over balanced divisions its least value is at a corner, where all groups but one are whole. So with equal
    groups the half made of whole groups in order is optimal. With unequal groups it is a candidate.
    """
    _at_least(1, groups=len(group_sizes), leaves_per_group=leaves_per_group, spines=spines)
    _at_least(1, **{f"group_{place}": size for place, size in enumerate(group_sizes)})
    endpoints, leaves = sum(group_sizes), len(group_sizes) * leaves_per_group
    _at_least(2, endpoints=endpoints)
    down = _to_own_leaves(group_sizes, leaves_per_group)
    up = _all_pairs(np.arange(leaves), np.arange(leaves, leaves + spines))
    if planes:
        if spines % leaves_per_group:
            raise OutOfRange(
                say("the spines divide evenly among the planes"), spines=spines, planes=leaves_per_group
            )
        up = up[up[:, 0] % leaves_per_group == (up[:, 1] - leaves) % leaves_per_group]
    up = up + endpoints
    are_equal = len(set(group_sizes)) == 1
    return Graph(
        kind=kind,
        endpoints=endpoints,
        level=np.repeat(np.array([0, 1, 2], dtype=np.int64), [endpoints, leaves, spines]),
        layers=(
            edges(down, links=links_to_each_leaf, link_bytes_per_s=down_bytes_per_s, medium=down_medium),
            edges(up, links=links_to_each_spine, link_bytes_per_s=up_bytes_per_s, medium=up_medium),
        ),
        halves=(np.arange(endpoints // 2),),
        halves_are_optimal=are_equal,
        regular=are_equal,
    )


def fat_tree(*, radix: int, link_bytes_per_s: float, edge_medium: Medium = Medium.COPPER) -> Graph:
    """The k-ary fat tree: k pods of k/2 edge and k/2 aggregation switches, (k/2)² cores, k³/4 endpoints.

    Between switches it is optical.

    Whole pods make the best half by the argument of `leaf_spine`, applied twice.
    Source: Al-Fares, Loukissas and Vahdat 2008.
    """
    if radix < 2 or radix % 2:
        raise OutOfRange(say("the radix of a fat tree is even and 2 or more"), radix=radix)
    half = radix // 2
    endpoints, per_layer = radix * half * half, radix * half
    edge_0, agg_0, core_0 = endpoints, endpoints + per_layer, endpoints + 2 * per_layer
    hosts = [(host, edge_0 + host // half) for host in range(endpoints)]
    inside = [
        (edge_0 + pod * half + low, agg_0 + pod * half + high)
        for pod, low, high in itertools.product(range(radix), range(half), range(half))
    ]
    upward = [
        (agg_0 + pod * half + high, core_0 + high * half + core)
        for pod, high, core in itertools.product(range(radix), range(half), range(half))
    ]
    return Graph(
        kind=TopologyKind.FAT_TREE,
        endpoints=endpoints,
        level=np.repeat(
            np.array([0, 1, 2, 3], dtype=np.int64), [endpoints, per_layer, per_layer, half * half]
        ),
        layers=(
            edges(hosts, links=1, link_bytes_per_s=link_bytes_per_s, medium=edge_medium),
            edges(inside, links=1, link_bytes_per_s=link_bytes_per_s, medium=Medium.OPTICAL),
            edges(upward, links=1, link_bytes_per_s=link_bytes_per_s, medium=Medium.OPTICAL),
        ),
        halves=(np.arange(endpoints // 2),),
        halves_are_optimal=True,
        regular=True,
    )


def ring(*, endpoints: int, links: int = 1, link_bytes_per_s: float, medium: Medium = Medium.COPPER) -> Graph:
    """A ring. Any connected half has two ends, so two edges are cut."""
    _at_least(3, endpoints=endpoints)
    order = np.arange(endpoints)
    return Graph(
        kind=TopologyKind.RING,
        endpoints=endpoints,
        level=np.zeros(endpoints, dtype=np.int64),
        layers=(
            edges(
                np.stack([order, np.roll(order, -1)], axis=1),
                links=links,
                link_bytes_per_s=link_bytes_per_s,
                medium=medium,
            ),
        ),
        halves=(order[: endpoints // 2],),
        halves_are_optimal=True,
        regular=True,
    )


def torus(
    *, sides: Sequence[int], links: int = 1, link_bytes_per_s: float, medium: Medium = Medium.COPPER
) -> Graph:
    """A 2D or 3D torus; a side of 2 has one edge between its two, not two.

    Where the longest side is even, cutting across it is optimal: spreading uniform traffic over the shortest
    ways loads every edge at most as much as this cut allows. Otherwise the halves here are candidates.
    """
    if len(sides) not in (2, 3):
        raise OutOfRange(say("a torus has two or three sides"), sides=tuple(sides))
    _at_least(2, **{f"side_{axis}": side for axis, side in enumerate(sides)})
    numbers = np.arange(math.prod(sides)).reshape(tuple(sides))
    layers = tuple(
        _torus_axis(numbers, axis, links=links, link_bytes_per_s=link_bytes_per_s, medium=medium)
        for axis in range(len(sides))
    )
    half = numbers.size // 2
    orders = sorted(itertools.permutations(range(len(sides))), key=lambda axes: -sides[axes[0]])
    return Graph(
        kind=TopologyKind.TORUS_2D if len(sides) == 2 else TopologyKind.TORUS_3D,
        endpoints=numbers.size,
        level=np.zeros(numbers.size, dtype=np.int64),
        layers=layers,
        halves=tuple(numbers.transpose(axes).ravel()[:half] for axes in orders),
        halves_are_optimal=max(sides) % 2 == 0,
        regular=True,
    )


def _torus_axis(numbers: Ints, axis: int, *, links: int, link_bytes_per_s: float, medium: Medium) -> Edges:
    side = numbers.shape[axis]
    tail, head = numbers, np.roll(numbers, -1, axis=axis)
    if side == 2:
        tail, head = np.take(tail, [0], axis=axis), np.take(head, [0], axis=axis)
    pairs = np.stack([tail.ravel(), head.ravel()], axis=1)
    return edges(pairs, links=links, link_bytes_per_s=link_bytes_per_s, medium=medium)


def _to_own_leaves(group_sizes: Sequence[int], leaves_per_group: int) -> Ints:
    """Every endpoint with each leaf of its group; leaves are numbered after the endpoints."""
    endpoints = sum(group_sizes)
    group_of = np.repeat(np.arange(len(group_sizes)), group_sizes)
    leaf_of = endpoints + group_of[:, None] * leaves_per_group + np.arange(leaves_per_group)[None, :]
    return np.stack([np.repeat(np.arange(endpoints), leaves_per_group), leaf_of.ravel()], axis=1)


def _all_pairs(low: Ints, high: Ints) -> Ints:
    return np.stack([np.repeat(low, len(high)), np.tile(high, len(low))], axis=1)


def _at_least(least: int, **counts: int) -> None:
    for name, value in counts.items():
        if value < least:
            raise OutOfRange(
                say("%(name)s must be %(least)s or more", name=name, least=least), name=name, value=value
            )
