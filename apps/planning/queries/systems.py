"""The hardware of a plan as the fleet knows it: sizes from the domain, bandwidth as it was measured."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from django.db.models import Count, Max, QuerySet

from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.queries import acceptance_of, newest_whole_domain_run
from apps.catalogue.engine.overlays import Kind
from apps.catalogue.queries import edits_for
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid
from apps.core.rights import Right
from apps.core.texts import Text, kept, say
from apps.core.units import GB
from apps.core.verdicts import Verdict
from apps.fleet.models import Accelerator, Domain, LifeCycle, Node, SubDomain
from apps.fleet.queries import clusters_visible
from apps.fleet.queries.fabric import worst_ratio_of
from apps.planning.queries.measured import calibration_of

USUAL_PER_NODE = 8  # accelerators of a host that nobody described


def domains_to_plan_for(actor: Actor) -> QuerySet[Domain]:
    """Domains in use of clusters in which the actor may make plans."""
    clusters = clusters_visible(actor)
    if (scopes := actor.scope_ids(Right.OPERATE)) is not None:
        clusters = clusters.filter(scope_id__in=scopes)
    return Domain.objects.filter(cluster__in=clusters, retired_at__isnull=True).select_related("cluster")


def usual_domain(actor: Actor, *, cluster: str = "") -> int | None:
    """The id of the domain that a new plan is most likely for: the first of the cluster, else the only one there is.

    cluster: a slug; empty where no cluster is chosen.
    """
    domains = domains_to_plan_for(actor).order_by("pk")
    chosen = list(
        (domains.filter(cluster__slug=cluster) if cluster else domains).values_list("pk", flat=True)[:2]
    )
    return chosen[0] if chosen and (cluster or len(chosen) == 1) else None


def system_of(domain: Domain, *, measured: bool = True) -> dict[str, Any]:
    """The system object of a plan for a whole domain. Bandwidths are GB/s per accelerator, one way.

    measured: use the bus bandwidth of the newest usable all-reduce over the whole domain, where there is one.
    """
    cards = Accelerator.objects.filter(node__domain=domain).exclude(node__life_cycle=LifeCycle.RETIRED)
    count = cards.count()
    system: dict[str, Any] = {
        "accelerator": domain.accelerator_model,
        "accelerators": count,
        "domain_size": count,
    }
    if domain.unidirectional_bytes_per_s:
        system["scale_up_gb_s"] = domain.unidirectional_bytes_per_s / GB
    if domain.scale_out_bytes_per_s:
        system["scale_out_gb_s"] = domain.scale_out_bytes_per_s / GB
    if sub_domain := _smallest_sub_domain(domain):
        system["sub_domain_size"] = sub_domain
        system["convergence_ratio"] = _convergence(domain)
    if measured and (seen := _measured(domain)):
        system["measured"] = seen
    return system


def part_of_domain(domain: Domain, stated: Mapping[str, Any], *, measured: bool = True) -> dict[str, Any]:
    """The system of a domain with what was stated laid over it. Raises Invalid for more accelerators than it has."""
    known = system_of(domain, measured=measured)
    wanted, there = stated.get("accelerators"), known["accelerators"]
    if isinstance(wanted, int) and wanted > there:
        message = say("accelerators of the domain: %(count)s", count=there)
        raise Invalid(message, errors=[FieldError(pointer="/system/accelerators", message=message)])
    return {**known, **stated}


def figures_of(accelerator: str, scope_id: int | None) -> dict[str, Any]:
    """What a team set otherwise than the shipped catalogue, as `figures` of a plan's system; by path.

    scope_id: None takes what was set for everybody.
    """
    edits = edits_for(scope_id, Kind.ACCELERATOR).filter(entry=accelerator)
    return {
        edit.path: {"value": edit.value, "source": edit.source, "confidence": edit.confidence}
        for edit in edits
    }


def accelerators_per_node(domain: Domain | None) -> int:
    """Accelerators of a node: the most that a node of the domain has; 8 where there is no domain."""
    if domain is None:
        return USUAL_PER_NODE
    nodes = Node.objects.in_use().under(domain).annotate(size=Count("accelerators"))
    return int(nodes.aggregate(most=Max("size"))["most"] or USUAL_PER_NODE)


def _smallest_sub_domain(domain: Domain) -> int | None:
    """Accelerators of the smallest sub-domain; None where the domain is not divided."""
    sizes = SubDomain.objects.filter(domain=domain).annotate(size=Count("accelerators"))
    known = [size for size in sizes.values_list("size", flat=True) if size]
    return min(known) if len(known) > 1 else None


def _convergence(domain: Domain) -> float:
    """The highest ratio of downlinks to uplinks that the domain's fabric has; 1.0 where nothing tells it."""
    return round(worst_ratio_of(domain), 3)


def _measured(domain: Domain) -> dict[str, Any] | None:
    """What was measured on the domain: bandwidth of a run that is not in doubt (slow ones too), and step times."""
    seen: dict[str, Any] = {}
    run = newest_whole_domain_run(domain)
    if run is not None and (run.wrong_total or acceptance_of(run).verdict is Verdict.UNKNOWN):
        run = None
    if run is not None:
        seen["scale_up_busbw_gb_s"] = round((run.busbw_bytes_per_s or 0.0) / GB, 3)
    calibration = calibration_of(domain)
    if calibration.runs:
        seen["step_scale"] = round(calibration.step_scale, 5)
    if not seen:
        return None
    source = _source_of(run, calibration.runs)
    return seen | {"source": source, "said": kept(source)}


def _source_of(run: BenchmarkRun | None, steps: int) -> Text:
    """Where the measured figures are from: a run, or step times that were noted, or both."""
    if run is None:
        return say("measured here: noted step times (%(steps)s)", steps=steps)
    if not steps:
        return say("measured here: run %(run)s over %(ranks)s ranks", run=run.pk, ranks=run.ranks)
    return say(
        "measured here: run %(run)s over %(ranks)s ranks, noted step times (%(steps)s)",
        run=run.pk,
        ranks=run.ranks,
        steps=steps,
    )
