"""Speed of the drift engine: seconds for growing fleets. Run: python tests/benchmarks/bench_drift_engine.py"""

from __future__ import annotations

import gc
import random
import sys
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apps.catalogue.engine.components import components
from apps.environments.engine.drift import NodeReport, Reported, evaluate
from apps.environments.engine.rules import entry_for

NOW = datetime(2026, 11, 29, tzinfo=UTC)
COMPONENTS = 25
SIZES = (1_000, 10_000, 100_000)


def fleet(size: int) -> list[NodeReport]:
    """Nodes of which one in a hundred differs in one component, each with values of its own objects."""
    rng = random.Random(7)
    names = list(components())[:COMPONENTS]
    reports = []
    for number in range(size):
        odd = rng.randrange(COMPONENTS) if rng.random() < 0.01 else -1
        reports.append(
            NodeReport(
                node=f"node-{number:06}",
                reported={
                    name: Reported(
                        loaded=(f"12.{2 if index == odd else 1}.{index}",),
                        seen_at=NOW - timedelta(minutes=number % 50),
                    )
                    for index, name in enumerate(names)
                },
            )
        )
    return reports


def main() -> None:
    entries = [
        entry_for(component, f"12.1.{index}")
        for index, component in enumerate(list(components().values())[:COMPONENTS])
    ]
    for size in SIZES:
        reports = fleet(size)
        gc.collect()
        gc.freeze()  # the fleet is the caller's; only what the engine makes is to be walked by the collector
        started = time.perf_counter()
        drift = evaluate(entries=entries, nodes=reports, now=NOW, stale_after_s=86_400)
        took_s = time.perf_counter() - started
        found = f"{len(drift.findings)} findings, {len(drift.groups)} groups"
        print(f"{size:>7} nodes x {COMPONENTS}: {took_s:.3f} s, {found}")


if __name__ == "__main__":
    main()
