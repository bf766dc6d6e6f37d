"""`nvidia-smi nvlink -s` (state and speed of each link) and `-e` (its error counters).

The speed is the raw rate of one link in one direction: 26.562 GB/s is a 25 GB/s link of Hopper.
"""

from __future__ import annotations

import re
from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.core.units import GB
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._tree import plain_key
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvidia_smi_nvlink"
VERSION = 1

_GPU = re.compile(
    r"GPU (?P<index>\d{1,3}): (?P<name>[^():]{1,80}?)(?: ?\(UUID: (?P<uuid>[^()]{1,64})\)(?P<verdict>.{0,200})|$)"
)
_LINK = re.compile(r"Link (?P<link>\d{1,3}): (?P<text>.{1,120})")
_SPEED = re.compile(r"(?P<number>\d+(?:\.\d+)?) ?GB/s")
_INACTIVE = re.compile(r"<?inactive>?", re.IGNORECASE)
_ERRORS = re.compile(
    r"(?P<name>[A-Za-z][\w ()/-]{0,60}?)(?: Errors?)?: (?P<count>\d{1,20}(?:e[+-]?\d{1,3})?)"
)
_NO_LINKS = re.compile(r"all links are inactive", re.IGNORECASE)
_UNSUPPORTED = re.compile(r"does not (?:have or )?support|Not Supported", re.IGNORECASE)
_SAMPLE = re.compile(
    r"\bGPU \d{1,3}: [^\n]{1,150}\n[^\n]{0,80}?"
    r"(?:\bLink \d{1,3}: (?:[\d.]+ GB/s|<inactive>|[A-Z][\w ]{0,40}: \d)|NVML: Unable to retrieve NVLink information)",
    re.IGNORECASE,
)


@dataclass(slots=True)
class Gpu:
    """One GPU of the list. speeds: link to what is printed; errors: link to counter to count."""

    index: int
    name: str
    uuid: str | None
    line: Line
    speeds: dict[int, str] = field(default_factory=dict)
    errors: dict[int, dict[str, float]] = field(default_factory=dict)
    all_inactive: bool = False
    supported: bool = True

    def active(self) -> int | None:
        """Links that run; None where nothing is said about them."""
        if self.all_inactive:
            return 0
        return sum(bool(_SPEED.fullmatch(text)) for text in self.speeds.values()) if self.speeds else None


def recognise(sample: str) -> int:
    return 90 if _SAMPLE.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _has_gpus, notes)
    gpus = _gpus(lines, notes)
    if not any(gpu.speeds or gpu.errors or gpu.all_inactive for gpu in gpus):
        raise Unreadable(say("nvidia-smi nvlink: there is no GPU with links"), code="no_links")
    _check(gpus, notes)
    return Reading(kind=KIND, facts=_facts(gpus), warnings=notes.all(), parser_version=VERSION)


def _has_gpus(lines: list[Line]) -> bool:
    return any(_GPU.match(line.text.strip()) for line in lines)


def _gpus(lines: list[Line], notes: Notes) -> list[Gpu]:
    gpus: dict[int, Gpu] = {}
    current: Gpu | None = None
    for line in lines:
        text = line.text.strip()
        if head := _GPU.match(text):
            found = Gpu(int(head["index"]), head["name"].strip(), head["uuid"], line)
            current = gpus.setdefault(found.index, found)
            if current is not found:
                notes.add("gpu_repeated", say("GPU %(index)s is listed again", index=found.index), at=line)
            _add_verdict(current, head["verdict"] or "")
        elif current and _add_verdict(current, text):
            continue
        elif current and (link := _LINK.match(text)):
            _add_link(current, int(link["link"]), link["text"].strip(), line, notes)
        elif text.startswith(("Link ", "GPU ", "NVML")):
            notes.add(
                "line_not_understood", say("the line is neither a GPU nor the state of a link"), at=line
            )
    return list(gpus.values())


