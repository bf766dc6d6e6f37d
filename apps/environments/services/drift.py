"""Drift checks: asked for, compared, and written down with their findings."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from datetime import datetime

from django.db import transaction
from django.db.models import F

from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.rights import Right
from apps.environments import queries
from apps.environments.engine import drift
from apps.environments.engine.plain import plain_group
from apps.environments.models import DriftCheck, MatrixVersion
from apps.environments.queries import Intent
from apps.environments.services.findings import keep_findings
from apps.fleet.models import Domain, Node
from apps.jobs.models import Job
from apps.jobs.services import enqueue

CHECK_DRIFT = "environments.check_drift"


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """A domain held against its matrix at a moment; nothing is written yet."""

    domain: Domain
    intent: Intent
    nodes: Sequence[Node]
    result: drift.DomainDrift
    at: datetime
    input_digest: str  # of the matrices and all reports that it rests on, without times


def request_check(*, actor: Actor, domain_id: int) -> Job:
    """Ask for a drift check of a domain. Needs READ: it changes nothing but what is known."""
    domain = queries.domain_for(actor, domain_id)
    return _enqueue(actor, domain)


def request_checks_of(*, actor: Actor, version: MatrixVersion) -> list[Job]:
    """Ask for a check of each domain that a version came or went in force for; of none for a draft. Needs READ."""
    actor.require(Right.READ, version.matrix.cluster.scope_id)
    if version.locked_at is None:
        return []
    return [_enqueue(actor, domain) for domain in queries.domains_of(version.matrix)]


def request_due_checks(*, actor: Actor) -> int:
    """Ask for a check of each domain whose newest one is older than its cluster wants. Returns how many."""
    domains = list(queries.domains_visible(actor))
    checks = queries.newest_checks(domains)
    policies = queries.policies_of(domain.cluster for domain in domains)
    now = clock.now()
    due = [
        domain
        for domain in domains
        if (check := checks.get(domain.pk)) is None
        or (now - check.checked_at).total_seconds() >= policies[domain.cluster_id].check_every_s
    ]
    for domain in due:
        _enqueue(actor, domain)
    return len(due)


def compare_domain(*, domain_id: int) -> Comparison:
    """Hold a domain against its matrix in force, and its cluster's beneath.

    Without a matrix nothing is evaluated, and the verdict is unknown.
    """
    domain = Domain.objects.select_related("cluster").get(pk=domain_id)
    now = clock.now()
    intent = queries.intent_of(domain)
    asked = [version.digest for version in (intent.version, intent.wide) if version]
    nodes, reports = queries.reported_by_domain(domain)
    stale_after_s = queries.policy_of(domain.cluster).stale_after_s
    return Comparison(
        domain=domain,
        intent=intent,
        nodes=nodes,
        result=drift.evaluate(entries=intent.entries, nodes=reports, now=now, stale_after_s=stale_after_s),
        at=now,
        input_digest=digest.of_value([asked, queries.report_marks(domain)]),
    )


@transaction.atomic
def keep_check(compared: Comparison) -> DriftCheck:
    """Write a comparison down, open and resolve findings. A check is no decision: no audit event.

    One domain is written by one at a time; where a later comparison is on record already, that one stays.
    """
    Domain.objects.select_for_update(no_key=True).get(pk=compared.domain.pk)
    newest = queries.newest_check(compared.domain)
    if newest is not None and newest.checked_at > compared.at:
        return newest
    check = _keep_row(compared, newest)
    keep_findings(compared.domain, compared.nodes, compared.result.findings, at=compared.at)
    return check


def _enqueue(actor: Actor, domain: Domain) -> Job:
    return enqueue(CHECK_DRIFT, actor=actor, scope_id=domain.cluster.scope_id, domain_id=domain.pk)


def _keep_row(compared: Comparison, newest: DriftCheck | None) -> DriftCheck:
    result, intent = compared.result, compared.intent
    asked = [version.pk if version else None for version in (intent.version, intent.wide)]
    groups = [plain_group(group) for group in result.groups]
    odd_ones = [asdict(one) for one in result.odd_ones]
    boards = [asdict(one) for one in result.shortest_boards]
    mark = digest.of_value([*asked, list(result.components), groups, odd_ones, boards])
    if newest is not None and newest.result_digest == mark:
        DriftCheck.objects.filter(pk=newest.pk).update(
            checked_at=compared.at,
            input_digest=compared.input_digest,
            finding_count=len(result.findings),
            times=F("times") + 1,
        )
        newest.refresh_from_db(fields=["checked_at", "input_digest", "finding_count", "times"])
        return newest
    return DriftCheck.objects.create(
        domain=compared.domain,
        matrix_version=intent.version,
        wide_version=intent.wide,
        first_checked_at=compared.at,
        checked_at=compared.at,
        verdict=result.verdict.value,
        input_digest=compared.input_digest,
        result_digest=mark,
        node_count=len(compared.nodes),
        finding_count=len(result.findings),
        components=list(result.components),
        groups=groups,
        odd_ones=odd_ones,
        shortest_boards=boards,
    )
