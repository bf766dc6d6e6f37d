"""Django configuration of this app."""

from django.apps import AppConfig


class FleetConfig(AppConfig):
    name = "apps.fleet"

    def ready(self) -> None:
        from apps.audit import directory
        from apps.fleet.names import pages_of_clusters, pages_of_domains, pages_of_nodes

        directory.find_pages("fleet.cluster", pages_of_clusters)
        directory.find_pages("fleet.domain", pages_of_domains)
        directory.find_pages("fleet.node", pages_of_nodes)
