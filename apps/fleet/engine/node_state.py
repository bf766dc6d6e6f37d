"""The state of a node, derived from its life cycle, its health and the holds on it."""

from __future__ import annotations

from enum import StrEnum


class NodeState(StrEnum):
    IN_SERVICE = "in_service"
    SUB_HEALTHY = "sub_healthy"
    QUARANTINED = "quarantined"
    MAINTENANCE = "maintenance"
    IN_CHANGE = "in_change"
    TRAINING = "training"
    SPARE = "spare"
    RETIRED = "retired"


def derive(*, life_cycle: str, health: str, holds: frozenset[str]) -> NodeState:
    """What keeps a node from work comes first: retired, quarantine, maintenance or repair, change, training."""
    if life_cycle == "retired":
        return NodeState.RETIRED
    if "quarantine" in holds or health == "faulty":
        return NodeState.QUARANTINED
    if "maintenance" in holds or life_cycle == "repair":
        return NodeState.MAINTENANCE
    if "change" in holds:
        return NodeState.IN_CHANGE
    if "training" in holds:
        return NodeState.TRAINING
    if life_cycle == "spare":
        return NodeState.SPARE
    return NodeState.SUB_HEALTHY if health == "sub_healthy" else NodeState.IN_SERVICE
