"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.fleet.views import (
    clusters,
    domains,
    imports,
    nodes,
    parts,
    placement,
    schedulers,
    topology,
    what_ifs,
)

app_name = "fleet"
urlpatterns = [
    path("clusters/", clusters.clusters, name="clusters"),
    path("create-cluster/", clusters.create_cluster, name="create_cluster"),
    path("clusters/<slug:slug>/edit/", clusters.edit_cluster, name="edit_cluster"),
    path("clusters/<slug:slug>/build-domain/", domains.build_domain, name="build_domain"),
    path("clusters/<slug:slug>/build-free-domain/", domains.build_free, name="build_free"),
    path("clusters/<slug:slug>/topology/", topology.topology, name="topology"),
    path("clusters/<slug:slug>/nodes/", nodes.nodes, name="nodes"),
    path("clusters/<slug:slug>/what-ifs/", what_ifs.what_ifs, name="what_ifs"),
    path("clusters/<slug:slug>/what-ifs/<int:job_id>/", what_ifs.what_if, name="what_if"),
    path("clusters/<slug:slug>/mixed/", what_ifs.mixed, name="mixed"),
    path("clusters/<slug:slug>/placement/", placement.placement, name="placement"),
    path("clusters/<slug:slug>/imports/", imports.imports, name="imports"),
    path("clusters/<slug:slug>/imports/<int:pk>/", imports.one_import, name="import"),
    path("clusters/<slug:slug>/imports/<int:pk>/map/", imports.map_columns, name="map_import"),
    path("clusters/<slug:slug>/imports/<int:pk>/apply/", imports.apply_import, name="apply_import"),
    path("clusters/<slug:slug>/imports/<int:pk>/errors/", imports.import_errors, name="import_errors"),
    path("clusters/<slug:slug>/export/", imports.export_fleet, name="export"),
    path("clusters/<slug:slug>/schedulers/", schedulers.schedulers, name="schedulers"),
    path(
        "clusters/<slug:slug>/schedulers/<slug:form>/",
        schedulers.scheduler_download,
        name="scheduler_download",
    ),
    path(
        "clusters/<slug:slug>/topology-files/<int:receipt_id>/", schedulers.compare_file, name="compare_file"
    ),
    path(
        "clusters/<slug:slug>/topology-files/<int:receipt_id>/import/",
        schedulers.import_file,
        name="import_file",
    ),
    path("clusters/<slug:slug>/parts/", parts.parts, name="parts"),
    path("clusters/<slug:slug>/parts/<int:pk>/move/", parts.move_part, name="move_part"),
    path("clusters/<slug:slug>/nodes/<int:pk>/", nodes.node, name="node"),
    path("clusters/<slug:slug>/nodes/<int:pk>/edit/", nodes.edit_node, name="edit_node"),
    path("clusters/<slug:slug>/nodes/<int:pk>/move/", nodes.move_node, name="move_node"),
    path("clusters/<slug:slug>/nodes/<int:pk>/hold/", nodes.hold_node, name="hold_node"),
    path(
        "clusters/<slug:slug>/nodes/<int:pk>/holds/<int:hold_id>/release/",
        nodes.release_hold,
        name="release_hold",
    ),
    path("clusters/<slug:slug>/nodes/<int:pk>/aliases/", nodes.add_alias, name="add_alias"),
    path(
        "clusters/<slug:slug>/nodes/<int:pk>/aliases/<int:alias_id>/remove/",
        nodes.remove_alias,
        name="remove_alias",
    ),
]
