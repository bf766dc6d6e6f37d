"""Answers of a Prometheus server's instant queries, turned into the text that an exporter would have served."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from apps.core.errors import Invalid
from apps.core.texts import say
from apps.health.engine.signals import DCGM_METRICS, DCGM_SHARES

# One query each: an answer for a whole cluster stays of bearable size.
QUERIES = (*DCGM_METRICS, *(name for part, wholes in DCGM_SHARES.values() for name in (part, *wholes)))


def texts_by_host(answers: Iterable[object], *, host_label: str) -> dict[str, str]:
    """Host to its samples, one line each, in the Prometheus text format without times.

    answers: decoded bodies of /api/v1/query. host_label: the label that names the host; a port behind it is
    left out, so that `instance` will do. Series without it are left out.
    Raises Invalid (not_prometheus) for what is no vector.
    """
    lines: dict[str, list[str]] = {}
    for answer in answers:
        for series in _vector(answer):
            labels, value = series["metric"], series["value"][1]
            host = str(labels.get(host_label) or "").rpartition(":")[0] or str(labels.get(host_label) or "")
            if host:
                lines.setdefault(host, []).append(_line(labels, str(value)))
    return {host: "\n".join([*sorted(texts), ""]) for host, texts in sorted(lines.items())}


def _vector(answer: object) -> list[Mapping[str, Any]]:
    data = answer.get("data") if isinstance(answer, Mapping) and answer.get("status") == "success" else None
    if not isinstance(data, Mapping) or data.get("resultType") != "vector":
        said = str(answer.get("error") or "") if isinstance(answer, Mapping) else ""
        raise Invalid(
            say("this is no answer of Prometheus %(said)s", said=said).strip()[:300], code="not_prometheus"
        )
    result = data.get("result")
    if not isinstance(result, list) or not all(_is_sample(series) for series in result):
        raise Invalid(say("the vector of Prometheus is not of the usual form"), code="not_prometheus")
    return result


def _is_sample(series: object) -> bool:
    if not isinstance(series, Mapping):
        return False
    value = series.get("value")
    return isinstance(series.get("metric"), Mapping) and isinstance(value, list) and len(value) == 2


def _line(labels: Mapping[str, Any], value: str) -> str:
    name = str(labels.get("__name__") or "")
    pairs = ",".join(f'{key}="{_escaped(str(labels[key]))}"' for key in sorted(labels) if key != "__name__")
    return f"{name}{{{pairs}}} {value}"


def _escaped(text: str) -> str:
    return text.replace("\\", "\\\\").replace('"', '\\"').replace("\n", "\\n")
