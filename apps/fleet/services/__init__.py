"""Decisions about the fleet, by noun."""

from apps.fleet.services.clusters import create_cluster, edit_cluster
from apps.fleet.services.domains import build_domain
from apps.fleet.services.hardware import note_hardware, set_health
from apps.fleet.services.holds import (
    hold_node,
    release_hold,
    release_holds,
    take_holds,
    transfer_holds,
)
from apps.fleet.services.nodes import add_alias, edit_node, move_node, remove_alias
from apps.fleet.services.parts import add_spare, move_part

__all__ = [
    "add_alias",
    "add_spare",
    "build_domain",
    "create_cluster",
    "edit_cluster",
    "edit_node",
    "hold_node",
    "move_node",
    "move_part",
    "note_hardware",
    "release_hold",
    "release_holds",
    "remove_alias",
    "set_health",
    "take_holds",
    "transfer_holds",
]
