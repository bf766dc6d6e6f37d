"""From a reading to what it says of a node: components, their versions, and whether declared or loaded."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from enum import StrEnum
from typing import Any

from apps.catalogue.engine.components import components
from apps.environments.engine.packages import KINDS_THAT_LIST, versions_listed
from apps.evidence.engine.reading import Reading


class Standing(StrEnum):
    """How a version is known: from a package, label or build (declared), or from what runs (loaded).

    A package may say one NCCL while the process loads another, so they are two facts.
    """

    DECLARED = "declared"
    LOADED = "loaded"


@dataclass(frozen=True, slots=True, kw_only=True)
class ComponentFact:
    """One version of one component on one node, as reported.

    value: raw text. count: how many units (GPUs, adapters) have it; None where the report does not say.
    """

    component: str
    value: str
    standing: Standing = Standing.LOADED
    count: int | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class _Source:
    """Where a reading holds a component: its key, and how the value there is taken apart.

    is_counted: the value is how many the file lists, so a file that was cut does not state it.
    """

    component: str
    key: str
    standing: Standing = Standing.LOADED
    take: Callable[[str], str | None] | None = None
    is_counted: bool = False


def component_facts(reading: Reading) -> tuple[ComponentFact, ...]:
    """What a reading of one node says of its components; empty for a kind that says nothing of them.

    A value that the file does not state (None) gives no fact; a printed `N/A` does, as an unknown form. A file
    that does not list all (it was cut) states versions and no counts. Components in force that name packages are
    found in lists of packages, too.
    """
    facts = _with_adapter_firmware(reading.facts) if reading.kind == "ibv_devinfo" else reading.facts
    sources = _SOURCES.get(reading.kind, ())
    listed = _listed_facts(reading, {source.component for source in sources})
    if reading.lists_all:
        return (*(fact for source in sources for fact in _facts_of(source, facts)), *listed)
    stated = [source for source in sources if not source.is_counted]
    return (*(replace(fact, count=None) for source in stated for fact in _facts_of(source, facts)), *listed)


def _listed_facts(reading: Reading, stated: set[str]) -> Iterator[ComponentFact]:
    """What a list of packages says of components whose packages are named, but for those that are read otherwise."""
    if reading.kind not in KINDS_THAT_LIST:
        return
    for one in components().values():
        if one.packages and one.id not in stated:
            for version in versions_listed(one, reading.kind, reading.facts):
                yield ComponentFact(component=one.id, value=version, standing=Standing.DECLARED)


def facts_by_node(reading: Reading) -> dict[str, tuple[ComponentFact, ...]]:
    """What a reading that names its nodes itself says of each of them; empty for the other kinds."""
    if reading.kind != "k8s_nodes":
        return {}
    found: dict[str, list[ComponentFact]] = {}
    for node in reading.facts.get("node_list") or ():
        facts = found.setdefault(str(node.get("name") or ""), [])
        facts += [fact for source in _BY_NODE for fact in _facts_of(source, node)]
    found.pop("", None)
    return {node: tuple(facts) for node, facts in found.items()}


def kinds_that_state(component: str) -> tuple[str, ...]:
    """The kinds of evidence that a component is read from, sorted."""
    kinds = {kind for kind, sources in _SOURCES.items() if any(one.component == component for one in sources)}
    if any(source.component == component for source in _BY_NODE):
        kinds.add("k8s_nodes")
    if (named := components().get(component)) is not None and named.packages:
        kinds.update(KINDS_THAT_LIST)
    return tuple(sorted(kinds))


def tool_of(kind: str) -> str:
    """The tool behind a kind of evidence: two forms of one tool's output are one witness."""
    return _TOOLS.get(kind, kind)


_TOOLS = {
    "nvidia_smi_list": "nvidia_smi",
    "nvidia_smi_q": "nvidia_smi",
    "nvidia_smi_query": "nvidia_smi",
    "nvidia_smi_table": "nvidia_smi",
    "nvidia_smi_xml": "nvidia_smi",
    "rocm_smi_json": "rocm_smi",
    "rocm_smi_concise": "rocm_smi",
}


def _facts_of(source: _Source, facts: Mapping[str, Any]) -> Iterator[ComponentFact]:
    for raw, count in _values(facts.get(source.key)):
        value = source.take(raw) if source.take else raw
        if value is not None:
            yield ComponentFact(
                component=source.component, value=value, standing=source.standing, count=count
            )


