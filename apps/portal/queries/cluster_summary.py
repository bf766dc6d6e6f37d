"""Is a cluster fit to train? Its domains with what each floor says of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass

from apps.benchmarks.engine.acceptance import Acceptance
from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.queries import acceptance_of, newest_whole_domain_run
from apps.changes.engine.states import OPEN
from apps.changes.models import Change
from apps.core.verdicts import Verdict, combine
from apps.environments.models import DriftCheck, MatrixVersion
from apps.environments.queries import known_good, matrix_in_force, newest_check
from apps.fleet.engine.node_state import NodeState
from apps.fleet.models import Accelerator, Cluster, Domain, Node
from apps.fleet.queries import state_of, with_active_holds
from apps.launches.models import Launch, LaunchState
from apps.launches.queries import Decision, decision_of


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSummary:
    """One domain: its nodes by state, and the newest verdicts on it."""

    domain: Domain
    nodes: int
    accelerators: int
    states: dict[NodeState, int]
    matrix: MatrixVersion | None
    known_good: MatrixVersion | None
    check: DriftCheck | None
    run: BenchmarkRun | None
    acceptance: Acceptance | None

    @property
    def verdict(self) -> Verdict:
        """Fit to train: drift and benchmark; what is not known is unknown."""
        return combine(
            [
                Verdict(self.check.verdict) if self.check else Verdict.UNKNOWN,
                self.acceptance.verdict if self.acceptance else Verdict.UNKNOWN,
            ]
        )

    @property
    def in_service(self) -> int:
        return self.states.get(NodeState.IN_SERVICE, 0) + self.states.get(NodeState.TRAINING, 0)


def domain_summaries(cluster: Cluster) -> list[DomainSummary]:
    """All domains of a cluster that are not retired."""
    domains = Domain.objects.filter(cluster=cluster, retired_at__isnull=True).select_related("cluster")
    return [_summary(domain) for domain in domains]


def _summary(domain: Domain) -> DomainSummary:
    nodes = list(with_active_holds(Node.objects.in_use().under(domain)))
    run = newest_whole_domain_run(domain)
    return DomainSummary(
        domain=domain,
        nodes=len(nodes),
        accelerators=Accelerator.objects.filter(node__in=Node.objects.in_use().under(domain)).count(),
        states=dict(Counter(state_of(node) for node in nodes)),
        matrix=matrix_in_force(domain),
        known_good=known_good(domain),
        check=newest_check(domain),
        run=run,
        acceptance=acceptance_of(run) if run else None,
    )


def open_changes(cluster: Cluster, *, limit: int = 8) -> list[Change]:
    """Changes of a cluster that are not over, newest first."""
    rows = Change.objects.filter(cluster=cluster, state__in=[state.value for state in OPEN])
    return list(rows.select_related("requester", "domain")[:limit])


def open_launches(cluster: Cluster, *, limit: int = 8) -> list[tuple[Launch, Decision]]:
    """Launches of a cluster that are open or running, newest first, with where they stand."""
    rows = Launch.objects.filter(cluster=cluster, state__in=[LaunchState.OPEN, LaunchState.RUNNING])
    rows = rows.select_related("template", "domain", "opened_by", "plan__plan")
    return [(launch, decision_of(launch)) for launch in rows[:limit]]
