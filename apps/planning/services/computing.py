"""Computing what a plan document asks: an estimate of one layout, or a search for the best ones."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import replace
from typing import Any

from apps.audit.services import decision
from apps.core.actor import Actor
from apps.core.rights import Right, TokenScope
from apps.jobs.models import Job
from apps.jobs.services import enqueue
from apps.planning.documents import is_search, parallel_of_found, require_storable
from apps.planning.engine.ablations import Ablation, ablations
from apps.planning.engine.coefficients import document as coefficients_document
from apps.planning.engine.estimate import estimate
from apps.planning.engine.nearest import shortfall
from apps.planning.engine.reading import read_plan
from apps.planning.engine.reading_search import read_search
from apps.planning.engine.search import search
from apps.planning.engine.sensitivity import sensitivity
from apps.planning.services.asked import written_out

Progress = Callable[[int, int], None]


def engine_version() -> str:
    """Which coefficients an answer was computed with: their number and date."""
    meta = coefficients_document()["meta"]
    return f"{meta['version']} · {meta['as_of']}"


def check_document(document: dict[str, Any]) -> None:
    """Raises Invalid with a pointer to each field that is wrong."""
    require_storable(document)
    if is_search(document):
        read_search(document)
    else:
        read_plan(document)


def answer_to(document: dict[str, Any], on_progress: Progress | None = None) -> dict[str, Any]:
    """The answer as JSON. on_progress(done, total) is called between parts of a search and may raise to stop."""
    answer = _search(document, on_progress) if is_search(document) else _estimate(document)
    return answer | {"engine_version": engine_version()}


def uncalibrated_step_s(document: dict[str, Any]) -> float:
    """Seconds of a step as predicted without the cluster's own step times; measured bandwidth stays."""
    plan = read_plan(document)
    measured = replace(plan.system.measured, step_scale=None)
    return estimate(replace(plan, system=replace(plan.system, measured=measured))).iteration_time_s


@decision
def ask(*, actor: Actor, scope_id: int, document: dict[str, Any]) -> Job:
    """Compute a document without keeping a plan; the answer is the job's result. Raises Invalid."""
    actor.require(Right.OPERATE, scope_id)
    actor.require_token_scope(TokenScope.PLAN_WRITE)
    document = written_out(document, scope_id=scope_id)
    check_document(document)
    return enqueue("planning.ask", actor=actor, scope_id=scope_id, document=document)


def _estimate(document: dict[str, Any]) -> dict[str, Any]:
    plan, asked = read_plan(document), document["parallel"]
    return estimate(plan).to_json() | {
        "sensitivity": [
            {"name": swing.name, "lowered_s": swing.lowered_s, "raised_s": swing.raised_s}
            for swing in sensitivity(plan)
        ],
        "ablations": [_ablation(one, asked) for one in ablations(plan)],
    }


def _ablation(one: Ablation, asked: dict[str, Any]) -> dict[str, Any]:
    """An ablation with its prediction, and as a layout that can become a version; asked: the plan's own layout."""
    predicted = one.prediction
    return {
        "tp": one.tp,
        "pp": one.pp,
        "dp": one.dp,
        "question": one.question,
        "problems": list(one.problems),
        "parallel": parallel_of_found(predicted.configuration, asked) if predicted else None,
        "iteration_time_s": predicted.iteration_time_s if predicted else None,
        "tokens_per_s": predicted.tokens_per_s if predicted else None,
        "mfu": predicted.mfu if predicted else None,
        "fits": predicted.memory.fits if predicted else None,
    }


def _search(document: dict[str, Any], on_progress: Progress | None) -> dict[str, Any]:
    wanted = read_search(document)
    started = time.perf_counter()
    found = search(wanted, on_progress=on_progress)
    answer = found.to_json(time.perf_counter() - started)
    if not found.feasible:
        answer |= shortfall(wanted).to_json()
    return answer
