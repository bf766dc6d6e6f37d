"""Drift checks: asked for, and written down with their findings."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import asdict
from typing import Any

from django.conf import settings
from django.db import transaction

from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.rights import Right
from apps.environments import queries
from apps.environments.engine import drift
from apps.environments.models import DriftCheck, DriftFinding
from apps.fleet.models import Domain, Node
from apps.jobs.models import Job
from apps.jobs.services import enqueue


def request_check(*, actor: Actor, domain_id: int) -> Job:
    """Ask for a drift check of a domain. Needs READ: it changes nothing but what is known."""
    domain = Domain.objects.select_related("cluster").get(pk=domain_id)
    actor.require(Right.READ, domain.cluster.scope_id)
    return enqueue(
        "environments.check_drift", actor=actor, scope_id=domain.cluster.scope_id, domain_id=domain_id
    )


@transaction.atomic
def check_domain(*, domain_id: int) -> DriftCheck:
    """Hold a domain against its matrix in force, write the check down, open and resolve findings.

    A check is no decision: no audit event. Without a matrix nothing is evaluated and the verdict is unknown.
    """
    domain = Domain.objects.select_related("cluster").get(pk=domain_id)
    matrix = queries.matrix_in_force(domain)
    entries = queries.entries_of(matrix.entries.all()) if matrix else []
    nodes, reports = queries.reported_by_domain(domain)
    now = clock.now()
    result = drift.evaluate(entries=entries, nodes=reports, now=now, stale_after_s=settings.STALE_AFTER_S)
    check = DriftCheck.objects.create(
        domain=domain,
        matrix_version=matrix,
        checked_at=now,
        verdict=result.verdict.value,
        input_digest=input_digest(matrix.digest if matrix else "", reports),
        node_count=len(nodes),
        finding_count=len(result.findings),
        components=list(result.components),
        groups=[_group(group) for group in result.groups],
        odd_ones=[asdict(one) for one in result.odd_ones],
        shortest_boards=[asdict(one) for one in result.shortest_boards],
    )
    _keep_findings(domain, nodes, result.findings, check)
    return check


def input_digest(matrix_digest: str, reports: Iterable[drift.NodeReport]) -> str:
    """The digest of all that a check rests on: the matrix and the reported versions, without times."""
    seen = [
        [report.node, sorted([name, one.loaded, one.declared] for name, one in report.reported.items())]
        for report in reports
    ]
    return digest.of_value([matrix_digest, seen])


def _group(group: drift.Group) -> dict[str, Any]:
    return {
        "fingerprint": group.fingerprint,
        "verdict": group.verdict.value,
        "nodes": list(group.nodes),
        "cells": [asdict(cell) | {"verdict": cell.verdict.value} if cell else None for cell in group.cells],
    }


def _keep_findings(
    domain: Domain, nodes: list[Node], found: Iterable[drift.Finding], check: DriftCheck
) -> None:
    """Findings seen again move their time, new ones open, those not seen any more are resolved."""
    ids = {node.name: node.pk for node in nodes}
    open_rows = {(row.node_id, row.component, row.kind): row for row in queries.open_findings(domain=domain)}
    fresh, seen = [], []
    for finding in found:
        key = (ids[finding.node], finding.cell.component, finding.kind.value)
        row = open_rows.pop(key, None) or DriftFinding(
            domain=domain,
            node_id=key[0],
            component=key[1],
            kind=key[2],
            first_seen_at=check.checked_at,
        )
        row.outcome, row.reason = finding.cell.outcome.value, finding.cell.reason.value
        row.verdict, row.last_seen_at = finding.verdict.value, check.checked_at
        row.intended = finding.cell.expected[:300]
        row.reported = " | ".join(finding.cell.found)[:300]
        (seen if row.pk else fresh).append(row)
    DriftFinding.objects.bulk_create(fresh, batch_size=500)
    DriftFinding.objects.bulk_update(
        seen, ["outcome", "reason", "verdict", "last_seen_at", "intended", "reported"], batch_size=200
    )
    gone = [row.pk for row in open_rows.values()]
    for start in range(0, len(gone), 500):
        DriftFinding.objects.filter(pk__in=gone[start : start + 500]).update(resolved_at=check.checked_at)
