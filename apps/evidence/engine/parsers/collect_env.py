"""`python -m torch.utils.collect_env` and its descendants (vLLM and others), since 2018.

Three CUDA versions are in it: the one torch was built with, the runtime (nvcc), and none of the driver, of which
only the own version is named. NCCL is the package's; NCCL_VERSION in the environment is that of the base image.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._env_report import (
    Entry,
    cudnn_versions,
    entries,
    environment,
    gpu_facts,
    npu_facts,
    said,
    unfolded,
)
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._packages import differing, named, note_several, packages, version_of
from apps.evidence.engine.parsers._topo_matrix import find_matrix, matrix_facts
from apps.evidence.engine.parsers._values import count, yes_or_no
from apps.evidence.engine.parsers._version_files import note_cut
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "collect_env"
VERSION = 3

_TITLE = re.compile(r"PyTorch version( *):(?: |$)")
_SURE = re.compile(r"\bIs debug build *: |\bIs CUDA available *: |\bVersions of relevant libraries\b")
_VERSION = re.compile(r"\d+(?:\.\d+)+")
_PLATFORM = re.compile(
    r"Linux-(?P<kernel>\S+?)-(?P<machine>x86_64|aarch64|ppc64le|riscv64|loongarch64)-(?:with|glibc)\S*"
)
_LOADED = re.compile(r"\bNCCL version:? (?P<version>\d+\.\d+[\w.]*)")
_BUILT = re.compile(r"\+cu(?P<major>\d{1,2})(?P<minor>\d)$")

_TEXTS = {
    "torch_version": "pytorch version",
    "cuda_used_to_build": "cuda used to build pytorch",
    "rocm_used_to_build": "rocm used to build pytorch",
    "os": "os",
    "gcc": "gcc version",
    "clang": "clang version",
    "libc": "libc version",
    "python_platform": "python platform",
    "cuda_runtime_version": "cuda runtime version",
    "driver_version": "nvidia driver version",
    "hip_runtime_version": "hip runtime version",
    "miopen_runtime_version": "miopen runtime version",
    "rocm_version": "rocm version",
    "vllm_version": "vllm version",
    "cpu_model": "model name",
}


def recognise(sample: str) -> int:
    if _TITLE.search(sample):
        return 100 if _SURE.search(sample) else 70
    return 60 if "Collecting environment information" in sample else 0


def read(source: Source) -> Reading:
    notes = Notes()
    lines = _first_report(unfolded(one_process(plain_lines(source), _is_report, notes)), notes)
    found = entries(lines, notes)
    texts = {fact: said(_value(found, key)) for fact, key in _TEXTS.items()}
    pip, conda = packages(lines, notes)
    for listed in (pip, conda):
        for what in ("nccl", "cudnn"):
            note_several(what, named(listed, f"nvidia-{what}-*", what), lines, notes)
    variables = environment(lines, notes)
    matrix = find_matrix(lines, notes)
    cudnn = cudnn_versions(found.get("cudnn version"), lines)
    platform = _PLATFORM.match(texts["python_platform"] or "")
    python = _VERSION.search(_value(found, "python version") or "")
    title = next((match for line in lines if (match := _TITLE.match(line.text.strip()))), None)
    facts: dict[str, Any] = {
        "flavour": "sections" if title and title[1] else "classic",
        **texts,
        "is_debug_build": yes_or_no(_value(found, "is debug build")),
        "python_version": python[0] if python else None,
        "kernel": platform["kernel"] if platform else None,
        "machine": platform["machine"] if platform else None,
        "cpus": count(_value(found, "cpu(s)")),
        "cuda_available": yes_or_no(_value(found, "is cuda available")),
        "cudnn": cudnn[0] if cudnn else None,
        "cudnn_versions": cudnn,
        **gpu_facts(found.get("gpu models and configuration"), lines, notes),
        **_package_facts(pip, conda),
        **npu_facts(lines, notes),
        "env": variables,
        "nccl_env": {name: value for name, value in variables.items() if name.startswith("NCCL_")},
        "nccl_image": variables.get("NCCL_VERSION"),
        "nccl_loaded": _loaded_nccl(lines),
        "has_topology_matrix": matrix is not None,
        "topology": matrix_facts(matrix, notes) if matrix else None,
    }
    _check(facts, notes)
    note_cut(source, matrix.named_at if matrix else (), notes)
    _check_end(found, facts, lines, notes)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_report(lines: Sequence[Line]) -> bool:
    return any(_TITLE.search(line.text) for line in lines)


def _first_report(lines: list[Line], notes: Notes) -> list[Line]:
    """The lines of one report, from its title to the next one. Raises Unreadable where there is none."""
    titles = [place for place, line in enumerate(lines) if _TITLE.match(line.text.strip())]
    if not titles:
        raise Unreadable(
            say("collect_env: there is no line with the PyTorch version"), code="no_torch_version"
        )
    # The sectioned form names the system above PyTorch.
    start = next((place for place in range(titles[0]) if _is_start(lines[place])), titles[0])
    if len(titles) == 1:
        return lines[start:]
    if lines[titles[1]].text.strip() == lines[titles[0]].text.strip() and titles[1] == titles[0] + 1:
        return lines[start:]
    notes.add(
        "several_reports", say("the file holds several reports; only the first is read"), at=lines[titles[1]]
    )
    stop = next((place for place in range(titles[0] + 1, titles[1]) if _is_start(lines[place])), titles[1])
    return lines[start:stop]


def _is_start(line: Line) -> bool:
    text = line.text.strip()
    return text.startswith("Collecting environment information") or text == "System Info"


def _value(found: dict[str, Entry], key: str) -> str | None:
    return found[key].value if key in found else None


def _package_facts(pip: dict[str, str], conda: dict[str, str]) -> dict[str, Any]:
    def either(*names: str) -> str | None:
        return version_of(pip, *names) or version_of(conda, *names)

    return {
        "pip_torch": version_of(pip, "torch"),
        "conda_torch": version_of(conda, "pytorch", "torch"),
        "nccl_package": either("nvidia-nccl-*", "nccl"),
        "cudnn_package": either("nvidia-cudnn-*", "cudnn"),
        "triton": either("triton"),
        "torch_npu": either("torch-npu"),
        "pip_packages": pip,
        "conda_packages": conda,
        "packages_differing": differing(pip, conda),
    }


def _loaded_nccl(lines: Sequence[Line]) -> str | None:
    """What NCCL itself said when it was loaded, if its line is in the file."""
    return next((match["version"] for line in lines if (match := _LOADED.search(line.text))), None)


def _check(facts: dict[str, Any], notes: Notes) -> None:
    """Warn of what one report says twice and differently."""
    _check_torch(facts, notes)
    _check_packages(facts, notes)
    topology = facts["topology"]
    if topology and facts["gpu_count"] and topology["gpus"] != facts["gpu_count"]:
        message = say(
            "GPUs in the list: %(gpu_count)s, in the matrix: %(gpus)s",
            gpu_count=facts["gpu_count"],
            gpus=topology["gpus"],
        )
        notes.add("gpus_missing", message)


def _check_torch(facts: dict[str, Any], notes: Notes) -> None:
    torch, built, driver = facts["torch_version"], facts["cuda_used_to_build"], facts["driver_version"]
    if driver and torch and torch.endswith("+cpu"):
        notes.add(
            "cpu_build",
            say(
                "torch %(torch)s is built without CUDA, but there is a driver (%(driver)s)",
                torch=torch,
                driver=driver,
            ),
        )
    tag = _BUILT.search(torch or "")
    if tag and built and built.split(".")[:2] != [tag["major"], tag["minor"]]:
        notes.add(
            "contradictory_value",
            say("torch %(torch)s says that it was built with CUDA %(built)s", torch=torch, built=built),
        )
    if facts["pip_torch"] and torch and facts["pip_torch"].split("+")[0] != torch.split("+")[0]:
        notes.add(
            "torch_differs",
            say(
                "torch %(torch)s is imported, pip lists %(pip_torch)s",
                torch=torch,
                pip_torch=facts["pip_torch"],
            ),
        )


def _check_packages(facts: dict[str, Any], notes: Notes) -> None:
    for name, versions in facts["packages_differing"].items():
        notes.add(
            "packages_differ",
            say(
                "%(name)s: pip has %(pip)s, conda has %(conda)s",
                name=name,
                pip=versions["pip"],
                conda=versions["conda"],
            ),
        )
    if len({version.split(".")[0] for version in facts["cudnn_versions"]}) > 1:
        notes.add(
            "several_cudnn",
            say(
                "cuDNN of several versions: %(cudnn_versions)s",
                cudnn_versions=", ".join(facts["cudnn_versions"]),
            ),
        )


def _check_end(found: dict[str, Entry], facts: dict[str, Any], lines: Sequence[Line], notes: Notes) -> None:
    """A report has a list of packages; where vLLM printed it, a topology follows."""
    if not any(line.text.lstrip().startswith("[conda]") for line in lines):
        notes.add("cut_off", say("the report ends before its list of packages does"))
        return
    goes_on = found.keys() & {"rocm version", "neuron sdk version", "vllm version", "vllm build flags"}
    topology = found.get("gpu topology")
    has_any = facts["has_topology_matrix"] or any(
        "System Management Interface" in line.text for line in lines
    )
    if (
        goes_on
        and "vllm ascend version" not in found
        and (topology is None or not (has_any or topology.value))
    ):
        notes.add("cut_off", say("the report ends before its topology"))
