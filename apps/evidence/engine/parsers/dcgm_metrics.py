"""Samples of DCGM in the Prometheus text format, as dcgm-exporter serves them.

DCGM's blank values (huge numbers that mean unknown, not supported, not permitted) are read as null.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._prefixes import without_prefix
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable
from apps.evidence.engine.source import Source

KIND = "dcgm_metrics"
VERSION = 1

_MOST_SAMPLES = 100_000
_MOST_WARNINGS = 50
_SAMPLE = re.compile(r"\s*(?P<name>(?:DCGM|dcgm)_\w{1,120})\s*(?:\{(?P<labels>.*)\})?\s+(?P<rest>\S.*?)\s*$")
_LABEL = re.compile(r'\s*([A-Za-z_]\w*)\s*=\s*"((?:[^"\\]|\\.)*)"\s*(?:,|$)')
_VALUE = re.compile(
    r"(?P<value>[+-]?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|\.\d+|Inf|inf|NaN|nan))(?:\s+-?\d{1,20})?"
)
_ESCAPE = re.compile(r"\\(.)")
_TITLE = re.compile(
    r"^[^\n\"'`]{0,80}?\b(?:(?:HELP|TYPE) (?:DCGM|dcgm)_\w+ \w|(?:DCGM|dcgm)_\w+\{\w+=(?:\"|&quot;))",
    re.MULTILINE,
)

_UUID = ("UUID", "gpu_uuid", "uuid", "GPU_UUID")
_HOST = ("Hostname", "hostname", "node", "Node")
_MODEL = ("modelName", "model_name", "gpu_model_name")
_DRIVER = ("DCGM_FI_DRIVER_VERSION", "driver_version")
_PCI = ("pci_bus_id", "pci_busid")
_MIG = {"instance": "GPU_I_ID", "profile": "GPU_I_PROFILE"}
_KNOWN = {"gpu", "device", *_UUID, *_HOST, *_MODEL, *_DRIVER, *_PCI, *_MIG.values()}
_CONTAINER = {
    "container",
    "namespace",
    "pod",
    "pod_uid",
    "exported_container",
    "exported_namespace",
    "exported_pod",
}


@dataclass(slots=True)
class _Collected:
    metrics: Counter[str] = field(default_factory=Counter)
    values: dict[str, list[float | None]] = field(default_factory=dict)
    gpus: dict[tuple[str, ...], dict[str, Any]] = field(default_factory=dict)
    distinct: dict[str, dict[str, None]] = field(default_factory=dict)
    samples: int = 0
    unread: int = 0
    seen: set[tuple[str, str]] = field(default_factory=set)
    warnings: list[ReadingWarning] = field(default_factory=list)

    def warn(self, code: str, message: str, line: int, text: str) -> None:
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(ReadingWarning(code=code, message=message, line=line, text=text[:200]))


def recognise(sample: str) -> int:
    found = len(_TITLE.findall(sample))
    return 90 if found > 1 else 60 if found else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no sample of DCGM is there."""
    collected = _Collected()
    for number, text in _sample_lines(source):
        _take(collected, number, text)
    if not collected.samples:
        raise Unreadable(say("no sample of DCGM was found"), code="no_samples")
    return Reading(
        kind=KIND, facts=_facts(collected), warnings=tuple(collected.warnings), parser_version=VERSION
    )


def _sample_lines(source: Source) -> Iterator[tuple[int, str]]:
    for line in source.lines():
        if "DCGM_" not in line.text and "dcgm_" not in line.text:
            continue
        text = without_prefix(line.text).strip()
        if text.startswith(("DCGM_", "dcgm_")):
            yield line.number, text


