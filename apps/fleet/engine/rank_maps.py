"""Rank → node maps, from a hostfile, a Slurm node list, a pod list or JSON: one node name per rank.

Everything wrong is found at once: holes, ranks given twice, lines that cannot be read.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.core.hostlist import HostListError, expand
from apps.core.texts import say

_RANK = say("rank")
MAX_RANKS = 200_000
_SLOTS = re.compile(r"(?:slots|max[-_]slots)\s*=\s*(\S+)", re.IGNORECASE)


def from_hostfile(text: str, *, slots_default: int) -> tuple[str, ...]:
    """`node`, `node slots=8` (Open MPI, DeepSpeed) or `node:8` (MPICH), # for comments.

    slots_default: ranks on a node whose line does not say. Raises Invalid naming each bad line.
    """
    nodes: list[str] = []
    errors: list[FieldError] = []
    for number, raw in enumerate(text.splitlines(), start=1):
        line = raw.split("#", 1)[0].strip()
        if not line:
            continue
        name, slots = _host_line(line, slots_default)
        if slots is None or not name:
            message = say(
                "line %(number)s: %(line)s is not `node slots=N` or `node:N` with N of 1 or more",
                number=number,
                line=f"{line[:80]!r}",
            )
            errors.append(FieldError(pointer=f"/hostfile/{number}", message=message, code="bad_host_line"))
        elif len(nodes) + slots > MAX_RANKS:
            message = say(
                "line %(number)s: more than %(max_ranks)s ranks", number=number, max_ranks=MAX_RANKS
            )
            errors.append(FieldError(pointer=f"/hostfile/{number}", message=message, code="too_many_ranks"))
            break
        else:
            nodes += [name] * slots
    if not nodes and not errors:
        errors.append(FieldError(pointer="/hostfile", message=say("it names no host"), code="empty"))
    _refuse(errors)
    return tuple(nodes)


def from_node_list(text: str, *, per_node: int) -> tuple[str, ...]:
    """A Slurm node list such as sn[01-18], `per_node` ranks on each in that order (block distribution)."""
    if per_node < 1:
        _refuse([FieldError(pointer="/per_node", message=say("must be 1 or more"), code="too_small")])
    try:
        nodes = expand(text, limit=MAX_RANKS // per_node)
    except HostListError as error:
        raise _invalid([FieldError(pointer="/nodes", message=error.message, code=error.code)]) from error
    errors = [
        FieldError(pointer="/nodes", message=say("%(name)s is named twice", name=name), code="duplicate_node")
        for name in _repeated(nodes)
    ]
    if not nodes:
        errors.append(FieldError(pointer="/nodes", message=say("it names no node"), code="empty"))
    _refuse(errors)
    return tuple(name for name in nodes for _ in range(per_node))


def from_pods(pods: Sequence[Mapping[str, Any]], *, per_pod: int) -> tuple[str, ...]:
    """Pods as {"name", "node", "index"?}; without an index the number at the end of the name counts.

    Pod k holds ranks k·per_pod … k·per_pod + per_pod − 1.
    """
    placed: list[tuple[Any, Any]] = []
    errors: list[FieldError] = []
    for place, pod in enumerate(pods):
        name = str(pod.get("name", ""))
        index = pod.get("index")
        if index is None and (found := re.search(r"(\d+)$", name)):
            index = int(found[1])
        if index is None:
            message = say("pod %(name)s has neither an index nor a number at its end", name=f"{name!r}")
            errors.append(FieldError(pointer=f"/pods/{place}/index", message=message, code="missing"))
        else:
            placed.append((index, pod.get("node")))
    _refuse(errors)
    per_index = from_pairs(placed, pointer="/pods", what=say("pod"))
    if per_pod < 1:
        _refuse([FieldError(pointer="/per_pod", message=say("must be 1 or more"), code="too_small")])
    return tuple(node for node in per_index for _ in range(per_pod))


def from_json(value: object) -> tuple[str, ...]:
    """A list of node names in order of rank, a map {"0": node}, or a list of {"rank", "node"}."""
    if isinstance(value, Mapping):
        return from_pairs(list(value.items()), pointer="/ranks")
    if isinstance(value, list | tuple):
        if all(isinstance(one, Mapping) for one in value):
            return from_pairs([(one.get("rank"), one.get("node")) for one in value], pointer="/ranks")
        return from_pairs(list(enumerate(value)), pointer="/ranks")
    message = say("give a list of nodes, a map from rank to node, or a list of {rank, node}")
    raise _invalid([FieldError(pointer="/ranks", message=message, code="wrong_shape")])


def from_pairs(pairs: Sequence[tuple[Any, Any]], *, pointer: str, what: str = _RANK) -> tuple[str, ...]:
    """(rank, node) in any order. Raises Invalid for ranks twice, holes, and what is no rank or node."""
    errors: list[FieldError] = []
    placed: dict[int, str] = {}
    for place, (given, node) in enumerate(pairs):
        rank = _whole_number(given)
        at = f"{pointer}/{place}"
        if rank is None or rank >= MAX_RANKS:
            message = say(
                "%(given)s is not a %(what)s number from 0 to %(max_ranks)s",
                given=f"{given!r}",
                what=what,
                max_ranks=MAX_RANKS - 1,
            )
            errors.append(FieldError(pointer=at, message=message, code="bad_rank"))
        elif not isinstance(node, str) or not node.strip():
            errors.append(
                FieldError(
                    pointer=at,
                    message=say("%(what)s %(rank)s has no node", what=what, rank=rank),
                    code="no_node",
                )
            )
        elif rank in placed:
            message = say(
                "%(what)s %(rank)s is given twice: %(placed)s and %(node)s",
                what=what,
                rank=rank,
                placed=placed[rank],
                node=node.strip(),
            )
            errors.append(FieldError(pointer=at, message=message, code="duplicate_rank"))
        else:
            placed[rank] = node.strip()
    if not pairs:
        errors.append(
            FieldError(pointer=pointer, message=say("there is no %(what)s", what=what), code="empty")
        )
    if not errors:
        errors += _holes(placed, pointer, what)
    _refuse(errors)
    return tuple(placed[rank] for rank in range(len(placed)))


def _holes(placed: Mapping[int, str], pointer: str, what: str) -> list[FieldError]:
    missing = [rank for rank in range(max(placed) + 1) if rank not in placed]
    if not missing:
        return []
    shown = ", ".join(str(rank) for rank in missing[:10]) + (" …" if len(missing) > 10 else "")
    message = say(
        "%(count)s missing below the highest %(what)s %(most)s: %(shown)s",
        count=len(missing),
        what=what,
        most=max(placed),
        shown=shown,
    )
    return [FieldError(pointer=pointer, message=message, code="hole")]


def _host_line(line: str, slots_default: int) -> tuple[str, int | None]:
    name, _, rest = line.partition(" ")
    rest = rest.strip()
    if not rest and ":" in name:
        name, _, slots = name.partition(":")
        return name, _count(slots)
    if not rest:
        return name, slots_default if slots_default > 0 else None
    found = _SLOTS.match(rest)
    return name, _count(found[1]) if found else None


def _count(text: str) -> int | None:
    return int(text) if text.isdecimal() and int(text[:9]) > 0 and len(text) < 9 else None


def _whole_number(value: object) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value if value >= 0 else None
    if isinstance(value, str) and value.isdecimal() and len(value) < 9:
        return int(value)
    return None


def _repeated(names: Iterable[str]) -> list[str]:
    seen: set[str] = set()
    twice: dict[str, None] = {}
    for name in names:
        if name in seen:
            twice[name] = None
        seen.add(name)
    return list(twice)


def _invalid(errors: Sequence[FieldError]) -> Invalid:
    return Invalid(say("the rank map cannot be read"), code="rank_map", errors=errors)


def _refuse(errors: Sequence[FieldError]) -> None:
    if errors:
        raise _invalid(errors)
