"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.fleet.api import clusters, imports, nodes, parts, placement, schedulers, what_ifs

urlpatterns = [
    path("clusters/", clusters.Clusters.as_view(), name="clusters"),
    path("clusters/<slug:slug>/", clusters.OneCluster.as_view(), name="cluster"),
    path("layout-templates/", clusters.LayoutTemplates.as_view(), name="layout_templates"),
    path("layout-figures/", clusters.LayoutFigures.as_view(), name="layout_figures"),
    path("domains/", clusters.Domains.as_view(), name="domains"),
    path("domains/<int:pk>/", clusters.OneDomain.as_view(), name="domain"),
    path("domains/<int:pk>/fabric/", clusters.DomainFabric.as_view(), name="domain_fabric"),
    path("nodes/", nodes.Nodes.as_view(), name="nodes"),
    path("nodes/<int:pk>/", nodes.OneNode.as_view(), name="node"),
    path("nodes/<int:pk>/move/", nodes.MoveNode.as_view(), name="move_node"),
    path("holds/", nodes.Holds.as_view(), name="holds"),
    path("holds/<int:pk>/release/", nodes.ReleaseHold.as_view(), name="release_hold"),
    path("node-aliases/", nodes.Aliases.as_view(), name="aliases"),
    path("node-aliases/<int:pk>/", nodes.OneAlias.as_view(), name="alias"),
    path("accelerators/", nodes.Accelerators.as_view(), name="accelerators"),
    path("switches/", nodes.Switches.as_view(), name="switches"),
    path("links/", nodes.Links.as_view(), name="links"),
    path("imports/", imports.Imports.as_view(), name="imports"),
    path("imports/<int:pk>/", imports.OneImport.as_view(), name="import"),
    path("imports/<int:pk>/rows/", imports.ImportRows.as_view(), name="import_rows"),
    path("imports/<int:pk>/apply/", imports.ApplyImport.as_view(), name="apply_import"),
    path("clusters/<slug:slug>/export/", imports.ExportFleet.as_view(), name="export"),
    path(
        "clusters/<slug:slug>/scheduler-files/<slug:form>/",
        schedulers.SchedulerFile.as_view(),
        name="scheduler_file",
    ),
    path(
        "clusters/<slug:slug>/topology-files/<int:receipt_id>/",
        schedulers.CompareFile.as_view(),
        name="compare_file",
    ),
    path("clusters/<slug:slug>/placement-check/", placement.PlacementCheck.as_view(), name="placement_check"),
    path(
        "clusters/<slug:slug>/allocation-what-ifs/",
        what_ifs.AllocationWhatIfs.as_view(),
        name="allocation_what_ifs",
    ),
    path("clusters/<slug:slug>/mixed-split/", what_ifs.MixedSplit.as_view(), name="mixed_split"),
    path("hardware-changes/", nodes.HardwareChanges.as_view(), name="hardware_changes"),
    path("parts/", parts.Parts.as_view(), name="parts"),
    path("parts/<int:pk>/", parts.OnePart.as_view(), name="part"),
    path("parts/<int:pk>/move/", parts.MovePart.as_view(), name="move_part"),
]
