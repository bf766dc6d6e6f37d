"""Runs: which there are, and whether they are as fast as they should be."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import Count, OuterRef, Q, QuerySet, Subquery
from django.utils.translation import gettext as _

from apps.benchmarks.engine.acceptance import (
    TRUSTED_SIZE_BYTES,
    Acceptance,
    AcceptanceReason,
    Measured,
    accept,
)
from apps.benchmarks.engine.comparison import Comparison, compare
from apps.benchmarks.engine.ladder import Rung, ladder
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.fleet.models import Accelerator, Domain, LifeCycle

_JUDGED = "all_reduce"  # the collective by which a domain is judged
LADDER_RUNS = 500  # newest runs of a domain that a ladder is made of


def runs_visible(actor: Actor) -> QuerySet[BenchmarkRun]:
    """Runs of clusters that the actor may read, newest first."""
    rows = BenchmarkRun.objects.select_related(
        "cluster", "domain", "matrix_version__matrix", "collective_stated_by"
    )
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def run_for(actor: Actor, run_id: int, right: Right = Right.READ) -> BenchmarkRun:
    """One run. Raises Missing, NotAllowed."""
    run = runs_visible(actor).filter(pk=run_id).first()
    if run is None:
        raise Missing(_("there is no such run, or you may not see it"))
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
        domain_ranks=run.domain_accelerators,
        doubts=tuple(AcceptanceReason(doubt["code"]) for doubt in run.doubts),
    )
    return accept(measured, theory_bytes_per_s=run.domain.unidirectional_bytes_per_s if run.domain else None)


def accelerators_of(domain: Domain) -> QuerySet[Accelerator]:
    """Accelerators of a domain, those of retired nodes left out."""
    return Accelerator.objects.filter(node__domain=domain).exclude(node__life_cycle=LifeCycle.RETIRED)


def newest_whole_domain_run(domain: Domain) -> BenchmarkRun | None:
    """The newest all-reduce over all accelerators of a domain's nodes in service.

    A run that spares and nodes in repair took part in counts too; one over more accelerators than the domain has
    does not, for it left the domain.
    """
    cards = accelerators_of(domain)
    in_service = cards.filter(node__life_cycle=LifeCycle.IN_SERVICE).count()
    if not in_service:
        return None
    rows = BenchmarkRun.objects.filter(
        domain=domain, collective=_JUDGED, ranks__gte=in_service, ranks__lte=cards.count()
    )
    return rows.select_related("domain", "matrix_version__matrix").order_by("-received_at", "-id").first()


def newest_whole_domain_runs(domains: Iterable[Domain]) -> dict[int, BenchmarkRun]:
    """Domain id to its newest all-reduce over the whole domain, as above; three queries however many domains."""
    ids = [domain.pk for domain in domains]
    cards = Accelerator.objects.filter(node__domain__in=ids).exclude(node__life_cycle=LifeCycle.RETIRED)
    in_service = Count("pk", filter=Q(node__life_cycle=LifeCycle.IN_SERVICE))
    sizes = {
        domain_id: (least, most)
        for domain_id, least, most in cards.order_by()
        .values_list("node__domain_id")
        .annotate(least=in_service, most=Count("pk"))
        if least
    }
    fitting = Q(pk__in=[])
    for least, most in set(sizes.values()):
        alike = [domain_id for domain_id, size in sizes.items() if size == (least, most)]
        fitting |= Q(domain__in=alike, ranks__gte=least, ranks__lte=most)
    newest = BenchmarkRun.objects.filter(fitting, domain=OuterRef("domain"), collective=_JUDGED)
    chosen = newest.order_by("-received_at", "-id").values("pk")[:1]
    rows = BenchmarkRun.objects.filter(fitting, collective=_JUDGED, pk=Subquery(chosen))
    return {
        row.domain_id: row for row in rows.select_related("domain", "matrix_version__matrix") if row.domain_id
    }


def baseline_of(domain: Domain, collective: str) -> Baseline | None:
    """The baseline in force."""
    rows = Baseline.objects.filter(domain=domain, collective=collective, replaced_at__isnull=True)
    return rows.select_related("run").first()


def baselines_visible(actor: Actor) -> QuerySet[Baseline]:
    """Baselines of clusters that the actor may read, newest first."""
    scopes = actor.scope_ids(Right.READ)
    rows = Baseline.objects.all()
    return rows if scopes is None else rows.filter(domain__cluster__scope_id__in=scopes)


def comparison_with(run: BenchmarkRun, other: BenchmarkRun) -> Comparison:
    """A run beside another, size by size."""
    return compare(run.points, other.points)


def ladder_of(domain: Domain) -> tuple[Rung, ...]:
    """The newest usable all-reduce of each number of ranks: is bandwidth flat as ranks grow?

    Runs whose figures are in doubt, that are not complete, or that delivered wrong data are left out.
    """
    rows = BenchmarkRun.objects.filter(
        domain=domain,
        collective=_JUDGED,
        status="complete",
        ranks__gte=2,
        busbw_bytes_per_s__gt=0,
        max_size_bytes__gte=TRUSTED_SIZE_BYTES,
        doubts=[],
    ).exclude(wrong_total__gt=0)
    newest = rows.order_by("-received_at", "-id").values_list("ranks", "busbw_bytes_per_s", "pk")
    return ladder(newest[:LADDER_RUNS], domain_ranks=accelerators_of(domain).count())


def comparable_runs(run: BenchmarkRun) -> QuerySet[BenchmarkRun]:
    """Other runs of the same collective in the same cluster, newest first."""
    rows = BenchmarkRun.objects.filter(cluster=run.cluster, collective=run.collective)
    return rows.exclude(pk=run.pk).order_by("-id")
