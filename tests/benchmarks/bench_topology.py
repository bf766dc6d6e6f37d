"""Speed of the topology maths, best of three. Run: python tests/benchmarks/bench_topology.py

Exits with 1 where a figure is above its limit: bisection of any 1,024-port fabric 2 s, links of 576
accelerators as drawn 0.3 s.
"""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apps.core.units import gb
from apps.fleet.engine import shapes
from apps.fleet.engine.allocation import JobClass, play
from apps.fleet.engine.bisection import bisection
from apps.fleet.engine.description import Domain, FleetDescription, Node, Part, Span, described
from apps.fleet.engine.graph import Graph, free_graph
from apps.fleet.engine.importing import Mode, plan_import
from apps.fleet.engine.layouts import describe
from apps.fleet.engine.link_places import places
from apps.fleet.engine.link_sketch import sketch
from apps.fleet.engine.metrics import analyse
from apps.fleet.engine.parallel import ParallelSizes
from apps.fleet.engine.placement import Seat, check
from apps.fleet.engine.pool import Policy, PoolNode
from apps.fleet.engine.schedulers.writing import FORMATS
from apps.fleet.engine.tables import Table
from apps.fleet.engine.templates import template
from apps.fleet.engine.wiring import joined_as

LINK = gb(50)


def fabrics() -> dict[str, Graph]:
    """Fabrics of 1,024 ports, one of each kind, and loose links that no structure helps with."""
    fat_tree = shapes.fat_tree(radix=16, link_bytes_per_s=LINK)
    leaves = {"spines": 16, "down_bytes_per_s": LINK, "up_bytes_per_s": LINK}
    return {
        "full mesh": shapes.full_mesh(endpoints=1024, link_bytes_per_s=LINK),
        "one switch layer": shapes.single_layer(endpoints=1024, switches=8, link_bytes_per_s=LINK),
        "sub-domains and upper layer": shapes.leaf_spine(
            group_sizes=(32,) * 32, leaves_per_group=4, **leaves
        ),
        "leaf-spine": shapes.leaf_spine(group_sizes=(32,) * 32, **leaves),
        "fat tree": fat_tree,
        "ring": shapes.ring(endpoints=1024, link_bytes_per_s=LINK),
        "torus 32x32": shapes.torus(sides=(32, 32), link_bytes_per_s=LINK),
        "torus 8x8x16": shapes.torus(sides=(8, 8, 16), link_bytes_per_s=LINK),
        "loose links (fat tree)": free_graph(
            endpoints=1024, level=fat_tree.level.tolist(), layers=fat_tree.layers
        ),
    }


def fleet(nodes: int, per_domain: int, cards: int) -> FleetDescription:
    """Nodes in domains, each domain in two sub-domains."""
    names = [f"d{number}" for number in range(nodes // per_domain)]
    return described(
        says=[Part.NODES, Part.DOMAINS, Part.SUBDOMAINS, Part.CARDS],
        domains=[Domain(name=name, sub_domains=(f"{name}-s0", f"{name}-s1")) for name in names],
        nodes=[
            Node(
                name=f"{name}-n{n}",
                domain=name,
                cards=cards,
                spans=(Span(sub_domain=f"{name}-s{n % 2}", cards=cards),),
            )
            for name in names
            for n in range(per_domain)
        ],
    )


def best(work: Callable[[], object], *, times: int = 3) -> float:
    """Seconds of the fastest of a few runs."""
    spans_s = []
    for _ in range(times):
        started = time.perf_counter()
        work()
        spans_s.append(time.perf_counter() - started)
    return min(spans_s)


def report(what: str, took_s: float, limit_s: float | None = None) -> bool:
    verdict = "" if limit_s is None else f"  (limit {limit_s} s)"
    print(f"{what:<46} {took_s:8.3f} s{verdict}")
    return limit_s is None or took_s <= limit_s


def bench_fabrics() -> bool:
    fine = True
    for name, graph in fabrics().items():
        fine &= report(f"bisection, 1,024 ports, {name}", best(lambda graph=graph: bisection(graph)), 2.0)
    tree = fabrics()["fat tree"]
    return report("all figures, 1,024 ports, fat tree", best(lambda: analyse(tree))) and fine


def bench_links() -> bool:
    rack = template("72-as-18x4")
    assert rack is not None
    layout = replace(rack, nodes=72, accelerators_per_node=8)
    domain = joined_as(layout, describe(layout, domain="d"), domain="d")
    return report(
        "links of 576 accelerators, drawn", best(lambda: places(sketch(domain), width=1, height=1)), 0.3
    )


def bench_plans() -> None:
    large = fleet(10_000, 10, 8)
    for form, write in FORMATS.items():
        report(f"write {form}, 10,000 nodes", best(lambda write=write: write(large), times=1))
    rows = {
        Table.DOMAINS: [{"name": domain.name} for domain in large.domains],
        Table.NODES: [{"name": node.name, "domain": node.domain} for node in large.nodes],
        Table.ACCELERATORS: [
            {"node": node.name, "index": index, "uuid": f"GPU-{node.name}-{index}"}
            for node in large.nodes
            for index in range(8)
        ],
    }
    took_s = best(lambda: plan_import(rows, current={}, mode=Mode.UPSERT), times=1)
    report("import plan, 10,000 nodes, 80,000 cards", took_s)


def bench_placement_and_allocation() -> None:
    seats = [
        Seat(node=f"d{card // 384}-n{card // 8}", index=card % 8, domain=f"d{card // 384}")
        for card in range(6144)
    ]
    sizes = ParallelSizes(tp=8, ep=64, pp=6, dp=128, expert_tp=1)
    report("placement check, 6,144 ranks", best(lambda: check(seats, sizes)))
    nodes = [PoolNode(name=f"d{n // 9}-n{n}", domain=f"d{n // 9}", cards=8) for n in range(10_000)]
    mix = [
        JobClass(name="small", cards=8, count=1500, duration_s=3600, mean_gap_s=5),
        JobClass(name="large", cards=576, count=40, duration_s=7200, mean_gap_s=200),
    ]
    for policy in Policy:
        took_s = best(lambda policy=policy: play(nodes, mix, policy=policy, seed=1), times=1)
        report(f"1,540 jobs on 10,000 nodes, {policy.value}", took_s)


def main() -> int:
    fine = bench_fabrics()
    fine &= bench_links()
    bench_plans()
    bench_placement_and_allocation()
    return 0 if fine else 1


if __name__ == "__main__":
    sys.exit(main())
