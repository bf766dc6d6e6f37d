"""Which nodes should leave scheduling, and why: proposals for those with faults or failing figures."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from apps.core.actor import Actor
from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.fleet.models import Hold, HoldKind, Node, NodeHealth
from apps.fleet.queries import nodes_visible
from apps.health.engine.actions import ActionClass
from apps.health.engine.faults import DecidedBy, Fault, FaultKind
from apps.health.engine.incidents import incidents_of
from apps.health.engine.quarantine import Proposal, QuarantinePolicy, Step, propose
from apps.health.engine.thresholds import HealthRule
from apps.health.models import FaultRecord, HealthPolicy, HealthState
from apps.health.queries.rules import rules_of_each

AUTOMATION = say("health policy")  # how the trail and holds name what the portal does by itself


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeProposal:
    """A node, what should be done with it, and the quarantine that it is in already (None: in none).

    since: when the first of what speaks for it began; None where nothing does.
    """

    node: Node
    proposal: Proposal
    held: Hold | None
    since: datetime | None


def policy_of(cluster_id: int) -> HealthPolicy:
    """The cluster's policy; an unsaved one that lets nothing happen by itself (version 0) where it has none."""
    held = HealthPolicy.objects.filter(cluster_id=cluster_id).first()
    return held or HealthPolicy(cluster_id=cluster_id, automatic_quarantine=False, most_share=0.1, version=0)


def proposals(actor: Actor, *, cluster_id: int | None = None) -> list[NodeProposal]:
    """Proposals for all nodes that are not well, the gravest first; as many queries for many as for one."""
    nodes = nodes_visible(actor).in_use().filter(health__in=[NodeHealth.FAULTY, NodeHealth.SUB_HEALTHY])
    if cluster_id is not None:
        nodes = nodes.filter(cluster_id=cluster_id)
    found = [one for one in proposals_for(list(nodes)) if one.proposal.step is not Step.NONE]
    order = (Step.QUARANTINE, Step.SUB_HEALTHY)
    return sorted(
        found, key=lambda one: (one.held is not None, order.index(one.proposal.step), one.node.name)
    )


def grounds_of(node_id: int) -> set[str]:
    """The evidence of what speaks against a node now: its open faults, and its figures beyond their limits."""
    faults = FaultRecord.objects.filter(node_id=node_id, resolved_at__isnull=True).order_by()
    states = HealthState.objects.filter(node_id=node_id, verdict__in=[Verdict.FAIL, Verdict.WARN])
    return {*faults.values_list("sha256", flat=True), *states.values_list("sha256", flat=True)}


def recovered(nodes: QuerySet[Node]) -> QuerySet[Hold]:
    """The quarantines that these nodes are in though they are healthy by now, the oldest first."""
    holds = Hold.objects.filter(kind=HoldKind.QUARANTINE, released_at__isnull=True)
    well = nodes.filter(health=NodeHealth.HEALTHY).order_by()
    return holds.filter(node__in=well).select_related("node__cluster").order_by("since", "pk")


def proposals_for(nodes: Sequence[Node]) -> list[NodeProposal]:
    """A proposal for each of these nodes."""
    ids = [node.pk for node in nodes]
    faults: dict[int, list[FaultRecord]] = defaultdict(list)
    for fault in FaultRecord.objects.filter(node_id__in=ids, resolved_at__isnull=True).order_by("pk"):
        faults[fault.node_id].append(fault)
    states: dict[int, list[HealthState]] = defaultdict(list)
    for state in HealthState.objects.filter(node_id__in=ids, verdict__in=[Verdict.FAIL, Verdict.WARN]):
        states[state.node_id].append(state)
    holds: dict[int, list[Hold]] = defaultdict(list)
    for hold in Hold.objects.filter(node_id__in=ids, kind=HoldKind.QUARANTINE).order_by("pk"):
        holds[hold.node_id].append(hold)
    domains = _domains({node.domain_id for node in nodes})
    clusters = _clusters({node.cluster_id for node in nodes})
    return [
        _proposal(node, faults[node.pk], states[node.pk], holds[node.pk], clusters[node.cluster_id], domains)
        for node in nodes
    ]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Cluster:
    """What a cluster's team has set."""

    rules: dict[str, HealthRule]
    policy: QuarantinePolicy


def _clusters(cluster_ids: Collection[int]) -> dict[int, _Cluster]:
    """Cluster id to what its team has set; without a policy nothing happens by itself."""
    policies = {row.cluster_id: row for row in HealthPolicy.objects.filter(cluster_id__in=cluster_ids)}
    return {
        pk: _Cluster(
            rules={rule.id: rule for rule in rules},
            policy=QuarantinePolicy(
                is_automatic=policies[pk].automatic_quarantine, most_share=policies[pk].most_share
            )
            if pk in policies
            else QuarantinePolicy(),
        )
        for pk, rules in rules_of_each(cluster_ids).items()
    }


def _domains(domain_ids: Iterable[int | None]) -> dict[int | None, tuple[int, int]]:
    """Domain id to its nodes in use, and how many of them are in quarantine."""
    members = Node.objects.in_use().filter(domain_id__in=[pk for pk in domain_ids if pk])
    sizes = Counter(members.values_list("domain_id", flat=True))
    held = Hold.objects.filter(node__in=members, kind=HoldKind.QUARANTINE, released_at__isnull=True)
    out = Counter(held.values_list("node__domain_id", flat=True))
    return {pk: (sizes[pk], out[pk]) for pk in sizes}


def _proposal(
    node: Node,
    faults: Sequence[FaultRecord],
    states: Sequence[HealthState],
    holds: Sequence[Hold],
    cluster: _Cluster,
    domains: dict[int | None, tuple[int, int]],
) -> NodeProposal:
    held = next((hold for hold in holds if hold.released_at is None), None)
    size, out = domains.get(node.domain_id, (1, 0))
    others_out = out - (held is not None and node.domain_id in domains)
    began = [state.since for state in states] + [fault.first_seen_at for fault in faults]
    proposal = propose(
        incidents=incidents_of(fault_of(fault, host=node.name) for fault in faults),
        settled=[
            (cluster.rules[state.rule], Verdict(state.verdict))
            for state in states
            if state.rule in cluster.rules
        ],
        policy=cluster.policy,
        nodes=size,
        nodes_out=others_out,
        is_held_by_person=_is_persons(holds, began),
    )
    return NodeProposal(node=node, proposal=proposal, held=held, since=min(began, default=None))


def _is_persons(holds: Sequence[Hold], began: Sequence[datetime]) -> bool:
    """Whether a person has set the quarantine, or lifted the last one after all that speaks for it began."""
    if not holds:
        return False
    last = holds[-1]
    if last.released_at is None:
        return not last.automatic
    return last.released_by_label != AUTOMATION and all(last.released_at >= at for at in began)


def fault_of(record: FaultRecord, *, host: str) -> Fault:
    """A kept fault as the engines take it. Its log is not at hand, so it has no time to be grouped by."""
    return Fault(
        kind=FaultKind(record.kind),
        code=record.code,
        title="",
        meaning="",
        severity=record.severity,
        action=record.action,
        action_class=ActionClass(record.action_class),
        cordon=record.cordon,
        decided_by=DecidedBy.TABLE,
        is_known=True,
        is_follower=False,
        device=record.device,
        host=host,
        link=None,
        at=record.at_text,
        at_s=None,
        line=record.line,
        last_line=record.line,
        count=record.count,
        text=record.text,
    )
