"""Questions about plans."""

from apps.planning.queries.plans import launch_plan_versions, plan_for, plans_visible, version_for

__all__ = ["launch_plan_versions", "plan_for", "plans_visible", "version_for"]
