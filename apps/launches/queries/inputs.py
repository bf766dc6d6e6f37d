"""What an evaluation rests on, as digests: when one of them changes, the evaluation no longer stands."""

from __future__ import annotations

import uuid
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from apps.accounts.queries import people_with
from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.queries import acceptance_of, newest_whole_domain_run
from apps.changes.engine.states import UNDER_WAY
from apps.changes.models import Target
from apps.core import clock, digest
from apps.core.rights import Right
from apps.environments.engine.drift import Reported
from apps.environments.models import MatrixVersion
from apps.environments.queries import beneath, matrix_in_force, reported_versions
from apps.fleet.models import Domain, Hold, Node
from apps.fleet.queries import active_holds, models_on
from apps.launches.models import Answer, Launch, LaunchNode, Waiver


@dataclass(frozen=True, slots=True)
class _Facts:
    """What the inputs of several launches are computed from, read in a few queries for all of them."""

    nodes: Mapping[uuid.UUID, list[Node]]
    versions: Mapping[int, dict[str, Reported]]
    holds: Mapping[int, list[Hold]]
    changes: Mapping[int, set[int]]
    answers: Mapping[uuid.UUID, list[int]]
    waivers: Mapping[uuid.UUID, list[int]]
    cards: Mapping[int, Mapping[str, int]]
    matrices: dict[int, list[MatrixVersion]] = field(default_factory=dict)
    runs: dict[int, BenchmarkRun | None] = field(default_factory=dict)

    def asked_by(self, domain: Domain) -> list[MatrixVersion]:
        """The matrix in force, and the whole cluster's where it holds beneath it."""
        if domain.pk not in self.matrices:
            version = matrix_in_force(domain)
            both = (version, beneath(version, domain))
            self.matrices[domain.pk] = [one for one in both if one is not None]
        return self.matrices[domain.pk]

    def run(self, domain: Domain) -> BenchmarkRun | None:
        if domain.pk not in self.runs:
            self.runs[domain.pk] = newest_whole_domain_run(domain)
        return self.runs[domain.pk]


def nodes_of(launch: Launch) -> list[Node]:
    """The launch's nodes in rank order."""
    return [row.node for row in launch.nodes.select_related("node__cluster", "node__domain")]


def current_inputs(launch: Launch) -> dict[str, str]:
    """Name to digest of every input of one launch as it is now."""
    return inputs_of([launch])[launch.pk]


def inputs_of(launches: Sequence[Launch]) -> dict[uuid.UUID, dict[str, str]]:
    """Launch id to its inputs as they are now. The holds of a launch itself are none of them.

    The number of queries grows with the domains of the launches, not with launches or nodes.
    """
    facts = _facts(launches, now=clock.now())
    return {launch.pk: _inputs(launch, facts) for launch in launches}


def active_waivers(launch: Launch) -> list[Waiver]:
    """Waivers that are approved by somebody who may still sign here, not revoked, and not over."""
    return _active_waivers([launch], now=clock.now())


def _active_waivers(launches: Sequence[Launch], *, now: datetime) -> list[Waiver]:
    scope_of = {launch.pk: launch.cluster.scope_id for launch in launches}
    rows = Waiver.objects.filter(
        launch__in=list(scope_of), approved_at__isnull=False, revoked_at__isnull=True, expires_at__gt=now
    )
    waivers = list(rows.select_related("requested_by", "approved_by"))
    able = {
        scope_id: {person.pk for person in people_with(Right.SIGN, scope_id=scope_id)}
        for scope_id in {scope_of[waiver.launch_id] for waiver in waivers}
    }
    return [waiver for waiver in waivers if waiver.approved_by_id in able[scope_of[waiver.launch_id]]]


def _facts(launches: Sequence[Launch], *, now: datetime) -> _Facts:
    ids = [launch.pk for launch in launches]
    nodes: dict[uuid.UUID, list[Node]] = defaultdict(list)
    for row in LaunchNode.objects.filter(launch__in=ids).select_related("node").order_by("place"):
        nodes[row.launch_id].append(row.node)
    node_ids = {node.pk for members in nodes.values() for node in members}
    holds: dict[int, list[Hold]] = defaultdict(list)
    for hold in active_holds(node_ids).order_by("pk"):
        holds[hold.node_id].append(hold)
    changes: dict[int, set[int]] = defaultdict(set)
    under_way = Target.objects.filter(
        node_id__in=node_ids, change__state__in=[state.value for state in UNDER_WAY]
    )
    for node_id, change_id in under_way.order_by().values_list("node_id", "change_id").distinct():
        changes[node_id].add(change_id)
    answers: dict[uuid.UUID, list[int]] = defaultdict(list)
    for launch_id, answer_id in Answer.objects.filter(launch__in=ids).values_list("launch_id", "pk"):
        answers[launch_id].append(answer_id)
    waivers: dict[uuid.UUID, list[int]] = defaultdict(list)
    for waiver in _active_waivers(launches, now=now):
        waivers[waiver.launch_id].append(waiver.pk)
    cards = models_on(node_ids)
    return _Facts(nodes, reported_versions(node_ids), holds, changes, answers, waivers, cards)


def _inputs(launch: Launch, facts: _Facts) -> dict[str, str]:
    nodes = facts.nodes[launch.pk]
    matrices, run = facts.asked_by(launch.domain), facts.run(launch.domain)
    holds = [hold for node in nodes for hold in facts.holds[node.pk] if hold.owner != launch.owner]
    changes = sorted({change_id for node in nodes for change_id in facts.changes[node.pk]})
    return {
        "launch": digest.of_value(
            [
                launch.title,
                launch.job_environment,
                launch.plan_id,
                launch.plan.fits if launch.plan else None,
                launch.template_id,
                [node.pk for node in nodes],
            ]
        ),
        "matrix": " ".join(f"{version.pk}:{version.digest}" for version in matrices),
        "versions": digest.of_value([_reported(node, facts.versions.get(node.pk, {})) for node in nodes]),
        "nodes": digest.of_value(
            [
                [node.pk, node.life_cycle, node.health, node.domain_id, facts.cards.get(node.pk, {})]
                for node in nodes
            ]
        ),
        "holds": digest.of_value(sorted([hold.pk, hold.owner] for hold in holds)),
        "changes": digest.of_value(changes),
        "benchmark": digest.of_value([run.pk, acceptance_of(run).verdict.value]) if run else "",
        "answers": digest.of_value(sorted(facts.answers[launch.pk])),
        "waivers": digest.of_value(sorted(facts.waivers[launch.pk])),
    }


def _reported(node: Node, versions: Mapping[str, Reported]) -> list[object]:
    return [node.name, sorted([name, said.loaded, said.declared] for name, said in versions.items())]
