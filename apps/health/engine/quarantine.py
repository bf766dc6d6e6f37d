"""Whether a node should leave scheduling: a proposal from its faults and settled figures, under a policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.health.engine.actions import ActionClass, heaviest
from apps.health.engine.incidents import Incident
from apps.health.engine.thresholds import HealthRule


class Step(StrEnum):
    """none: leave it. sub_healthy: no new long jobs. quarantine: no new jobs at all."""

    NONE = "none"
    SUB_HEALTHY = "sub_healthy"
    QUARANTINE = "quarantine"


class HeldBack(StrEnum):
    """Why a proposal is not carried out by itself."""

    NOTHING = ""
    POLICY = "policy"
    PERSON = "person"
    SHARE = "share"


@dataclass(frozen=True, slots=True, kw_only=True)
class QuarantinePolicy:
    """What a team lets happen without asking.

    is_automatic: whether quarantine is set at all without a person. most_share: largest share of the nodes
    of a domain (0 to 1) that may be out by themselves; a rule that takes out more is more likely wrong
    than right.
    """

    is_automatic: bool = False
    most_share: float = 0.1


@dataclass(frozen=True, slots=True, kw_only=True)
class Proposal:
    """What should be done with a node, and why. reasons: codes such as xid:79 and rule:row-remap-failed.

    held_back: empty where the portal may do it by itself.
    """

    step: Step
    action_class: ActionClass
    reasons: tuple[str, ...]
    held_back: HeldBack


def propose(
    *,
    incidents: Iterable[Incident],
    settled: Iterable[tuple[HealthRule, Verdict]],
    policy: QuarantinePolicy,
    nodes: int,
    nodes_out: int,
    is_held_by_person: bool,
) -> Proposal:
    """A proposal for one node.

    incidents: open ones of the node. settled: its rules with their settled verdicts; unknown says nothing.
    nodes, nodes_out: size of its domain, and how many of them are out already. is_held_by_person: a person
    has set or lifted a hold on the node; that stands.
    Raises OutOfRange for a domain without nodes or more nodes out than there are.
    """
    if nodes < 1 or not 0 <= nodes_out <= nodes:
        raise OutOfRange(
            say("a domain has nodes, and no more out than there are"), nodes=nodes, nodes_out=nodes_out
        )
    open_incidents = list(incidents)
    failing = [rule for rule, verdict in settled if verdict is Verdict.FAIL]
    warning = [rule for rule, verdict in settled if verdict is Verdict.WARN] if not failing else []
    reasons = [
        f"{fault.kind}:{fault.code}"
        for one in open_incidents
        if one.severity != "info"
        for fault in (one.lead, *(fault for fault in one.faults if fault.cordon and not fault.is_follower))
    ]
    reasons += [f"rule:{rule.id}" for rule in (*failing, *warning)]
    step = _step(open_incidents, has_failing=bool(failing), has_reasons=bool(reasons))
    classes = [one.action_class for one in open_incidents] + [
        rule.action_class for rule in (*failing, *warning)
    ]
    return Proposal(
        step=step,
        action_class=heaviest(classes) if reasons else ActionClass.NONE,
        reasons=tuple(dict.fromkeys(reasons)),
        held_back=_held_back(step, policy, (nodes_out + 1) / nodes, is_held_by_person=is_held_by_person),
    )


def _step(incidents: Iterable[Incident], *, has_failing: bool, has_reasons: bool) -> Step:
    if has_failing or any(incident.cordon for incident in incidents):
        return Step.QUARANTINE
    return Step.SUB_HEALTHY if has_reasons else Step.NONE


def _held_back(step: Step, policy: QuarantinePolicy, share: float, *, is_held_by_person: bool) -> HeldBack:
    if step is Step.NONE:
        return HeldBack.NOTHING
    if is_held_by_person:
        return HeldBack.PERSON
    if step is Step.QUARANTINE and not policy.is_automatic:
        return HeldBack.POLICY
    if step is Step.QUARANTINE and share > policy.most_share:
        return HeldBack.SHARE
    return HeldBack.NOTHING
