"""Decisions about plans."""

from apps.planning.services.computing import ask
from apps.planning.services.measured import note_measured_step, withdraw_measured_step
from apps.planning.services.plans import (
    compute_again,
    compute_version,
    create_plan,
    revise_plan,
    take_ablation,
    take_found,
    use_for_launch,
)

__all__ = [
    "ask",
    "compute_again",
    "compute_version",
    "create_plan",
    "note_measured_step",
    "revise_plan",
    "take_ablation",
    "take_found",
    "use_for_launch",
    "withdraw_measured_step",
]
