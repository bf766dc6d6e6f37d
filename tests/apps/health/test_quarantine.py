"""Proposals to take a node out of scheduling."""

from __future__ import annotations

import pytest

from apps.core.errors import OutOfRange
from apps.core.verdicts import Verdict
from apps.health.engine.actions import ActionClass
from apps.health.engine.faults import fault_of_xid
from apps.health.engine.incidents import Incident, incidents_of
from apps.health.engine.quarantine import HeldBack, Proposal, QuarantinePolicy, Step, propose
from apps.health.engine.thresholds import HealthRule, built_in_rules

AUTOMATIC = QuarantinePolicy(is_automatic=True, most_share=0.1)
RULES = {rule.id: rule for rule in built_in_rules()}


def xids(*codes: int) -> tuple[Incident, ...]:
    return incidents_of(
        fault_of_xid({"code": code, "line": line}) for line, code in enumerate(codes, start=1)
    )


def proposal(
    incidents: tuple[Incident, ...] = (),
    settled: tuple[tuple[HealthRule, Verdict], ...] = (),
    *,
    policy: QuarantinePolicy = AUTOMATIC,
    nodes_out: int = 0,
    is_held_by_person: bool = False,
) -> Proposal:
    return propose(
        incidents=incidents,
        settled=settled,
        policy=policy,
        nodes=18,
        nodes_out=nodes_out,
        is_held_by_person=is_held_by_person,
    )


def test_a_lost_gpu_quarantines_its_node() -> None:
    found = proposal(xids(79))

    assert (found.step, found.action_class, found.reasons) == (
        Step.QUARANTINE,
        ActionClass.REBOOT,
        ("xid:79",),
    )
    assert found.held_back is HeldBack.NOTHING


def test_what_asks_for_the_quarantine_is_named_beside_the_fault_that_came_first() -> None:
    found = proposal(xids(13, 79, 43))

    assert (found.step, found.reasons) == (Step.QUARANTINE, ("xid:13", "xid:79"))


def test_a_fault_of_a_program_makes_a_node_sub_healthy_only() -> None:
    found = proposal(xids(13, 43))

    assert (found.step, found.action_class) == (Step.SUB_HEALTHY, ActionClass.RESTART_APP)


@pytest.mark.parametrize(
    ("verdict", "step"),
    [
        (Verdict.FAIL, Step.QUARANTINE),
        (Verdict.WARN, Step.SUB_HEALTHY),
        (Verdict.PASS, Step.NONE),
        (Verdict.UNKNOWN, Step.NONE),
    ],
)
def test_a_settled_figure_decides_the_step(verdict: Verdict, step: Step) -> None:
    found = proposal(settled=((RULES["gpu-temperature"], verdict),))

    assert found.step is step
    assert bool(found.reasons) == (step is not Step.NONE)


def test_a_healthy_node_needs_nothing() -> None:
    assert proposal(xids(106)) == Proposal(
        step=Step.NONE, action_class=ActionClass.NONE, reasons=(), held_back=HeldBack.NOTHING
    )


def test_without_a_policy_a_person_decides() -> None:
    assert proposal(xids(79), policy=QuarantinePolicy()).held_back is HeldBack.POLICY


def test_the_hold_of_a_person_wins() -> None:
    assert proposal(xids(79), is_held_by_person=True).held_back is HeldBack.PERSON


@pytest.mark.parametrize(
    ("nodes_out", "held_back"), [(0, HeldBack.NOTHING), (1, HeldBack.SHARE), (17, HeldBack.SHARE)]
)
def test_automation_never_takes_out_more_than_its_share(nodes_out: int, held_back: HeldBack) -> None:
    assert proposal(xids(79), nodes_out=nodes_out).held_back is held_back


@pytest.mark.parametrize(("nodes", "nodes_out"), [(0, 0), (4, 5), (4, -1)])
def test_a_domain_that_cannot_be_is_refused(nodes: int, nodes_out: int) -> None:
    with pytest.raises(OutOfRange):
        propose(
            incidents=(),
            settled=(),
            policy=AUTOMATIC,
            nodes=nodes,
            nodes_out=nodes_out,
            is_held_by_person=False,
        )
