"""Questions about plans."""

from apps.planning.queries.measured import (
    calibration_of,
    calibration_versions,
    measured_step_for,
    measured_steps_visible,
)
from apps.planning.queries.plans import (
    launch_plan_versions,
    plan_for,
    plans_visible,
    plans_with_newest,
    version_for,
    versions_of,
    versions_visible,
)
from apps.planning.queries.systems import accelerators_per_node, figures_of, system_of

__all__ = [
    "accelerators_per_node",
    "calibration_of",
    "calibration_versions",
    "figures_of",
    "launch_plan_versions",
    "measured_step_for",
    "measured_steps_visible",
    "plan_for",
    "plans_visible",
    "plans_with_newest",
    "system_of",
    "version_for",
    "versions_of",
    "versions_visible",
]
