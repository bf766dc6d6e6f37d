"""Are the nodes there to be used: free, not being changed, and looked after?"""

from __future__ import annotations

from collections import defaultdict

from django.urls import reverse

from apps.changes.queries import open_changes_on
from apps.core.hostlist import fold
from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.fleet.models import HoldKind, LifeCycle
from apps.fleet.queries import active_holds
from apps.health.queries import overdue_upkeep
from apps.launches.engine.checklist import Found, Proof
from apps.launches.queries.checks.subject import Subject


def nodes_free(subject: Subject) -> Found:
    """No node is held for something else, in quarantine, in repair or retired."""
    out = [node.name for node in subject.nodes if node.life_cycle in (LifeCycle.REPAIR, LifeCycle.RETIRED)]
    holds = active_holds(subject.node_ids).exclude(owner=subject.launch.owner)
    by_kind: dict[str, list[str]] = defaultdict(list)
    for hold in holds:
        by_kind[hold.kind].append(hold.node.name)
    if out:
        by_kind["life_cycle"] = out
    if not by_kind:
        count = len(subject.nodes)
        return Found(verdict=Verdict.PASS, code="free", message=f"free nodes: {count}", values={"n": count})
    kinds = {kind: fold(sorted(names)) for kind, names in sorted(by_kind.items())}
    return Found(
        verdict=Verdict.FAIL,
        code="held",
        message="not free: " + "; ".join(f"{kind}: {names}" for kind, names in kinds.items()),
        values={"kinds": kinds},
        nodes=tuple(sorted({name for names in by_kind.values() for name in names})),
    )


def no_open_change(subject: Subject) -> Found:
    """No change is under way on these nodes."""
    changes = list(open_changes_on(subject.node_ids, under_way_only=True))
    held = active_holds(subject.node_ids).filter(kind=HoldKind.CHANGE).exists()
    if not changes and not held:
        return Found(verdict=Verdict.PASS, code="no_change", message="no change is under way")
    proofs = tuple(
        Proof(label=str(change), url=reverse("changes:change", args=[change.pk])) for change in changes
    )
    if not changes:
        return Found(verdict=Verdict.FAIL, code="held_by_change", message="nodes are held by a change")
    names = ", ".join(str(change) for change in changes[:3])
    return Found(
        verdict=Verdict.FAIL,
        code="change_under_way",
        message=f"under way: {names}",
        values={"changes": names},
        proofs=proofs,
    )


def upkeep_done(subject: Subject) -> Found:
    """No upkeep of cooling and fittings is overdue. Overdue upkeep warns: it shortens lives, it stops no job."""
    overdue = list(overdue_upkeep(subject.launch.domain, today=subject.now.date())[:10])
    if not overdue:
        return Found(verdict=Verdict.PASS, code="upkeep_done", message="no upkeep is overdue")
    names = ", ".join(str(task) for task in overdue[:3])
    return Found(
        verdict=Verdict.WARN,
        code="upkeep_overdue",
        message=f"overdue: {names}",
        values={"names": names},
        proofs=(Proof(label=say("upkeep"), url=reverse("health:upkeep")),),
    )
