"""Runs are recorded from readings; people state what the output leaves out, and choose baselines."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import Q
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.benchmarks import queries
from apps.benchmarks.engine.doubts import doubts_of_run
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.benchmarks.words import COLLECTIVES, REASONS
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.core.units import gb
from apps.environments.queries import matrix_in_force, reported_versions
from apps.evidence import services as evidence
from apps.fleet.models import Cluster, Domain, LifeCycle, Node


@transaction.atomic
def record_runs(
    *,
    cluster: Cluster,
    domain: Domain | None,
    nodes: Sequence[Node],
    facts: Mapping[str, Any],
    sha256: str,
    received_at: datetime,
    warnings: Sequence[Mapping[str, Any]] = (),
) -> list[BenchmarkRun]:
    """Write down the runs of one file. The same file twice is the same runs. No audit event: nothing is decided.

    facts: of a reading of kind nccl_tests or rccl_tests; a file with several runs lists them under `runs`.
    nodes: those that the file was handed in for; a run over the whole domain is bound to all of its nodes, also
    where the head node alone handed it in. warnings: of the reading, {"code", "message", "line"}; those that speak
    against the figures stay with the run.
    """
    parts: list[Mapping[str, Any]] = list(facts.get("runs") or [facts])
    matrix = matrix_in_force(domain) if domain else None
    cards = queries.accelerators_of(domain).count() if domain else None
    rows = []
    for place, run in enumerate(parts):
        bound = _bound_nodes(domain, nodes, ranks=run.get("ranks"))
        others = [line for part in parts if part is not run for line in _lines(part)]
        row, created = BenchmarkRun.objects.get_or_create(
            cluster=cluster,
            sha256=sha256,
            place=place,
            defaults={
                **_measured(dict(facts) | dict(run)),
                "doubts": doubts_of_run(run.get("points") or [], warnings, lines_of_others=others),
                "domain": domain,
                "domain_accelerators": cards,
                "received_at": received_at,
                "matrix_version": matrix,
                "versions_digest": _versions_digest(bound),
            },
        )
        if created:
            row.nodes.set(bound)
        rows.append(row)
    return rows


@decision
def state_collective(*, actor: Actor, run_id: int, collective: str) -> BenchmarkRun:
    """A person says which collective a run was of, where its output does not.

    Raises Conflict where the output says it, where the figures cannot be those of this collective, and where the
    run has become a baseline of another.
    """
    person_id = actor.require_person_present()
    run = queries.run_for(actor, run_id, Right.OPERATE)
    if collective not in COLLECTIVES:
        message = say(
            "%(collective)s: say one of %(collectives)s",
            collective=collective,
            collectives=", ".join(COLLECTIVES),
        )
        raise Invalid(message, errors=[FieldError(pointer="/collective", message=message)])
    if run.collective and run.collective_stated_by_id is None:
        raise Conflict(
            say("the output itself says %(collective)s", collective=run.collective), code="collective_known"
        )
    before = run.collective
    if run.candidates and collective not in run.candidates:
        allowed = ", ".join(run.candidates)
        raise Conflict(
            say("bandwidths and times of this run are those of: %(allowed)s", allowed=allowed),
            code="not_a_candidate",
        )
    if Baseline.objects.filter(run=run).exclude(collective=collective).exists():
        raise Conflict(say("the run is a baseline of %(before)s", before=before), code="is_baseline")
    unsaid = Q(collective="") | Q(collective_stated_by__isnull=False)
    BenchmarkRun.objects.filter(unsaid, pk=run_id).update(
        collective=collective, collective_stated_by_id=person_id
    )
    run.refresh_from_db()
    record(
        actor=actor,
        action="benchmark.collective_stated",
        on=run,
        scope_id=run.cluster.scope_id,
        before={"collective": before},
        after={"collective": collective},
    )
    return run


@decision
def set_baseline(*, actor: Actor, run_id: int, reason: str = "") -> Baseline:
    """Later runs of this domain and collective are compared with this one from now on.

    Raises Conflict where the run was not accepted or belongs to no domain, and where somebody else sets one now.
    """
    run = queries.run_for(actor, run_id, Right.OPERATE)
    actor.require_token_scope(TokenScope.BENCHMARK_WRITE)
    accepted = queries.acceptance_of(run)
    if run.domain is None or accepted.verdict.value not in ("pass", "warn"):
        raise Conflict(
            say("only an accepted run can be a baseline: %(reason)s", reason=REASONS[accepted.reason.value]),
            code="not_accepted",
        )
    in_force = queries.baseline_of(run.domain, run.collective)
    if in_force is not None and in_force.run_id == run.pk:
        return in_force
    baseline = _replace_baseline(run, person_id=actor.person_id)
    evidence.pin([run.sha256])
    record(
        actor=actor,
        action="benchmark.baseline_set",
        on=run,
        scope_id=run.cluster.scope_id,
        reason=reason,
        before={"run": in_force.run_id if in_force else None},
        after={
            "run": run.pk,
            "collective": run.collective,
            "busbw_bytes_per_s": run.busbw_bytes_per_s,
            "share": accepted.share,
        },
    )
    return baseline


def _bound_nodes(domain: Domain | None, nodes: Sequence[Node], *, ranks: int | None) -> Sequence[Node]:
    if domain is None or ranks is None:
        return nodes
    cards = queries.accelerators_of(domain)
    own = cards.filter(node__in=nodes).count()
    in_service = cards.filter(node__life_cycle=LifeCycle.IN_SERVICE).count()
    return list(Node.objects.in_use().under(domain)) if own < ranks and ranks >= in_service else nodes


def _replace_baseline(run: BenchmarkRun, *, person_id: int | None) -> Baseline:
    """Two people at once: the constraint lets one baseline be in force, the other of them is refused."""
    now = clock.now()
    Baseline.objects.filter(domain=run.domain, collective=run.collective, replaced_at__isnull=True).update(
        replaced_at=now
    )
    try:
        with transaction.atomic():
            return Baseline.objects.create(
                domain=run.domain, collective=run.collective, run=run, set_by_id=person_id, set_at=now
            )
    except IntegrityError as error:
        raise Conflict(_("somebody set another baseline just now"), code="baseline_set") from error


def _lines(run: Mapping[str, Any]) -> list[int]:
    """The lines of the file on which rows of a run stood."""
    return [point["line"] for point in run.get("points") or [] if point.get("line") is not None]


def _measured(facts: Mapping[str, Any]) -> dict[str, Any]:
    columns = [facts.get("oop_busbw_gbps_at_max"), facts.get("ip_busbw_gbps_at_max")]
    known = [float(value) for value in columns if isinstance(value, int | float)]
    return {
        "tool": str(facts.get("tool") or "nccl-tests")[:40],
        "tool_version": str(facts.get("tool_version") or "")[:80],
        "collective": str(facts.get("collective") or "")[:40],
        "candidates": list(facts.get("collective_candidates") or []),
        "dtype": str(facts.get("dtype") or "")[:20],
        "ranks": facts.get("ranks"),
        "node_count": facts.get("nodes"),
        "gpu_model": str(facts.get("gpu_model") or "")[:120],
        "status": str(facts.get("status") or "no_summary"),
        "max_size_bytes": facts.get("max_size_bytes"),
        "busbw_bytes_per_s": gb(min(known)) if known else None,
        "wrong_total": facts.get("wrong_total"),
        "points": list(facts.get("points") or [])[:500],
    }


def _versions_digest(nodes: Sequence[Node]) -> str:
    versions = reported_versions([node.pk for node in nodes])
    if not versions:
        return ""
    return digest.of_value(
        sorted(
            [node.name, sorted([part, seen.values] for part, seen in versions.get(node.pk, {}).items())]
            for node in nodes
        )
    )
