"""Are the nodes known to be well, and what ails those that are not?"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from django.urls import reverse

from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.environments.engine.hardware import AtOdds, HardwareFault
from apps.environments.queries import hardware_faults, policy_of
from apps.fleet.models import Node, NodeHealth
from apps.health.models import FaultRecord, HealthState
from apps.health.queries import open_faults
from apps.launches.engine.checklist import Found, Proof
from apps.launches.queries.checks.subject import Subject

_NAMED = 5  # nodes that the sentence names
_PROVEN = 3  # faults that are linked
_NOT_WELL = (
    (NodeHealth.FAULTY, Verdict.FAIL),
    (NodeHealth.UNKNOWN, Verdict.UNKNOWN),
    (NodeHealth.SUB_HEALTHY, Verdict.WARN),
)
_AT_ODDS = {
    AtOdds.MISSING: "fewer accelerators are reported than are on record",
    AtOdds.OTHER: "other accelerators are reported than are on record",
    AtOdds.UNCLEAR: "reports of accelerators contradict each other or the record",
}


def nodes_healthy(subject: Subject) -> Found:
    """Every node is known to be healthy and to have its accelerators; of what nothing is known is not healthy."""
    stale_after_s = policy_of(subject.launch.cluster).stale_after_s
    at_odds = hardware_faults(subject.node_ids, stale_after_s=stale_after_s)
    for health, verdict in _NOT_WELL:
        if nodes := [node for node in subject.nodes if node.health == health]:
            return _not_well(subject, nodes, health=health, verdict=verdict)
        if faults := {
            node.name: one
            for node in subject.nodes
            if (one := at_odds.get(node.pk)) and one.verdict is verdict
        }:
            return _accelerators(faults)
    count = len(subject.nodes)
    return Found(verdict=Verdict.PASS, code="healthy", message=f"healthy nodes: {count}", values={"n": count})


def _not_well(subject: Subject, nodes: Sequence[Node], *, health: NodeHealth, verdict: Verdict) -> Found:
    """Names the nodes with their causes, and links to their faults and to the page of health."""
    faults = _faults(nodes, health)
    reasons = _reasons(nodes, faults, health)
    causes = [{"node": node.name, "reasons": reasons.get(node.pk, [])} for node in nodes[:_NAMED]]
    names = ", ".join(_named(cause) for cause in causes) + (" …" if len(nodes) > _NAMED else "")
    page = f"{reverse('health:overview')}?cluster={subject.launch.cluster.slug}"
    proofs = [
        Proof(
            label=f"{fault.name}, {fault.node.name}",
            url=reverse("health:fault", args=[fault.pk]),
            sha256=fault.sha256,
        )
        for fault in faults[:_PROVEN]
    ]
    return Found(
        verdict=verdict,
        code=health.value,
        message=f"{health.value}: {names}",
        values={"names": names, "causes": causes, "more": max(0, len(nodes) - _NAMED)},
        nodes=tuple(node.name for node in nodes),
        proofs=(*proofs, Proof(label=say("health"), url=page)),
    )


def _accelerators(faults: Mapping[str, HardwareFault]) -> Found:
    """Names the nodes whose fault is of the first kind there is."""
    code = next(code for code in AtOdds if any(fault.code is code for fault in faults.values()))
    told = {name: fault for name, fault in faults.items() if fault.code is code}
    named = [f"{name} ({fault.said})" for name, fault in told.items()]
    names = ", ".join(named[:_NAMED]) + (" …" if len(named) > _NAMED else "")
    return Found(
        verdict=next(iter(told.values())).verdict,
        code=code.value,
        message=f"{_AT_ODDS[code]}: {names}",
        values={"names": names},
        nodes=tuple(told),
    )


def _faults(nodes: Sequence[Node], health: NodeHealth) -> list[FaultRecord]:
    """Open faults that make these nodes what they are."""
    if health is NodeHealth.UNKNOWN:
        return []
    rows = open_faults(node_ids=[node.pk for node in nodes]).exclude(severity="info")
    return list(rows.filter(cordon=True) if health is NodeHealth.FAULTY else rows)


def _reasons(
    nodes: Sequence[Node], faults: Sequence[FaultRecord], health: NodeHealth
) -> Mapping[int, list[str]]:
    """Node id to codes of what ails it, each once, as health names them: `xid:79`, `rule:port-down`."""
    found: dict[int, dict[str, None]] = {node.pk: {} for node in nodes}
    for fault in faults:
        found[fault.node_id][f"{fault.kind}:{fault.code}"] = None
    verdict = {NodeHealth.FAULTY: Verdict.FAIL, NodeHealth.SUB_HEALTHY: Verdict.WARN}.get(health)
    states = HealthState.objects.filter(node_id__in=list(found), verdict=verdict) if verdict else ()
    for state in states:
        found[state.node_id][f"rule:{state.rule}"] = None
    return {pk: sorted(codes) for pk, codes in found.items()}


def _named(cause: Mapping[str, Any]) -> str:
    """A node with its causes, for machines: the codes as they are."""
    return f"{cause['node']} ({', '.join(cause['reasons'])})" if cause["reasons"] else str(cause["node"])
