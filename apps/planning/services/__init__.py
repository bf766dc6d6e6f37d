"""Decisions about plans."""

from apps.planning.services.plans import compute_version, create_plan, revise_plan, use_for_launch

__all__ = ["compute_version", "create_plan", "revise_plan", "use_for_launch"]
