"""What the page of a plan version shows, as plain values: ledgers as bars, the split of a step, what is assumed."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from itertools import groupby
from typing import Any

from django.http import QueryDict
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.texts import of_row
from apps.core.units import show_bytes, show_change, show_seconds
from apps.planning.commands import commands_for
from apps.planning.documents import in_order, is_search, model_name, spec_of
from apps.planning.engine.reading import read_plan
from apps.planning.engine.terms import TERMS
from apps.planning.found import found_csv, search_context
from apps.planning.input_words import ASSUMED, LAYOUT, MODEL, SYSTEM, Words, shown_value
from apps.planning.measured_forms import MeasuredStepForm
from apps.planning.models import PlanVersion
from apps.planning.queries import accelerators_per_node
from apps.planning.words import MEMORY, SWINGS, TIME

_FORMULAS = {term.key: term for term in TERMS}

MOST_IN_TEXT = 100  # layouts of a search whose result stands in the page as JSON


def version_context(actor: Actor, version: PlanVersion, asked_for: QueryDict) -> dict[str, Any]:
    """Everything that the page of a version shows, and what the reader may do there.

    asked_for: the address, with the filters of what a search found. Raises Invalid for names that are none.
    """
    plan, result = version.plan, version.result
    operates = actor.may(Right.OPERATE, plan.scope_id)
    spec, asked = spec_of(version.input["model"]), in_order(version.input)
    context: dict[str, Any] = {
        "plan": plan,
        "model_name": model_name(version.input["model"]),
        "parameters": f"{spec.total_params() / 1e9:,.1f}",
        "active_parameters": f"{spec.active_params() / 1e9:,.1f}" if spec.is_moe else "",
        "version": version,
        "result": result,
        "is_search": is_search(version.input),
        "is_launch_version": plan.launch_version_id == version.pk,
        "may_operate": operates,
        "may_use": operates and bool(version.fits) and plan.launch_version_id != version.pk,
        "may_ask_again": operates
        and version.done_at is None
        and (version.job is None or version.job.is_over),
        "model_rows": value_rows(asked["model"], MODEL),
        "system_rows": value_rows(asked["system"], SYSTEM),
        "layout_rows": value_rows(asked_of(asked), LAYOUT),
        "input_text": pretty(asked),
        "result_text": pretty(result) if result and len(result.get("best", ())) <= MOST_IN_TEXT else "",
    }
    if result is None:
        return context
    if context["is_search"]:
        priced = "accelerator_hour" in version.input.get("prices", {})
        return context | search_context(result, asked_for, priced=priced)
    measured = version.input["system"].get("measured") or {}
    return context | estimate_context(result, measured) | measured_context(version, operates)


def pretty(value: Any) -> str:
    """JSON for people to read and copy."""
    return json.dumps(value, indent=2, ensure_ascii=False)


def asked_of(document: Mapping[str, Any]) -> dict[str, Any]:
    """The layout of a document, or the wishes of a search."""
    if not is_search(document):
        return dict(document["parallel"])
    return {key: value for key, value in document.items() if key not in ("model", "system", "top")}


def value_rows(values: Mapping[str, Any], words: Words) -> list[dict[str, Any]]:
    """An object of the input as rows of name and value; nested objects figure by figure."""
    rows = []
    for key, value in values.items():
        if key == "said":  # the source again, to be translated
            continue
        if key == "source" and "said" in values:
            rows.append({"name": words.get(key, key), "value": source_shown(values)})
        elif isinstance(value, Mapping):
            inner = value_rows(value, words)
            rows += [{**row, "name": f"{words.get(key, key)} · {row['name']}"} for row in inner]
        else:
            rows.append({"name": words.get(key, key), "value": shown_value(key, value)})
    return rows


def source_shown(measured: Mapping[str, Any]) -> str:
    """Where measured figures of a system are from, in the reader's language."""
    return said({"message": measured.get("source", ""), **measured.get("said", {})})


def estimate_context(result: Mapping[str, Any], measured: Mapping[str, Any]) -> dict[str, Any]:
    """Ledgers of one layout. measured: figures of the cluster itself that the input gave."""
    memory = result["memory"]
    fullest = max(memory["stages"], key=lambda stage: stage["total_bytes"])
    limit = memory["capacity_bytes"] * (1.0 - memory["reserve_share"])
    return {
        "memory": memory,
        "memory_limit": limit,
        "fullest_number": fullest["stage"] + 1,
        "fullest_share": fullest["total_bytes"] / memory["capacity_bytes"],
        "missing_bytes": max(0.0, fullest["total_bytes"] - limit),
        "stage_rows": stage_rows(memory),
        "memory_scale": max(memory["capacity_bytes"], memory["peak_bytes"]),
        "memory_words": list(MEMORY.values()),
        "time_parts": time_parts(result["time"]),
        "time_rows": time_rows(result),
        "swing_rows": swing_rows(result),
        "assumption_rows": assumption_rows(result, measured),
        "tokens_shown": f"{result['tokens_per_s']:,.0f}",
        "tokens_between": tokens_between(result),
        "memory_terms": [
            {"name": word, "term": _FORMULAS.get(f"memory.{key}")} for key, word in MEMORY.items()
        ],
    }


