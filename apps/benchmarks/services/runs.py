"""Runs are recorded from readings; people state what the output leaves out, and choose baselines."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from apps.audit.services import decision, record
from apps.benchmarks import queries
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.rights import Right, TokenScope
from apps.core.units import gb
from apps.environments.queries import matrix_in_force, reported_versions
from apps.evidence import services as evidence
from apps.fleet.models import Cluster, Domain, Node

COLLECTIVES = (
    "all_reduce",
    "all_gather",
    "reduce_scatter",
    "alltoall",
    "broadcast",
    "reduce",
    "sendrecv",
    "gather",
    "scatter",
    "hypercube",
)


@transaction.atomic
def record_runs(
    *,
    cluster: Cluster,
    domain: Domain | None,
    nodes: Sequence[Node],
    facts: Mapping[str, Any],
    sha256: str,
    received_at: datetime,
) -> list[BenchmarkRun]:
    """Write down the runs of one file. The same file twice is the same runs. No audit event: nothing is decided.

    facts: of a reading of kind nccl_tests or rccl_tests; a file with several runs lists them under `runs`.
    """
    parts: Iterable[Mapping[str, Any]] = facts.get("runs") or [facts]
    matrix = matrix_in_force(domain) if domain else None
    versions = _versions_digest(nodes)
    rows = []
    for place, run in enumerate(parts):
        row, created = BenchmarkRun.objects.get_or_create(
            cluster=cluster,
            sha256=sha256,
            place=place,
            defaults={
                **_measured(dict(facts) | dict(run)),
                "domain": domain,
                "received_at": received_at,
                "matrix_version": matrix,
                "versions_digest": versions,
            },
        )
        if created:
            row.nodes.set(nodes)
        rows.append(row)
    return rows


@decision
def state_collective(*, actor: Actor, run_id: int, collective: str) -> BenchmarkRun:
    """A person says which collective a run was of, where its output does not. Raises Conflict where it does."""
    person_id = actor.require_person_present()
    run = queries.run_for(actor, run_id, Right.OPERATE)
    if collective not in COLLECTIVES:
        message = f"{collective}: say one of {', '.join(COLLECTIVES)}"
        raise Invalid(message, errors=[FieldError(pointer="/collective", message=message)])
    if run.collective and run.collective_stated_by_id is None:
        raise Conflict(f"the output itself says {run.collective}", code="collective_known")
    before = run.collective
    BenchmarkRun.objects.filter(pk=run_id).update(collective=collective, collective_stated_by_id=person_id)
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

    Raises Conflict where the run was not accepted or belongs to no domain.
    """
    run = queries.run_for(actor, run_id, Right.OPERATE)
    actor.require_token_scope(TokenScope.BENCHMARK_WRITE)
    accepted = queries.acceptance_of(run)
    if run.domain is None or accepted.verdict.value not in ("pass", "warn"):
        raise Conflict(
            f"only an accepted run can be a baseline: {accepted.reason.value}", code="not_accepted"
        )
    now = clock.now()
    Baseline.objects.filter(domain=run.domain, collective=run.collective, replaced_at__isnull=True).update(
        replaced_at=now
    )
    baseline = Baseline.objects.create(
        domain=run.domain, collective=run.collective, run=run, set_by_id=actor.person_id, set_at=now
    )
    evidence.pin([run.sha256])
    record(
        actor=actor,
        action="benchmark.baseline_set",
        on=run,
        scope_id=run.cluster.scope_id,
        reason=reason,
        after={
            "collective": run.collective,
            "busbw_bytes_per_s": run.busbw_bytes_per_s,
            "share": accepted.share,
        },
    )
    return baseline


def _measured(facts: Mapping[str, Any]) -> dict[str, Any]:
    columns = [facts.get("oop_busbw_gbps_at_max"), facts.get("ip_busbw_gbps_at_max")]
    known = [float(value) for value in columns if isinstance(value, int | float)]
    return {
        "tool": str(facts.get("tool") or "nccl-tests"),
        "tool_version": str(facts.get("tool_version") or "")[:80],
        "collective": str(facts.get("collective") or ""),
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
