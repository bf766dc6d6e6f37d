"""Does the plan fit the memory, and do its groups stay where the links are fast?"""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from apps.core.errors import Invalid
from apps.core.texts import joined, kept
from apps.core.verdicts import Verdict
from apps.fleet.engine import placement
from apps.fleet.engine.parallel import ParallelSizes
from apps.fleet.models import Accelerator
from apps.launches.engine.checklist import Found, Proof
from apps.launches.models import Launch
from apps.launches.queries.checks.subject import Subject


def plan_fits(subject: Subject) -> Found:
    """The plan of the launch was computed and fits with its reserve, on as many accelerators as there are."""
    version = subject.launch.plan
    if version is None:
        return Found(verdict=Verdict.UNKNOWN, code="no_plan", message="the launch has no plan")
    proof = _proof(subject.launch)
    if version.fits is None:
        return Found(
            verdict=Verdict.UNKNOWN, code="plan_not_computed", message="not computed yet", proofs=(proof,)
        )
    cards = Accelerator.objects.filter(node_id__in=subject.node_ids).count()
    planned = int(version.input.get("system", {}).get("accelerators", 0))
    if planned != cards:
        message = f"planned for {planned} accelerators, the launch has {cards}"
        return Found(
            verdict=Verdict.FAIL,
            code="plan_of_other_size",
            message=message,
            values={"planned": planned, "cards": cards},
            proofs=(proof,),
        )
    if not version.fits:
        return Found(
            verdict=Verdict.FAIL, code="does_not_fit", message="memory does not fit", proofs=(proof,)
        )
    return Found(
        verdict=Verdict.PASS,
        code="fits",
        message=f"{version} fits",
        values={"plan": str(version)},
        proofs=(proof,),
    )


def placement_sound(subject: Subject) -> Found:
    """With ranks in node order, no TP or EP group leaves its domain."""
    version = subject.launch.plan
    if version is None:
        return Found(verdict=Verdict.UNKNOWN, code="no_groups", message="without a plan there are no groups")
    try:
        result = placement.check(_seats(subject), _sizes(version.input.get("parallel", {})))
    except Invalid as error:
        details = joined("; ", [item.message for item in error.errors] or [error.message])
        return Found(
            verdict=Verdict.FAIL,
            code="placement_impossible",
            message=details,
            values=kept(details),
            proofs=(_proof(subject.launch),),
        )
    if not result.violations:
        return Found(
            verdict=Verdict.PASS,
            code="groups_inside",
            message="all TP and EP groups stay inside their domain",
        )
    first = result.violations[0]
    message = (
        f"groups that leave their {first.boundary.value}: {len(result.violations)}, "
        f"such as {first.dimension.value} group {first.group} over {', '.join(first.where)}"
    )
    values = {
        "n": len(result.violations),
        "dimension": first.dimension.value.upper(),
        "group": first.group,
        "places": ", ".join(first.where),
    }
    code = "groups_outside" if first.boundary is placement.Boundary.DOMAIN else "groups_outside_sub_domain"
    return Found(verdict=result.verdict, code=code, message=message, values=values)


def _proof(launch: Launch) -> Proof:
    version = launch.plan
    if version is None:
        return Proof(label="")
    return Proof(label=str(version), url=reverse("planning:version", args=[version.plan_id, version.number]))


def _seats(subject: Subject) -> tuple[placement.Seat, ...]:
    order = {node.pk: place for place, node in enumerate(subject.nodes)}
    cards = Accelerator.objects.filter(node_id__in=subject.node_ids).select_related(
        "node__domain", "sub_domain"
    )
    ranked = sorted(cards, key=lambda card: (order[card.node_id], card.index))
    return tuple(
        placement.Seat(
            node=card.node.name,
            index=card.index,
            domain=card.node.domain.name if card.node.domain else "",
            sub_domain=card.sub_domain.name if card.sub_domain else "",
        )
        for card in ranked
    )


def _sizes(parallel: dict[str, Any]) -> ParallelSizes:
    return ParallelSizes(
        tp=int(parallel.get("tp", 1)),
        cp=int(parallel.get("cp", 1)),
        ep=int(parallel.get("ep", 1)),
        dp=int(parallel.get("dp", 1)),
        pp=int(parallel.get("pp", 1)),
        expert_tp=int(parallel["etp"]) if parallel.get("etp") else None,
    )
