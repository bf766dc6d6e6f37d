"""Django configuration of this app."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "apps.portal"

    def ready(self) -> None:
        """Bring what only this floor knows to the topology page and the pages of clusters and nodes below."""
        from apps.portal.queries import topology_layers, troubles

        topology_layers.register()
        troubles.register()
