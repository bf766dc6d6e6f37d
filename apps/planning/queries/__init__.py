"""Questions about plans."""

from apps.planning.queries.measured import (
    calibration_of,
    calibration_versions,
    measured_domain_for,
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
from apps.planning.queries.systems import (
    accelerators_per_node,
    domains_to_plan_for,
    figures_of,
    part_of_domain,
    system_of,
    usual_domain,
)

__all__ = [
    "accelerators_per_node",
    "calibration_of",
    "calibration_versions",
    "domains_to_plan_for",
    "figures_of",
    "launch_plan_versions",
    "measured_domain_for",
    "measured_step_for",
    "measured_steps_visible",
    "part_of_domain",
    "plan_for",
    "plans_visible",
    "plans_with_newest",
    "system_of",
    "usual_domain",
    "version_for",
    "versions_of",
    "versions_visible",
]
