"""Kubernetes nodes: `kubectl get nodes -o json` or yaml, one Node, or a bare map of labels.

GPU facts come from the labels of the vendors' feature discovery. gpu.product gets a suffix where GPUs are shared
or cut (-SHARED, -MIG-1g.10gb), and gpu.count then counts the parts and not the GPUs.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping
from typing import Any

from apps.core.texts import Text, say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._objects import (
    Loaded,
    items,
    load_objects,
    mapping,
    portal_note,
    sequence,
    text_of,
)
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "k8s_nodes"
VERSION = 2

_LIKE = re.compile(r"[\"']?kind[\"']?\s*:\s*[\"']?Node(?:List)?[\"']?\s*(?:[,}\r\n]|$)")
_LIKE_LABELS = re.compile(
    r"[\"']?(?:nvidia\.com/gpu\.|kubernetes\.io/hostname|amd\.com/gpu\.)[\w.-]*[\"']?\s*:"
)
_HOSTNAME = "kubernetes.io/hostname"
_PRODUCT = ("nvidia.com/gpu.product", "amd.com/gpu.product-name", "node.kubernetes.io/npu.chip.name")
_DRIVER = ("nvidia.com/cuda.driver-version.full", "amd.com/gpu.driver-version")
_DRIVER_PARTS = tuple(f"nvidia.com/cuda.driver.{part}" for part in ("major", "minor", "rev"))
_COUNT_LABEL, _MEMORY_LABEL = "nvidia.com/gpu.count", "nvidia.com/gpu.memory"
_CLIQUE_LABEL = "nvidia.com/gpu.clique"
_RUNTIME = ("nvidia.com/cuda.runtime-version.full",)
_RUNTIME_PARTS = tuple(f"nvidia.com/cuda.runtime.{part}" for part in ("major", "minor"))
_ACCELERATOR = re.compile(r"/(?:gpu|dcu|gaudi|npu|xpu|Ascend\w*)$")
_PART_OF_GPU = re.compile(r"-SHARED$|-MIG-[\w.]+(?:-SHARED)?$")
_VERSION = re.compile(r"\d+(?:\.\d+){0,3}(?:-[\w.]+)?")
_CLIQUE = re.compile(r"[\w-]+\.\d+")
_NODE_INFO = {
    "kernel": "kernelVersion",
    "os_image": "osImage",
    "architecture": "architecture",
    "container_runtime": "containerRuntimeVersion",
    "kubelet": "kubeletVersion",
}


def recognise(sample: str) -> int:
    if _LIKE.search(sample):
        return 85
    return 50 if _LIKE_LABELS.search(sample) and not re.search(r"[\"']?kind[\"']?\s*:\s*\S", sample) else 0


def read(source: Source) -> Reading:
    notes = Notes()
    nodes: list[dict[str, Any]] = []
    seen: set[str] = set()
    for document in load_objects(source, notes):
        for found in _nodes(document, notes):
            node = _node(found, document.line, notes)
            if node["name"] is not None and node["name"] in seen:
                notes.add(
                    "repeated_node",
                    say("node %(name)s came before; not read", name=node["name"]),
                    line=document.line,
                )
                continue
            seen.add(node["name"] or "")
            nodes.append(node)
    if not nodes:
        raise Unreadable(say("no Kubernetes node is in it"), code="no_nodes")
    return Reading(kind=KIND, facts=_facts(nodes), warnings=notes.all(), parser_version=VERSION)


def _facts(nodes: list[dict[str, Any]]) -> dict[str, Any]:
    def counted(key: str) -> dict[str, int]:
        return dict(Counter(node[key] for node in nodes if node[key] is not None))

    def named(key: str) -> list[str | None]:
        return [node["name"] for node in nodes if node[key]]

    return {
        "nodes": len(nodes),
        "names": [node["name"] for node in nodes],
        "gpu_products": counted("gpu_product"),
        "gpu_count_labels": [node["gpu_count_label"] for node in nodes],
        "gpu_capacity": [node["gpu_capacity"] for node in nodes],
        "driver_versions": {
            node["name"] or "": node["driver_version"] for node in nodes if node["driver_version"] is not None
        },
        "cuda_runtime": list(dict.fromkeys(node["cuda_runtime"] for node in nodes if node["cuda_runtime"])),
        "cliques": counted("clique"),
        "unschedulable": named("unschedulable"),
        "ready": named("ready"),
        "node_list": nodes,
    }


def _nodes(document: Loaded, notes: Notes) -> Iterator[Mapping[str, Any]]:
    """Nodes of a document; other objects are named in a warning. A bare map of labels becomes a node."""
    value = mapping(document.value)
    if mapping(value.get("metadata")).get("continue"):
        notes.add(
            "list_continues",
            say("the list was fetched in parts; the rest is not in the file"),
            line=document.line,
        )
    others: Counter[str] = Counter()
    for item in items(document, ("NodeList",)):
        kind = text_of(item.get("kind"))
        if kind == "Node" or (kind is None and value.get("kind") == "NodeList"):
            yield item
        elif kind is None and item is document.value and _is_label_map(item):
            yield {"metadata": {"labels": item}}
        elif (
            kind is None
            and "labels" in mapping(item.get("metadata"))
            and "nodeInfo" in mapping(item.get("status"))
        ):
            yield item
        else:
            others[kind or "objects without a kind"] += 1
    for kind, times in others.items():
        notes.add(
            "not_a_node",
            say("%(kind)s is no node; %(times)s passed over", kind=kind, times=times),
            line=document.line,
        )


def _is_label_map(value: Mapping[str, Any]) -> bool:
    scalars = all(not isinstance(label, (dict, list)) for label in value.values())
    return scalars and any("kubernetes.io/" in key or _first(value, _PRODUCT) for key in value)


def _node(item: Mapping[str, Any], line: int, notes: Notes) -> dict[str, Any]:
    metadata, spec, status = (mapping(item.get(key)) for key in ("metadata", "spec", "status"))
    labels = {key: text_of(value) or "" for key, value in mapping(metadata.get("labels")).items()}
    name = text_of(metadata.get("name")) or labels.get(_HOSTNAME) or None
    if name is None:
        notes.add("no_name", say("a node has neither metadata.name nor a hostname label"), line=line)
    capacity, allocatable = _resources(status.get("capacity")), _resources(status.get("allocatable"))
    gpus = _gpus(labels, capacity, name, line, notes)
    ready = [
        text_of(condition.get("status"))
        for condition in map(mapping, sequence(status.get("conditions")))
        if condition.get("type") == "Ready"
    ]
    info = mapping(status.get("nodeInfo"))
    return {
        "name": name,
        **gpus,
        "capacity": capacity,
        "allocatable": allocatable,
        "unschedulable": spec.get("unschedulable") is True if "spec" in item else None,
        "taints": [
            {key: text_of(taint.get(key)) for key in ("key", "value", "effect")}
            for taint in map(mapping, sequence(spec.get("taints")))
        ],
        "ready": ready[0] == "True" if ready else None,
        **{key: text_of(info.get(name_in_k8s)) for key, name_in_k8s in _NODE_INFO.items()},
        "labels": labels,
        "portal_note": portal_note(item),
    }


def _gpus(
    labels: Mapping[str, str], capacity: Mapping[str, str], name: str | None, line: int, notes: Notes
) -> dict[str, Any]:
    for code, remark in _label_remarks(labels, name):
        notes.add(code, remark, line=line)
    product, clique = _first(labels, _PRODUCT), labels.get(_CLIQUE_LABEL) or None
    cluster_uuid, _, clique_id = (clique or "").rpartition(".")
    resource = next((key for key in capacity if _ACCELERATOR.search(key)), None)
    return {
        "gpu_product": product,
        "gpu_product_base": _PART_OF_GPU.sub("", product) if product else None,
        "gpu_count_label": _count(labels.get(_COUNT_LABEL)),
        "gpu_resource": resource,
        "gpu_capacity": _count(capacity.get(resource)) if resource else None,
        "gpu_memory_mib": _count(labels.get(_MEMORY_LABEL)),
        "driver_version": _first(labels, _DRIVER) or _joined(labels, _DRIVER_PARTS),
        "cuda_runtime": _first(labels, _RUNTIME) or _joined(labels, _RUNTIME_PARTS),
        "clique": clique,
        "cluster_uuid": cluster_uuid or None,
        "clique_id": clique_id or None,
    }


def _label_remarks(labels: Mapping[str, str], name: str | None) -> Iterator[tuple[str, Text]]:
    """(code, what is odd) of each label of GPUs that says less than it seems to."""
    part = _PART_OF_GPU.search(_first(labels, _PRODUCT) or "")
    if part is not None:
        said = say("node %(name)s: gpu.count counts parts of GPUs (%(part)s)", name=name, part=part[0])
        yield "counts_parts", said
    full, joined = _first(labels, _DRIVER), _joined(labels, _DRIVER_PARTS)
    if full and joined and full != joined:
        said = say(
            "node %(name)s: the driver is %(full)s and %(joined)s by its labels",
            name=name,
            full=full,
            joined=joined,
        )
        yield "labels_differ", said
    clique = labels.get(_CLIQUE_LABEL) or None
    for label, value, form in (("the driver", full or joined, _VERSION), ("gpu.clique", clique, _CLIQUE)):
        if value is not None and not form.fullmatch(value):
            shown = f"{value[:60]!r}"
            said = say(
                "node %(name)s: %(label)s is %(value)s by its labels", name=name, label=label, value=shown
            )
            yield "value_not_understood", said
    for key in (_COUNT_LABEL, _MEMORY_LABEL):
        if labels.get(key) and _count(labels[key]) is None:
            shown = f"{labels[key][:60]!r}"
            yield (
                "value_not_understood",
                say("node %(name)s: %(key)s is %(labels)s", name=name, key=key, labels=shown),
            )


def _first(labels: Mapping[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((text for key in keys if (text := text_of(labels.get(key)))), None)


def _joined(labels: Mapping[str, str], keys: tuple[str, ...]) -> str | None:
    """Version parts with dots between; the last ones may be missing or empty, the first may not."""
    parts = [labels.get(key) for key in keys]
    return ".".join(part for part in parts if part) if parts[0] else None


def _resources(value: Any) -> dict[str, str]:
    return {key: text for key, amount in mapping(value).items() if (text := text_of(amount)) is not None}


def _count(text: str | None) -> int | None:
    return int(text) if text is not None and text.isascii() and text.isdigit() and len(text) < 16 else None
