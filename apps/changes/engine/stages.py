"""Staged rollout: one node first, then its sub-domain, then the rest."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

DEFAULT_SOAK_S = (900, 3600)


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """One stage: its nodes by id, and how long it must hold before the next one starts."""

    name: str
    node_ids: tuple[int, ...]
    soak_s: int


def default_stages(
    nodes: Sequence[tuple[int, str]], *, soak_s: Sequence[int] = DEFAULT_SOAK_S
) -> tuple[StagePlan, ...]:
    """Stages for nodes given as (id, sub-domain); stages that would be empty are left out.

    The first node is its own stage, the other nodes of its sub-domain the second, all others the third.
    soak_s: how long the first and the second stage hold, in seconds; the last one never waits.
    """
    if not nodes:
        return ()
    (first, home), others = nodes[0], nodes[1:]
    near = tuple(node for node, place in others if place == home)
    far = tuple(node for node, place in others if place != home)
    parts = (("one node", (first,)), ("its sub-domain", near), ("the rest", far))
    planned = [(name, members) for name, members in parts if members]
    last = len(planned) - 1
    return tuple(
        StagePlan(name=name, node_ids=members, soak_s=0 if place == last else soak_s[place])
        for place, (name, members) in enumerate(planned)
    )