def _add_verdict(gpu: Gpu, text: str) -> bool:
    """Take what is said of all links of the GPU at once; whether anything was."""
    gpu.all_inactive = gpu.all_inactive or bool(_NO_LINKS.search(text))
    unsupported = bool(_UNSUPPORTED.search(text))
    gpu.supported = gpu.supported and not unsupported
    return unsupported or bool(_NO_LINKS.search(text))


def _add_link(gpu: Gpu, link: int, text: str, line: Line, notes: Notes) -> None:
    if _SPEED.fullmatch(text) or _INACTIVE.fullmatch(text):
        if link in gpu.speeds:
            notes.add(
                "link_repeated",
                say("GPU %(index)s link %(link)s is printed again", index=gpu.index, link=link),
                at=line,
            )
        gpu.speeds.setdefault(link, text)
    elif counter := _ERRORS.fullmatch(text):
        counters = gpu.errors.setdefault(link, {})
        number = int(counter["count"]) if counter["count"].isdigit() else float(counter["count"])
        if counters.setdefault(plain_key(counter["name"]), number) != number:
            notes.add(
                "link_repeated",
                say("GPU %(index)s link %(link)s is printed with another count", index=gpu.index, link=link),
                at=line,
            )
    else:
        notes.add(
            "line_not_understood",
            say("GPU %(index)s link %(link)s: not a speed, a state or a count", index=gpu.index, link=link),
            at=line,
        )


def _facts(gpus: list[Gpu]) -> dict[str, Any]:
    models = Counter(gpu.name for gpu in gpus)
    speeds = [text for gpu in gpus for text in gpu.speeds.values() if _SPEED.fullmatch(text)]
    return {
        "gpus": len(gpus),
        "model": next(iter(models)) if len(models) == 1 else None,
        "models": dict(models),
        "links_per_gpu": {str(gpu.index): gpu.active() for gpu in gpus},
        "speeds": list(dict.fromkeys(speeds)),
        "gpus_all_links_inactive": [gpu.index for gpu in gpus if gpu.active() == 0],
        "links": [
            {
                "index": gpu.index,
                "uuid": gpu.uuid,
                "supported": gpu.supported,
                "unidirectional_bytes_per_s": {
                    str(link): round(float(speed["number"]) * GB)
                    for link, text in gpu.speeds.items()
                    if (speed := _SPEED.fullmatch(text))
                },
                "inactive": [link for link, text in gpu.speeds.items() if _INACTIVE.fullmatch(text)],
                "errors": {str(link): counters for link, counters in gpu.errors.items()} or None,
            }
            for gpu in gpus
        ],
    }


def _check(gpus: list[Gpu], notes: Notes) -> None:
    for gpu in gpus:
        links = sorted(gpu.speeds.keys() | gpu.errors.keys())
        lost = sorted(set(range(links[-1] + 1)) - set(links)) if links else []
        if lost:
            names = ", ".join(map(str, lost[:8]))
            notes.add(
                "links_missing",
                say("GPU %(index)s has no line for link %(names)s", index=gpu.index, names=names),
                at=gpu.line,
            )
        if not links and not gpu.all_inactive and gpu.supported:
            notes.add(
                "links_missing", say("GPU %(index)s has no line about links", index=gpu.index), at=gpu.line
            )
        if links and gpu.all_inactive:
            notes.add(
                "contradictory_value",
                say("GPU %(index)s has links, and all inactive", index=gpu.index),
                at=gpu.line,
            )
    listed = {gpu.name: set[int]() for gpu in gpus}
    for gpu in gpus:
        if not gpu.all_inactive and gpu.supported:
            listed[gpu.name].add(len(gpu.speeds))
    for name, counts in listed.items():
        if len(counts) > 1:
            notes.add(
                "links_unequal",
                say(
                    "%(name)s: some list %(least)s links, some %(most)s",
                    name=name,
                    least=min(counts),
                    most=max(counts),
                ),
            )
