"""The parts of a collect_env report: `Key: value` lines, GPUs, cuDNN files, environment variables, NPU blocks."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._values import known
from apps.evidence.engine.source import Line

_GPU = re.compile(r"GPU (?P<index>\d{1,3}): (?P<name>[^\n]{1,100}?)(?: \(UUID: [\w-]{1,64}\))?")
_MIG = re.compile(r"MIG (?P<profile>[\w.+]{1,20}) +Device +(?P<index>\d{1,3}):.{0,80}")
_CUDNN = re.compile(r"cudnn\w{0,40}?(?:\.so\.|64_)(?P<version>\d{1,4}(?:\.\d{1,4}){0,3})")
_VARIABLE = re.compile(r"(?P<name>[A-Z][A-Z0-9_]{0,99})=(?P<value>.*)")
_SECRET = re.compile(r"(?:^|_)(?:TOKEN|SECRET|PASSWORD|PASSWD|CREDENTIALS?|API_?KEY|ACCESS_KEY)(?:_|$)")
_NPU_TITLE = re.compile(r"\| npu-smi [\w.]+ +Version:")
_NPU_CHIP = re.compile(r"\|.{0,40}\| ([0-9A-F]{4}:[0-9A-F]{2}:[0-9A-F]{2}\.[0-7]) +\|")
_NPU_NAME = re.compile(r"\| (\d{1,3}) +[A-Za-z]\w{1,30} +\| \w{1,20} +\|")
_NO_WORDS = frozenset({"none", "no cuda", "no rocm", "no relevant packages"})


# Keys of which a report has one.
_UNIQUE = frozenset(
    {
        "is debug build",
        "cuda used to build pytorch",
        "rocm used to build pytorch",
        "os",
        "python version",
        "python platform",
        "is cuda available",
        "cuda runtime version",
        "nvidia driver version",
        "cudnn version",
        "hip runtime version",
        "miopen runtime version",
    }
)


@dataclass(frozen=True, slots=True)
class Entry:
    """A value and the place of its line among the lines of the report."""

    value: str
    place: int


# Keys and entries before which a report is broken into lines again, where blanks replaced its line ends.
_FOLDED = re.compile(
    r" (?=(?:PyTorch version|Is debug build|(?:CUDA|ROCM|XPU) used to build PyTorch|OS"
    r"|(?:GCC|Clang|CMake|Libc|Python) version|Python platform"
    r"|Is (?:CUDA|XPU|XNNPACK) available|CUDA runtime version|CUDA_MODULE_LOADING set to"
    r"|GPU models and configuration|Nvidia driver version|cuDNN version|(?:HIP|MIOpen) runtime version|CPU"
    r"|CPU family|Model name|Versions of relevant libraries|ROCM Version|vLLM Version|GPU Topology|GPU \d{1,3}): ?"
    r"|\[(?:pip3?|conda)\] )"
)


def unfolded(lines: Sequence[Line]) -> list[Line]:
    """The lines, broken up again where the line of the title goes on with other keys."""
    if not any("PyTorch version" in line.text and "Is debug build" in line.text for line in lines):
        return list(lines)
    return [Line(line.number, part) for line in lines for part in _FOLDED.split(line.text)]


def said(text: str | None) -> str | None:
    """The value, or None where collect_env says that it knows nothing."""
    text = known(text)
    return None if text is None or text.lower() in _NO_WORDS else text


def entries(lines: Sequence[Line], notes: Notes) -> dict[str, Entry]:
    """Key in lower case to its value; the first counts, another value under the same key is noted."""
    found: dict[str, Entry] = {}
    for place, line in enumerate(lines):
        key, colon, value = line.text.strip().partition(":")
        if not colon or not 1 < len(key) <= 40 or "=" in key or "[" in key or value[:1] not in ("", " "):
            continue
        name = " ".join(key.lower().split())
        entry = Entry(value.strip(), place)
        if found.setdefault(name, entry).value != entry.value and name in _UNIQUE:
            notes.add(
                "contradictory_value", say("%(key)s is printed with several values", key=key.strip()), at=line
            )
    return found


def gpu_facts(entry: Entry | None, lines: Sequence[Line], notes: Notes) -> dict[str, Any]:
    """gpu_models (name to number, None where the number is not printed), gpu_count, gpus_in_order, mig_profiles."""
    texts = _below(entry, lines)
    listed = [gpu for text in texts if (gpu := _GPU.fullmatch(text))]
    migs = [mig for text in texts if (mig := _MIG.fullmatch(text))]
    names = [gpu["name"].strip() for gpu in listed]
    if entry and not listed and (name := said(entry.value)):
        return {"gpu_models": {name: None}, "gpu_count": None, "gpus_in_order": [], "mig_profiles": []}
    if entry and [int(gpu["index"]) for gpu in listed] != list(range(len(listed))):
        notes.add("gpus_missing", say("the GPUs are not numbered from 0 without gaps"), at=lines[entry.place])
    before = [-1, *(int(mig["index"]) for mig in migs)]
    if entry and any(int(mig["index"]) not in (0, last + 1) for last, mig in zip(before, migs, strict=False)):
        notes.add(
            "mig_devices_missing", say("MIG devices are not numbered without gaps"), at=lines[entry.place]
        )
    return {
        "gpu_models": dict(Counter(names)),
        "gpu_count": len(listed) or None,
        "gpus_in_order": names,
        "mig_profiles": [mig["profile"] for mig in migs],
    }


def _below(entry: Entry | None, lines: Sequence[Line]) -> list[str]:
    """The value and the lines below it, up to the next key of the report."""
    if entry is None:
        return []
    texts = [entry.value]
    for line in lines[entry.place + 1 :]:
        text = line.text.strip()
        if " ".join(text.partition(":")[0].lower().split()) in _UNIQUE:
            break
        texts.append(text)
    return texts


def cudnn_versions(entry: Entry | None, lines: Sequence[Line]) -> list[str]:
    """Versions of the cuDNN files named, distinct, in their order; they may be of several installations."""
    if entry is None:
        return []
    found = (match["version"] for text in _below(entry, lines) for match in _CUDNN.finditer(text))
    plain = said(entry.value)
    if plain and re.fullmatch(r"\d{1,4}(?:\.\d{1,4}){0,3}", plain):
        return [plain]
    return list(dict.fromkeys(found))


def environment(lines: Sequence[Line], notes: Notes) -> dict[str, str]:
    """Variables of the environment in their order; values of names that tell of a secret are masked."""
    found: dict[str, str] = {}
    for line in lines:
        variable = _VARIABLE.fullmatch(line.text.strip())
        if not variable:
            continue
        name, value = variable["name"], variable["value"]
        value = "(masked)" if _SECRET.search(name) else value
        if found.setdefault(name, value) != value:
            notes.add(
                "contradictory_value",
                say("%(name)s is printed with several values", name=name),
                line=line.number,
            )
    return found


def npu_facts(lines: Sequence[Line], notes: Notes) -> dict[str, Any]:
    """npu_chips: rows of the npu-smi table with a bus id; cann_version: that of the CANN block."""
    has_table = any(_NPU_TITLE.search(line.text) for line in lines)
    chips = {match[1] for line in lines if (match := _NPU_CHIP.search(line.text))}
    named = Counter(int(match[1]) for line in lines if (match := _NPU_NAME.search(line.text)))
    whole = named.total() == len(chips) and sorted(named) == list(range(len(named)))
    if has_table and (not whole or len(set(named.values())) > 1):
        notes.add("chips_missing", say("the NPU table lacks lines: its chips are not numbered without gaps"))
    if has_table and not any("Process id" in line.text for line in lines):
        notes.add("cut_off", say("the NPU table ends before its list of processes"))
    heads = [place for place, line in enumerate(lines) if line.text.strip() == "CANN:"]
    block = lines[heads[0] + 1 : heads[0] + 12] if heads else []
    versions = (
        text.removeprefix("version=") for line in block if (text := line.text.strip()).startswith("version=")
    )
    return {"npu_chips": len(chips) if has_table else None, "cann_version": said(next(versions, None))}
