"""`nvidia-smi -L`: one line for each GPU, and beneath it one for each of its MIG devices."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._not_answering import gpus_without_handle
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvidia_smi_list"
VERSION = 1

_GPU = re.compile(
    r"\s*GPU (?P<index>\d{1,3}): (?P<name>[^\n(]{1,100}?) \(UUID: (?P<uuid>GPU-[0-9a-fA-F-]{8,40})\)\s*"
)
_MIG = re.compile(
    r"\s*MIG (?P<profile>\S{1,40})\s+Device\s+(?P<device>\d{1,3}): \(UUID: (?P<uuid>MIG-[\w/-]{8,80})\)\s*"
)
_BEGINNING = re.compile(r"\s*(?:GPU \d|MIG \d)")
_SAMPLE = re.compile(r"\bGPU \d{1,3}: [^\n(]{1,100} \(UUID: GPU-[0-9a-fA-F-]{8,40}\)[ \t]*$", re.MULTILINE)


def recognise(sample: str) -> int:
    """Less sure than `nvidia-smi nvlink` and collect_env, whose lists of GPUs look the same."""
    return 30 if _SAMPLE.search(sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    gpus = _gpus(lines, notes)
    if not gpus:
        raise Unreadable(say("nvidia-smi -L: there is no GPU in it"), code="no_gpus")
    _check(gpus, notes)
    unopened = gpus_without_handle(lines)
    for address, line in unopened.items():
        notes.add("gpu_not_answering", say("GPU %(address)s does not answer", address=address), at=line)
    facts = {
        "gpus_listed": len(gpus),
        "models": dict(Counter(gpu["name"] for gpu in gpus)),
        "uuids": [gpu["uuid"] for gpu in gpus],
        "mig_devices": sum(len(gpu["mig_devices"]) for gpu in gpus),
        "gpus_not_answering": list(unopened),
        "gpus": gpus,
    }
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    return any(_GPU.fullmatch(line.text) for line in lines)


def _gpus(lines: Sequence[Line], notes: Notes) -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = []
    for line in lines:
        if gpu := _GPU.fullmatch(line.text):
            one: dict[str, Any] = {
                "index": int(gpu["index"]),
                "name": gpu["name"],
                "uuid": gpu["uuid"],
                "mig_devices": [],
            }
            found.append(one)
        elif (mig := _MIG.fullmatch(line.text)) and found:
            device = {"index": int(mig["device"]), "profile": mig["profile"], "uuid": mig["uuid"]}
            found[-1]["mig_devices"].append(device)
        elif _BEGINNING.match(line.text):
            notes.add("cut_line", say("the line is not whole; it is not read"), at=line)
    return found


def _check(gpus: Sequence[dict[str, Any]], notes: Notes) -> None:
    """What is there twice, and gaps in the numbers: the list was cut, or joined from several."""
    uuids = [gpu["uuid"] for gpu in gpus] + [device["uuid"] for gpu in gpus for device in gpu["mig_devices"]]
    if repeated := [uuid for uuid, times in Counter(uuids).items() if times > 1]:
        notes.add("gpu_repeated", say("listed more than once: %(repeated)s", repeated=", ".join(repeated)))
    if [gpu["index"] for gpu in gpus] != list(range(len(gpus))):
        notes.add("gpus_missing", say("the GPUs are not numbered from 0 without gaps"))
    for gpu in gpus:
        if [device["index"] for device in gpu["mig_devices"]] != list(range(len(gpu["mig_devices"]))):
            notes.add(
                "mig_devices_missing",
                say(
                    "GPU %(bus_id)s: %(message)s",
                    bus_id=gpu["index"],
                    message=say("its MIG devices are not numbered from 0 without gaps"),
                ),
            )