def _take(collected: _Collected, number: int, text: str) -> None:
    found = _SAMPLE.match(text)
    value = _VALUE.fullmatch(found["rest"]) if found else None
    labels = _labels(found["labels"] or "") if found else None
    if found is None or value is None or labels is None:
        collected.warn("sample_not_understood", say("this sample could not be read"), number, text)
        return
    if collected.samples >= _MOST_SAMPLES:
        if not collected.unread:
            collected.warn(
                "samples_left_out",
                say("only the first %(most_samples)s samples are read", most_samples=_MOST_SAMPLES),
                number,
                "",
            )
        collected.unread += 1
        return
    series = (found["name"], found["labels"] or "")
    if series in collected.seen:
        collected.warn("sample_repeated", say("this series is there more than once"), number, text)
    collected.seen.add(series)
    figure = known_value(float(value["value"]))
    collected.samples += 1
    collected.metrics[found["name"]] += 1
    collected.values.setdefault(found["name"], []).append(figure)
    for name, keys in (("hosts", _HOST), ("models", _MODEL), ("driver_versions", _DRIVER)):
        if said := _first(labels, keys):
            collected.distinct.setdefault(name, {})[said] = None
    _add_to_gpu(collected, found["name"], figure, labels)


def _labels(text: str) -> dict[str, str] | None:
    """Labels of a sample; None where they are damaged. Values keep commas and braces, escapes are undone."""
    labels: dict[str, str] = {}
    position, end = 0, len(text.rstrip(", "))
    while position < end:
        found = _LABEL.match(text, position)
        if found is None:
            return None
        labels[found.group(1)] = _ESCAPE.sub(lambda m: "\n" if m[1] == "n" else m[1], found.group(2))
        position = found.end()
    return labels


def known_value(value: float) -> float | None:
    """The value, or None for DCGM's blanks (of 32 and 64 bit integers and of doubles), NaN and infinities."""
    if not math.isfinite(value) or abs(value) >= 9.2233720368547e18:
        return None
    if 2147483632 <= value <= 2147483635 or 140737488355328 <= value <= 140737488355331:
        return None
    return value


def _first(labels: dict[str, str], keys: tuple[str, ...]) -> str | None:
    return next((labels[key] for key in keys if labels.get(key)), None)


def _add_to_gpu(collected: _Collected, metric: str, figure: float | None, labels: dict[str, str]) -> None:
    """A GPU is told by its UUID, else by host and number; samples of MIG instances are kept apart."""
    uuid, host, gpu = _first(labels, _UUID), _first(labels, _HOST), labels.get("gpu")
    if uuid is None and gpu is None:
        return
    identity = ("uuid", uuid) if uuid else ("index", host or "", gpu or "")
    entry = collected.gpus.setdefault(
        identity,
        {
            "gpu": None,
            "uuid": None,
            "host": None,
            "model": None,
            "pci": None,
            "driver_version": None,
            "samples": [],
        },
    )
    said = (gpu, uuid, host, _first(labels, _MODEL), _first(labels, _PCI), _first(labels, _DRIVER))
    for key, value in zip(("gpu", "uuid", "host", "model", "pci", "driver_version"), said, strict=True):
        entry[key] = entry[key] or value
    instance = {key: labels[label] for key, label in _MIG.items() if labels.get(label)}
    more = {key: value for key, value in labels.items() if key not in _KNOWN | _CONTAINER}
    entry["samples"].append(
        {"metric": metric, "value": figure, "mig_instance": instance or None, "labels": more}
    )


def _facts(collected: _Collected) -> dict[str, Any]:
    return {
        "samples": collected.samples,
        "metrics": dict(collected.metrics),
        "gpus": len(collected.gpus),
        "hosts": list(collected.distinct.get("hosts", {})),
        "models": list(collected.distinct.get("models", {})),
        "driver_versions": list(collected.distinct.get("driver_versions", {})),
        "gpu_temp_c": _temperatures(collected),
        "values": collected.values,
        "by_gpu": list(collected.gpus.values()),
    }


def _temperatures(collected: _Collected) -> dict[str, float | None]:
    """Temperature in °C by GPU number; by host/number where the file holds several hosts."""
    several = len(collected.distinct.get("hosts", {})) > 1
    return {
        f"{entry['host']}/{entry['gpu']}" if several else str(entry["gpu"]): sample["value"]
        for entry in collected.gpus.values()
        for sample in entry["samples"]
        if sample["metric"].upper().removeprefix("DCGM_FI_DEV_").removeprefix("DCGM_") == "GPU_TEMP"
        and sample["mig_instance"] is None
    }
