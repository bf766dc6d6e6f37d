"""Runs for tests: recorded from real output of the corpus, into a domain as large as it was."""

from __future__ import annotations

from typing import Any

from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.services import record_runs
from apps.core import clock, digest
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source
from apps.fleet.models import Cluster, Domain, Node
from tests import factories
from tests.support import corpus

TWO_RACKS = "nccl-tests/gb200x144-2rack-allreduce-rank-list-cut.log"
ONE_RACK = "nccl-tests/gb200x72-1rack-allreduce-rank-list-cut.log"
TWENTY_RACKS = "nccl-tests/gb200x1440-20rack-allreduce-rank-list-cut.log"


def domain_of(cluster: Cluster, *, nodes: int = 18, per_node: int = 8) -> Domain:
    """A domain of GB200 with 900 GB/s one way per accelerator."""
    domain = factories.domain(
        cluster,
        "sn",
        accelerator_model="nvidia-gb200",
        unidirectional_bytes_per_s=900e9,
        scale_out_bytes_per_s=50e9,
    )
    for index in range(nodes):
        factories.node(cluster, f"sn-{index:02d}", domain=domain, accelerators=per_node, index=index)
    return domain


def recorded(
    domain: Domain, name: str = TWO_RACKS, *, nodes: list[Node] | None = None, **changed: Any
) -> list[BenchmarkRun]:
    """The runs of a file of the corpus, handed in for the whole domain or some of its nodes.

    changed: facts that are other.
    """
    data = corpus.read(name)
    reading = read(Source.of_bytes(data))
    warnings = [
        {"code": w.code, "message": w.message, "line": w.line, "text": w.text} for w in reading.warnings
    ]
    return record_runs(
        cluster=domain.cluster,
        domain=domain,
        nodes=list(Node.objects.in_use().under(domain)) if nodes is None else nodes,
        facts={**reading.facts, **changed},
        sha256=digest.of_text(name + repr(sorted(changed))),
        received_at=clock.now(),
        warnings=warnings,
    )


def accepted(domain: Domain) -> BenchmarkRun:
    """An all-reduce over the whole domain that passes."""
    return recorded(domain, collective="all_reduce")[0]
