"""Evaluations of the gate: asked for, and made by a worker."""

from __future__ import annotations

from dataclasses import asdict, replace
from datetime import timedelta
from typing import Any

from apps.audit.services import decision
from apps.core import actor as actors
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.rights import TokenScope
from apps.core.texts import say
from apps.core.verdicts import Verdict, combine
from apps.environments.queries import matrix_in_force, report_digests
from apps.evidence import services as evidence
from apps.jobs.models import JobState
from apps.jobs.services import enqueue
from apps.launches import queries
from apps.launches.engine.checklist import Found, Item, parse_items
from apps.launches.engine.standing import Standing, standing_of
from apps.launches.models import Answer, Evaluation
from apps.launches.queries.checks import CHECKS, Subject, evidence_ends
from apps.launches.queries.inputs import active_waivers, current_inputs, nodes_of
from apps.launches.services.launches import lock, locked, may_write, not_in_state, note, tell


@decision
def request_evaluation(*, actor: Actor, launch_id: Any, anew: bool = False) -> Evaluation:
    """Ask for an evaluation of an open launch.

    One that is under way, or that stands and waits for signatures or has some, is the same one: asking takes no
    signature back. anew: a new one all the same, which has to be signed again; only who may operate asks so.
    Needs READ, and gate:evaluate of a token; anew OPERATE and launch:write. Raises Conflict where the launch is over.
    """
    launch = locked(actor, launch_id)
    actor.require_token_scope(TokenScope.GATE_EVALUATE)
    if anew:
        may_write(actor, launch.cluster.scope_id)
    if launch.is_over:
        raise not_in_state(launch)
    kept = _kept(queries.decision_of(launch), anew=anew)
    if kept is not None:
        return kept
    evaluation = Evaluation.objects.create(
        launch=launch,
        requested_at=clock.now(),
        requested_by_id=actor.person_id,
        requested_label=actor.label[:200],
    )
    evaluation.job = enqueue(
        "launches.evaluate", actor=actor, scope_id=launch.cluster.scope_id, evaluation_id=str(evaluation.pk)
    )
    evaluation.save(update_fields=["job"])
    return evaluation


def _kept(decided: queries.Decision, *, anew: bool) -> Evaluation | None:
    """The newest evaluation where asking again must not replace it."""
    evaluation = decided.evaluation
    if evaluation is None or decided.has_failed:
        return None
    if evaluation.done_at is None:
        is_waiting = evaluation.job is not None and evaluation.job.state == JobState.QUEUED
        return evaluation if is_waiting or not anew else None
    if anew or decided.is_stale:
        return None
    # One that stops the launch by itself is made again whenever somebody asks, unless somebody signed it.
    passes = decided.standing in (Standing.GO, Standing.NEEDS_SIGNOFF)
    return evaluation if passes or evaluation.sign_offs.exists() else None


@decision
def evaluate(*, evaluation_id: str) -> Evaluation:
    """Run every item of the checklist and write the evaluation down for good. Done once; again is no error."""
    for launch_id in Evaluation.objects.filter(pk=evaluation_id).values_list("launch_id", flat=True):
        lock(launch_id)
    evaluation = Evaluation.objects.select_related(
        "launch__cluster", "launch__domain", "launch__template", "launch__plan__plan"
    ).get(pk=evaluation_id)
    if evaluation.done_at is not None:
        return evaluation
    launch, now = evaluation.launch, clock.now()
    # Inputs first: what changes while the checks run then makes the evaluation stale, instead of passing unseen.
    inputs = current_inputs(launch)
    subject = Subject(
        launch=launch, nodes=tuple(nodes_of(launch)), matrix=matrix_in_force(launch.domain), now=now
    )
    items = _items(subject)
    evaluation.items = items
    evaluation.verdict = combine(Verdict(item["verdict"]) for item in items).value
    evaluation.inputs = inputs
    evaluation.matrix_version = subject.matrix
    evaluation.done_at = now
    ends = [now + timedelta(seconds=launch.template.valid_s), *evidence_ends(subject)]
    evaluation.valid_until = min(ends)
    evaluation.digest = digest.of_value(
        [str(launch.pk), items, evaluation.inputs, now.isoformat(), evaluation.valid_until.isoformat()]
    )
    evaluation.save()
    proofs = {proof["sha256"] for item in items for proof in item["proofs"] if proof["sha256"]}
    evidence.pin(proofs | report_digests([node.pk for node in subject.nodes]))
    note(
        replace(actors.system("gate"), person_id=evaluation.requested_by_id),
        "launch.evaluated",
        launch,
        after={
            "evaluation": str(evaluation.pk),
            "verdict": evaluation.verdict,
            "standing": _standing_unsigned(evaluation).value,
            "digest": evaluation.digest,
            "items": {item["key"]: item["verdict"] for item in items},
        },
    )
    tell("gate.decided", launch, {"evaluation": str(evaluation.pk), "verdict": evaluation.verdict})
    return evaluation


def _standing_unsigned(evaluation: Evaluation) -> Standing:
    """Where the launch stands as soon as it is evaluated: nobody has signed that yet."""
    return standing_of(
        verdict=Verdict(evaluation.verdict),
        is_stale=False,
        signed_go=0,
        signed_no_go=0,
        needed=evaluation.launch.template.sign_offs,
    )


def _items(subject: Subject) -> list[dict[str, Any]]:
    answers: dict[str, Answer] = {}
    for answer in Answer.objects.filter(launch=subject.launch).order_by("id"):
        answers[answer.item] = answer
    waived = {waiver.item: waiver for waiver in active_waivers(subject.launch)}
    rows = []
    for item in parse_items(subject.launch.template.items):
        found = _answered(answers.get(item.key)) if item.manual else CHECKS[item.key](subject)
        row = _row(item, found, answers.get(item.key) if item.manual else None)
        waiver = waived.get(item.key)
        if waiver is not None and found.verdict in (Verdict.FAIL, Verdict.UNKNOWN, Verdict.WARN):
            row |= {"verdict": Verdict.WAIVED.value, "waived": found.verdict.value, "waiver": waiver.pk}
        rows.append(row)
    return rows


def _answered(answer: Answer | None) -> Found:
    if answer is None:
        return Found(verdict=Verdict.UNKNOWN, code="not_answered", message=say("nobody has answered yet"))
    return Found(verdict=Verdict(answer.verdict), code="answered", message=answer.note)


def _row(item: Item, found: Found, answer: Answer | None) -> dict[str, Any]:
    return {
        "key": item.key,
        "group": item.group.value,
        "manual": item.manual,
        "verdict": found.verdict.value,
        "code": found.code,
        "message": found.message,
        "values": dict(found.values),
        "nodes": list(found.nodes),
        "proofs": [asdict(proof) for proof in found.proofs],
        "offer_rollback": found.offer_rollback,
        "answered_by": answer.person_id if answer else None,
        "answered_at": answer.at.isoformat() if answer else None,
    }
