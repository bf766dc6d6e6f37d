"""Rank maps as people paste them: hostfile, Slurm node list, pods or JSON, told apart by their look."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.core.foreign import why
from apps.core.texts import say
from apps.fleet.engine import rank_maps

_COLUMNS = re.compile(r"\t| {2,}")  # kubectl keeps single blanks inside of a cell
_INDEX_LABELS = ("batch.kubernetes.io/job-completion-index", "apps.kubernetes.io/pod-index")


def read_ranks(text: str, *, per_node: int) -> tuple[str, ...]:
    """One node name per rank. per_node: ranks on a node where the text does not say.

    JSON starts with a bracket: a list of nodes, a map from rank to node, a list of {rank, node}, or of pods, as
    {name, node} or as kubectl gives them. One line without blanks is a node list such as sn[01-18]. The table of
    `kubectl get pods -o wide` has columns NAME and NODE; else it is a hostfile.
    Raises Invalid with everything that is wrong.
    """
    start = text.strip()
    if start.startswith(("{", "[")):
        return _json(start, per_node)
    if start and len(start.split()) == 1 and ":" not in start:
        return rank_maps.from_node_list(start, per_node=per_node)
    first, *lines = start.splitlines() or [""]
    head = _COLUMNS.split(first.strip())
    if {"NAME", "NODE"} <= set(head):
        return rank_maps.from_pods(_pods_of_table(head, lines), per_pod=per_node)
    return rank_maps.from_hostfile(text, slots_default=per_node)


def _json(text: str, per_node: int) -> tuple[str, ...]:
    try:
        value: Any = json.loads(text)
    except (ValueError, RecursionError) as fault:
        message = say("no valid JSON: %(fault)s", fault=why(fault))
        raise Invalid(
            message, code="bad_json", errors=[FieldError(pointer="/ranks", message=message)]
        ) from fault
    return read_values(value, per_node=per_node)


def read_values(value: Any, *, per_node: int) -> tuple[str, ...]:
    """The same from decoded JSON: a list of nodes, a map, a list of {rank, node} or of pods.

    Pods may also be the items of a list, as Kubernetes gives them. A list of nodes names one per rank. Where an entry
    stands for several, such as sn[01-18], all of them are a node list, with per_node ranks on each.
    """
    if isinstance(value, dict) and isinstance(value.get("items"), list):
        return rank_maps.from_pods([_pod_of_item(one) for one in value["items"]], per_pod=per_node)
    if isinstance(value, list) and _is_node_list(value):
        return rank_maps.from_node_list(",".join(value), per_node=per_node)
    pods = isinstance(value, list) and bool(value) and all(_is_pod(one) for one in value)
    return rank_maps.from_pods(value, per_pod=per_node) if pods else rank_maps.from_json(value)


def _is_node_list(value: list[Any]) -> bool:
    """Texts, one of which stands for several nodes."""
    return all(isinstance(one, str) for one in value) and any("[" in one or "," in one for one in value)


def _is_pod(one: Any) -> bool:
    return isinstance(one, dict) and "name" in one and "rank" not in one


def _pods_of_table(head: list[str], lines: Iterable[str]) -> list[dict[str, Any]]:
    rows = [dict(zip(head, _COLUMNS.split(line.strip()), strict=False)) for line in lines if line.strip()]
    return [{"name": row.get("NAME", ""), "node": row.get("NODE", "").replace("<none>", "")} for row in rows]


def _pod_of_item(item: Any) -> dict[str, Any]:
    """{name, node, index} of a pod as the API server has it; a job and a stateful set say the index in a label."""
    metadata, spec = (_object(item, key) for key in ("metadata", "spec"))
    labels = _object(metadata, "labels")
    index = next((labels[name] for name in _INDEX_LABELS if name in labels), None)
    return {"name": metadata.get("name", ""), "node": spec.get("nodeName"), "index": index}


def _object(outer: Any, key: str) -> dict[str, Any]:
    found = outer.get(key) if isinstance(outer, dict) else None
    return found if isinstance(found, dict) else {}