def _values(held: object) -> Iterator[tuple[str, int | None]]:
    """The values under a key: one text or number, a list of distinct ones, or a map of value to count."""
    if isinstance(held, Mapping):
        for value, count in held.items():
            yield str(value), count if isinstance(count, int) else None
    elif isinstance(held, list | tuple):
        for value in held:
            if value is not None:
                yield str(value), None
    elif held is not None and held != "":
        yield str(held), None


def _with_adapter_firmware(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts of ibv_devinfo with one more: firmware to the number of adapters that have it."""
    return {"firmware": Counter(device["fw"] for device in facts.get("devices") or () if device.get("fw"))}


def _if_supported(value: str) -> str | None:
    """N/A of a setting or firmware says that the device has none of it; that is no version to compare."""
    return None if value in ("N/A", "Not Supported") else value


def _kernel_of_platform(platform: str) -> str | None:
    match = re.match(r"Linux-(.+?)-(?:x86_64|aarch64|ppc64le|arm64)-with", platform)
    return match[1] if match else None


def _glibc(libc: str) -> str | None:
    return libc.removeprefix("glibc-") if libc.startswith("glibc-") else None


def _gcc(line: str) -> str | None:
    match = re.search(r"\)\s+([0-9]+(?:\.[0-9]+)+)", line) or re.match(r"([0-9]+(?:\.[0-9]+)+)", line)
    return match[1] if match else None


def _nccl_of_line(line: str) -> str | None:
    match = re.search(r"NCCL version\s*:?\s*(\S+)", line)
    return match[1] if match else None


_DECLARED = Standing.DECLARED
_NVIDIA_SMI = (
    _Source(component="gpu_driver", key="driver_version"),
    _Source(component="cuda_driver_api", key="cuda_version"),
    _Source(component="gpu_model", key="models"),
    _Source(component="gpu_count", key="attached_gpus"),
    _Source(component="gpu_memory", key="fb_total"),
    _Source(component="gpu_vbios", key="vbios"),
    _Source(component="gsp_firmware", key="gsp_firmware", take=_if_supported),
    _Source(component="inforom_image", key="inforom_image", take=_if_supported),
    _Source(component="ecc_mode", key="ecc_mode_current", take=_if_supported),
    _Source(component="mig_mode", key="mig_mode_current", take=_if_supported),
    _Source(component="persistence_mode", key="persistence_mode", take=_if_supported),
)
# --query-gpu has fields for all but these.
_NVIDIA_SMI_QUERY = tuple(
    one for one in _NVIDIA_SMI if one.component not in ("cuda_driver_api", "gsp_firmware")
)
_COLLECT_ENV = (
    _Source(component="gpu_driver", key="driver_version"),
    _Source(component="gpu_model", key="gpu_models"),
    # A container may see fewer devices than the node has, so the count of nvidia-smi goes before this one.
    _Source(component="gpu_count", key="gpu_count", standing=_DECLARED, is_counted=True),
    _Source(component="gpu_count", key="npu_chips", standing=_DECLARED, is_counted=True),
    _Source(component="cuda_runtime", key="cuda_runtime_version", standing=_DECLARED),
    _Source(component="cuda_of_torch", key="cuda_used_to_build", standing=_DECLARED),
    _Source(component="nccl", key="nccl_package", standing=_DECLARED),
    _Source(component="cudnn", key="cudnn", standing=_DECLARED),
    _Source(component="torch", key="torch_version"),
    _Source(component="torch", key="pip_torch", standing=_DECLARED),
    _Source(component="triton", key="triton", standing=_DECLARED),
    _Source(component="python", key="python_version"),
    _Source(component="os", key="os"),
    _Source(component="kernel", key="python_platform", take=_kernel_of_platform),
    _Source(component="glibc", key="libc", take=_glibc),
    _Source(component="gcc", key="gcc", take=_gcc),
    _Source(component="rocm", key="rocm_used_to_build", standing=_DECLARED),
    _Source(component="hip_runtime", key="hip_runtime_version"),
    _Source(component="miopen", key="miopen_runtime_version"),
    _Source(component="torch_npu", key="torch_npu", standing=_DECLARED),
    _Source(component="cann", key="cann_version", standing=_DECLARED),
)
_SOURCES: Mapping[str, tuple[_Source, ...]] = {
    "nvidia_smi_q": _NVIDIA_SMI,
    "nvidia_smi_query": _NVIDIA_SMI_QUERY,
    "nvidia_smi_list": (
        _Source(component="gpu_model", key="models"),
        _Source(component="gpu_count", key="gpus_listed", is_counted=True),
    ),
    "nvidia_smi_xml": _NVIDIA_SMI,
    "nvidia_smi_table": (
        _Source(component="gpu_driver", key="driver_version"),
        _Source(component="cuda_driver_api", key="cuda_version"),
        _Source(component="gpu_model", key="models"),
        _Source(component="gpu_count", key="gpus_listed", is_counted=True),
        _Source(component="gpu_memory", key="fb_total"),
        _Source(component="mig_mode", key="mig_mode_current", take=_if_supported),
        _Source(component="persistence_mode", key="persistence_mode"),
    ),
    "collect_env": _COLLECT_ENV,
    "nccl_tests": (
        _Source(component="nccl", key="library_code"),
        _Source(component="nccl", key="nccl_version_line", take=_nccl_of_line),
    ),
    "rccl_tests": (_Source(component="rccl", key="library_code"),),
    "nccl_debug_log": (
        _Source(component="nccl", key="nccl_versions"),
        _Source(component="cuda_driver_api", key="cuda_driver_versions"),
    ),
    "dcgm_metrics": (
        _Source(component="gpu_driver", key="driver_versions"),
        _Source(component="gpu_model", key="models"),
    ),
    "dcgmi_diag": (
        _Source(component="dcgm", key="dcgm_version"),
        _Source(component="gpu_driver", key="driver_version"),
    ),
    "dcgmi_discovery": (
        _Source(component="gpu_model", key="models"),
        _Source(component="gpu_count", key="gpus_found"),
    ),
    "ibstat": (_Source(component="nic_firmware", key="firmware"),),
    "ibv_devinfo": (_Source(component="nic_firmware", key="firmware"),),
    "npu_smi": (
        _Source(component="npu_smi", key="version"),
        _Source(component="gpu_model", key="names"),
        _Source(component="gpu_count", key="chips", is_counted=True),
        _Source(component="gpu_memory", key="hbm_total_mb", take=lambda value: f"{value} MB"),
    ),
    "rocm_smi_json": (
        _Source(component="amdgpu_driver", key="driver_version"),
        _Source(component="gpu_model", key="models"),
        _Source(component="gpu_vbios", key="vbios"),
    ),
    "rocm_smi_concise": (
        _Source(component="gpu_model", key="models"),
        _Source(component="gpu_count", key="gpus", is_counted=True),
    ),
    "ascend_versions": (
        # The files say what is installed, the boards what runs.
        _Source(component="npu_driver", key="board_driver"),
        _Source(component="npu_driver", key="driver", standing=_DECLARED),
        _Source(component="npu_firmware", key="board_firmware"),
        _Source(component="npu_firmware", key="firmware", standing=_DECLARED),
        _Source(component="cann", key="cann", standing=_DECLARED),
    ),
    "fabric_manager": (_Source(component="fabric_manager", key="versions"),),
    "nvswitch_firmware": (_Source(component="nvswitch_firmware", key="versions"),),
    "ofed_info": (_Source(component="ofed", key="versions"),),
    "dmi": (_Source(component="host_bios", key="bios_version"),),
    "package_list": (
        _Source(component="fabric_manager", key="fabric_manager", standing=_DECLARED),
        _Source(component="dcgm", key="dcgm", standing=_DECLARED),
    ),
    "python_packages": (
        _Source(component="torch", key="torch", standing=_DECLARED),
        _Source(component="nccl", key="nccl", standing=_DECLARED),
        _Source(component="triton", key="triton", standing=_DECLARED),
        _Source(component="torch_npu", key="torch_npu", standing=_DECLARED),
    ),
    "hl_smi": (
        _Source(component="gaudi_driver", key="driver_version"),
        _Source(component="gaudi_firmware", key="version"),
        _Source(component="gpu_model", key="models"),
        _Source(component="gpu_count", key="cards", is_counted=True),
        _Source(component="gpu_memory", key="memory_total_mib", take=lambda value: f"{value} MiB"),
    ),
    "mx_smi": (
        _Source(component="metax_driver", key="kernel_driver"),
        _Source(component="maca", key="maca", standing=_DECLARED),
        _Source(component="metax_bios", key="bios"),
        _Source(component="gpu_model", key="models"),
        _Source(component="gpu_count", key="attached_gpus"),
    ),
}
# Kinds that state versions of the one node that they were made on.
KINDS_OF_NODES = frozenset(_SOURCES)
# Labels declare, the kubelet reports what runs. Product and count labels are left out: they spell the
# model in another way and count slices.
_BY_NODE = (
    _Source(component="gpu_driver", key="driver_version", standing=_DECLARED),
    _Source(component="host_os", key="os_image"),
    _Source(component="kernel", key="kernel"),
    _Source(component="container_runtime", key="container_runtime"),
    _Source(component="kubelet", key="kubelet"),
)
