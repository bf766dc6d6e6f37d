"""Django configuration of this app."""

from django.apps import AppConfig


class CatalogueConfig(AppConfig):
    name = "apps.catalogue"

    def ready(self) -> None:
        """Within a job, too, the components are those in force."""
        from apps.catalogue.engine.components import laid_over
        from apps.catalogue.queries import components_in_force
        from apps.jobs.registry import run_inside

        run_inside(lambda: laid_over(components_in_force))
