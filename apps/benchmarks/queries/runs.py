"""Runs: which there are, and whether they are as fast as they should be."""

from __future__ import annotations

from django.db.models import QuerySet

from apps.benchmarks.engine.acceptance import Acceptance, Measured, accept
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.fleet.models import Accelerator, Domain, LifeCycle


def runs_visible(actor: Actor) -> QuerySet[BenchmarkRun]:
    """Runs of clusters that the actor may read, newest first."""
    rows = BenchmarkRun.objects.select_related("cluster", "domain", "matrix_version__matrix")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def run_for(actor: Actor, run_id: int, right: Right = Right.READ) -> BenchmarkRun:
    """One run. Raises Missing, NotAllowed."""
    run = runs_visible(actor).filter(pk=run_id).first()
    if run is None:
        raise Missing("there is no such run, or you may not see it")
    actor.require(right, run.cluster.scope_id)
    return run


def acceptance_of(run: BenchmarkRun) -> Acceptance:
    """The verdict on a run against the theory of its domain."""
    measured = Measured(
        collective=run.collective,
        ranks=run.ranks,
        size_bytes=run.max_size_bytes,
        busbw_bytes_per_s=run.busbw_bytes_per_s,
        wrong_total=run.wrong_total,
        is_complete=run.status == "complete",
    )
    return accept(measured, theory_bytes_per_s=run.domain.unidirectional_bytes_per_s if run.domain else None)


def newest_whole_domain_run(domain: Domain, *, collective: str = "all_reduce") -> BenchmarkRun | None:
    """The newest run of a collective over all accelerators of a domain's nodes in service."""
    cards = (
        Accelerator.objects.filter(node__domain=domain).exclude(node__life_cycle=LifeCycle.RETIRED).count()
    )
    rows = BenchmarkRun.objects.filter(domain=domain, collective=collective, ranks=cards)
    return rows.select_related("domain", "matrix_version__matrix").order_by("-received_at", "-id").first()


def baseline_of(domain: Domain, collective: str) -> Baseline | None:
    """The baseline in force."""
    rows = Baseline.objects.filter(domain=domain, collective=collective, replaced_at__isnull=True)
    return rows.select_related("run").first()
