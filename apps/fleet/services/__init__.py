"""Decisions about the fleet, by noun."""

from apps.fleet.services.clusters import create_cluster, edit_cluster
from apps.fleet.services.domains import build_domain
from apps.fleet.services.hardware import note_hardware, set_health
from apps.fleet.services.holds import release_holds, take_holds, transfer_holds

__all__ = [
    "build_domain",
    "create_cluster",
    "edit_cluster",
    "note_hardware",
    "release_holds",
    "set_health",
    "take_holds",
    "transfer_holds",
]
