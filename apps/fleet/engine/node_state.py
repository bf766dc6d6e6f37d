"""The state of a node, derived from its life cycle, its health and the holds on it."""

from __future__ import annotations

from enum import StrEnum


class NodeState(StrEnum):
    IN_SERVICE = "in_service"
    SUB_HEALTHY = "sub_healthy"
    QUARANTINED = "quarantined"
    FAULTY = "faulty"
    MAINTENANCE = "maintenance"
    IN_CHANGE = "in_change"
    TRAINING = "training"
    SPARE = "spare"
    RETIRED = "retired"


def derive(*, life_cycle: str, health: str, holds: frozenset[str]) -> NodeState:
    """What keeps a node from work comes first: retired, quarantine, fault, maintenance or repair, change, training.

    Quarantined is who is held so; a fault that nobody acted on yet is but faulty.
    """
    if life_cycle == "retired":
        return NodeState.RETIRED
    if "quarantine" in holds:
        return NodeState.QUARANTINED
    if health == "faulty":
        return NodeState.FAULTY
    if "maintenance" in holds or life_cycle == "repair":
        return NodeState.MAINTENANCE
    if "change" in holds:
        return NodeState.IN_CHANGE
    if "training" in holds:
        return NodeState.TRAINING
    if life_cycle == "spare":
        return NodeState.SPARE
    return NodeState.SUB_HEALTHY if health == "sub_healthy" else NodeState.IN_SERVICE
