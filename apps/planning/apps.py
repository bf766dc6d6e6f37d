"""Django configuration of this app."""

from django.apps import AppConfig


class PlanningConfig(AppConfig):
    name = "apps.planning"

    def ready(self) -> None:
        from apps.audit import directory
        from apps.planning.names import pages_of_steps, pages_of_versions

        directory.find_pages("planning.planversion", pages_of_versions)
        directory.find_pages("planning.measuredstep", pages_of_steps)
