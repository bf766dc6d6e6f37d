"""Is a cluster fit to train? Its domains with what each floor says of them."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from apps.benchmarks.engine.acceptance import Acceptance
from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.queries import acceptance_of, newest_whole_domain_runs
from apps.changes.engine.states import OPEN
from apps.changes.models import Change
from apps.core.verdicts import Verdict, combine
from apps.environments.engine.hardware import HardwareFault
from apps.environments.models import DriftCheck, MatrixVersion
from apps.environments.queries import domain_standings, hardware_faults, open_findings
from apps.fleet.engine.node_state import NodeState, derive
from apps.fleet.models import Accelerator, Cluster, Domain, Hold, Node
from apps.fleet.words import layout_said
from apps.launches.models import Launch, LaunchState
from apps.launches.queries.launches import shown_states
from apps.portal.words import ALL_REDUCE, DRIFT, FITNESS, HARDWARE, NODES, Word

_WORST_FIRST = (Verdict.FAIL, Verdict.UNKNOWN, Verdict.WARN, Verdict.WAIVED, Verdict.PASS)


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainSummary:
    """One domain: its nodes by state, and the newest verdicts on it.

    drifting: its nodes with failing drift. at_odds: its nodes that report other accelerators than are on record.
    """

    domain: Domain
    nodes: int
    drifting: int
    at_odds: list[tuple[Node, HardwareFault]]
    accelerators: int
    states: Counter[NodeState]
    matrix: MatrixVersion | None
    known_good: MatrixVersion | None
    check: DriftCheck | None
    run: BenchmarkRun | None
    acceptance: Acceptance | None

    @property
    def verdict(self) -> Verdict:
        """Fit to train: drift, benchmark, and its nodes; what is not known is unknown."""
        return combine([self._drift, self._all_reduce, self._nodes, self.hardware])

    @property
    def fitness(self) -> Word:
        """The verdict as a word that answers whether the domain is fit to train."""
        return FITNESS[self.verdict]

    @property
    def layout(self) -> Word:
        """What its layout is called."""
        return layout_said(self.domain)

    @property
    def causes(self) -> list[Word]:
        """What makes it less than fit, the worst first."""
        found = [
            (self._drift, DRIFT),
            (self._all_reduce, ALL_REDUCE),
            (self._nodes, NODES),
            (self.hardware, HARDWARE),
        ]
        found.sort(key=lambda judged: _WORST_FIRST.index(judged[0]))
        return [words[verdict] for verdict, words in found if verdict in words]

    @property
    def _drift(self) -> Verdict:
        return Verdict(self.check.verdict) if self.check else Verdict.UNKNOWN

    @property
    def _all_reduce(self) -> Verdict:
        return self.acceptance.verdict if self.acceptance else Verdict.UNKNOWN

    @property
    def _nodes(self) -> Verdict:
        """A launch on the whole domain takes every node: one with a fault or in quarantine stops it."""
        if self.states.get(NodeState.QUARANTINED) or self.states.get(NodeState.FAULTY):
            return Verdict.FAIL
        doubtful = self.states.get(NodeState.SUB_HEALTHY) or self.states.get(NodeState.MAINTENANCE)
        return Verdict.WARN if doubtful else Verdict.PASS

    @property
    def hardware(self) -> Verdict:
        """Whether its nodes report the accelerators that are on record; one that says nothing of them may be right."""
        return combine([Verdict.PASS, *(fault.verdict for _node, fault in self.at_odds)])

    @property
    def in_service(self) -> int:
        return self.states.get(NodeState.IN_SERVICE, 0) + self.states.get(NodeState.TRAINING, 0)


@dataclass(frozen=True, slots=True, kw_only=True)
class Totals:
    """What many domains come to together. fit, not_fit: domains; the others are not known or warned of."""

    domains: int
    fit: int
    not_fit: int
    nodes: int
    in_service: int
    drifting: int
    accelerators: int
    findings: int


def totals_of(summaries: Sequence[DomainSummary]) -> Totals:
    """Add domains up."""
    verdicts = Counter(one.verdict for one in summaries)
    return Totals(
        domains=len(summaries),
        fit=verdicts[Verdict.PASS],
        not_fit=verdicts[Verdict.FAIL],
        nodes=sum(one.nodes for one in summaries),
        in_service=sum(one.in_service for one in summaries),
        drifting=sum(one.drifting for one in summaries),
        accelerators=sum(one.accelerators for one in summaries),
        findings=sum(one.check.finding_count for one in summaries if one.check),
    )


def domain_summaries(clusters: Sequence[Cluster]) -> dict[int, list[DomainSummary]]:
    """Cluster id to its domains that are not retired, the least fit first; as many queries for many as for one."""
    domains = Domain.objects.filter(cluster__in=clusters, retired_at__isnull=True).select_related("cluster")
    standings = domain_standings(domains)
    states, cards = _states_by_domain(clusters), _cards_by_domain(clusters)
    drifting, at_odds = _drifting_by_domain(clusters), _at_odds_by_domain(clusters)
    runs = newest_whole_domain_runs([standing.domain for standing in standings])
    found: dict[int, list[DomainSummary]] = {cluster.pk: [] for cluster in clusters}
    for standing in standings:
        domain = standing.domain
        run = runs.get(domain.pk)
        found[domain.cluster_id].append(
            DomainSummary(
                domain=domain,
                nodes=states[domain.pk].total(),
                drifting=drifting.get(domain.pk, 0),
                at_odds=at_odds[domain.pk],
                accelerators=cards.get(domain.pk, 0),
                states=states[domain.pk],
                matrix=standing.in_force,
                known_good=standing.known_good,
                check=standing.check,
                run=run,
                acceptance=acceptance_of(run) if run else None,
            )
        )
    for summaries in found.values():
        summaries.sort(key=lambda one: (_WORST_FIRST.index(one.verdict), one.domain.name))
    return found


def _states_by_domain(clusters: Sequence[Cluster]) -> dict[int, Counter[NodeState]]:
    """Domain id to how many of its nodes are in which state; the nodes themselves are not loaded."""
    kinds: dict[int, set[str]] = defaultdict(set)
    holds = Hold.objects.filter(node__cluster__in=clusters, released_at__isnull=True)
    for node_id, kind in holds.values_list("node_id", "kind"):
        kinds[node_id].add(kind)
    states: dict[int, Counter[NodeState]] = defaultdict(Counter)
    nodes = Node.objects.in_use().filter(cluster__in=clusters, domain__isnull=False).order_by()
    for pk, domain_id, life_cycle, health in nodes.values_list("pk", "domain_id", "life_cycle", "health"):
        held = frozenset(kinds[pk]) if pk in kinds else frozenset()
        states[domain_id][derive(life_cycle=life_cycle, health=health, holds=held)] += 1
    return states


def _cards_by_domain(clusters: Sequence[Cluster]) -> dict[int, int]:
    nodes = Node.objects.in_use().filter(cluster__in=clusters)
    counted = Accelerator.objects.filter(node__in=nodes).order_by().values_list("node__domain_id")
    return dict(counted.annotate(number=Count("pk")))


def _drifting_by_domain(clusters: Sequence[Cluster]) -> dict[int, int]:
    failing = open_findings().filter(domain__cluster__in=clusters, verdict=Verdict.FAIL).order_by()
    return dict(failing.values_list("domain_id").annotate(number=Count("node", distinct=True)))


def _at_odds_by_domain(clusters: Sequence[Cluster]) -> dict[int, list[tuple[Node, HardwareFault]]]:
    """Domain id to its nodes that report other accelerators than are on record, in their order."""
    nodes = Node.objects.in_use().filter(cluster__in=clusters, domain__isnull=False).order_by()
    faults = hardware_faults(nodes.values("pk"))
    found: dict[int, list[tuple[Node, HardwareFault]]] = defaultdict(list)
    for node in Node.objects.filter(pk__in=list(faults)).order_by("index", "name"):
        found[node.domain_id].append((node, faults[node.pk]))
    return found


def nodes_in_no_domain(cluster: Cluster) -> int:
    """How many nodes that are not retired stand in no domain, so that no summary of a domain counts them."""
    return Node.objects.in_use().filter(cluster=cluster, domain=None).count()


def open_changes(cluster: Cluster, *, limit: int = 8) -> list[Change]:
    """Changes of a cluster that are not over, newest first."""
    rows = Change.objects.filter(cluster=cluster, state__in=[state.value for state in OPEN])
    return list(rows.select_related("requester", "domain")[:limit])


def open_launches(cluster: Cluster, *, limit: int = 8) -> list[tuple[Launch, str]]:
    """Launches of a cluster that are open or running, newest first, with what a list says of each."""
    rows = Launch.objects.filter(cluster=cluster, state__in=[LaunchState.OPEN, LaunchState.RUNNING])
    rows = rows.select_related("template", "domain", "opened_by", "plan__plan")
    launches = list(rows[:limit])
    shown = shown_states(launches)
    return [(launch, shown[launch.pk]) for launch in launches]
