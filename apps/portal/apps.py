"""Django configuration of this app."""

from django.apps import AppConfig


class PortalConfig(AppConfig):
    name = "apps.portal"

    def ready(self) -> None:
        """Bring what only this floor knows to the topology page and the list of clusters below."""
        from apps.portal.queries import cluster_troubles, topology_layers

        topology_layers.register()
        cluster_troubles.register()