def measured_context(version: PlanVersion, operates: bool) -> dict[str, Any]:
    """Snippets to run the layout with, and what it took when it ran."""
    steps = list(version.measured_steps.filter(withdrawn_at__isnull=True).select_related("noted_by"))
    may_note = operates and version.plan.domain is not None
    return {
        "snippets": commands_for(read_plan(version.input), accelerators_per_node(version.plan.domain)),
        "measured_steps": steps,
        "measured_form": MeasuredStepForm() if may_note else None,
    }


def stage_rows(memory: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The memory of each stage as a bar; neighbours that hold the same are one row."""
    rows = []
    for _key, group in groupby(memory["stages"], key=lambda stage: [stage["layers"], stage["total_bytes"]]):
        same = list(group)
        first, last = same[0]["stage"] + 1, same[-1]["stage"] + 1
        rows.append(
            {
                "stages": str(first) if first == last else f"{first}–{last}",
                "layers": same[0]["layers"],
                "parts": memory_parts(same[0]),
                "total_bytes": same[0]["total_bytes"],
                "share": same[0]["total_bytes"] / memory["capacity_bytes"],
                "cells": [same[0][key] for key in MEMORY],
                "fullest": any(one["total_bytes"] == memory["peak_bytes"] for one in same),
            }
        )
    return rows


def memory_parts(stage: Mapping[str, Any]) -> list[dict[str, Any]]:
    return [
        {"label": word, "value": stage[key], "shown": show_bytes(stage[key])} for key, word in MEMORY.items()
    ]


def time_parts(time: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts that a step takes, without those that take nothing."""
    return [
        {"label": word, "value": time[key], "shown": show_seconds(time[key])}
        for key, word in TIME.items()
        if time.get(key, 0) > 0
    ]


def time_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The parts of a step with their share and the formula behind each."""
    time, total = result["time"], result["iteration_time_s"]
    return [
        {
            "name": word,
            "seconds": time[key],
            "share": time[key] / total,
            "term": _FORMULAS.get(f"time.{key}"),
        }
        for key, word in TIME.items()
        if time.get(key, 0) > 0
    ]


def swing_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """How the step moves with each uncertain figure lowered and raised by a fifth, as changes of the step."""
    base = result["iteration_time_s"]
    return [
        {
            "name": SWINGS.get(swing["name"], swing["name"]),
            "lowered_shown": show_change(swing["lowered_s"] / base - 1.0),
            "raised_shown": show_change(swing["raised_s"] / base - 1.0),
        }
        for swing in result.get("sensitivity", ())
    ]


def tokens_between(result: Mapping[str, Any]) -> str:
    """The interval of throughput that follows from that of the step."""
    tokens = result["tokens_per_s"] * result["iteration_time_s"]
    said = {
        "low": f"{tokens / result['iteration_time_high_s']:,.0f}",
        "high": f"{tokens / result['iteration_time_low_s']:,.0f}",
    }
    return _("between %(low)s and %(high)s") % said


def assumption_rows(result: Mapping[str, Any], measured: Mapping[str, Any]) -> list[dict[str, Any]]:
    """What the figures rest on, with value and source: what was measured first, then what was assumed."""
    source = source_shown(measured)
    seen = [
        assumption_row(name, value, source, measured=True)
        for name, value in measured.items()
        if name not in ("source", "said")
    ]
    assumed = [
        assumption_row(one["name"], one["value"], said(of_row(one, "source")), measured=False)
        for one in result["assumptions"]
    ]
    return seen + assumed


def assumption_row(code: str, value: Any, source: str, *, measured: bool) -> dict[str, Any]:
    """One figure by its name for people, with the name that it has in documents beside it."""
    return {
        "name": ASSUMED.get(code, code),
        "code": code if code in ASSUMED else "",
        "value": shown_value(code, value),
        "source": source,
        "measured": measured,
    }


def ledger_csv(result: Mapping[str, Any], asked: QueryDict) -> list[Sequence[Any]]:
    """The memory ledger, or the layouts found that the address asks for, as rows for a CSV file, header first.

    Raises Invalid for names that are no filters.
    """
    if "best" in result:
        return found_csv(result, asked)
    columns = ("stage", "layers", *MEMORY, "total_bytes")
    return [columns, *([stage[name] for name in columns] for stage in result["memory"]["stages"])]
