"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.catalogue.api import views

urlpatterns = [
    path("catalogue/accelerators/", views.Accelerators.as_view(), name="accelerators"),
    path("catalogue/supernodes/", views.Supernodes.as_view(), name="supernodes"),
    path("catalogue/components/", views.Components.as_view(), name="components"),
    path("catalogue/components/file/", views.ComponentsFile.as_view(), name="components_file"),
    path("catalogue/version-tables/", views.VersionTables.as_view(), name="version_tables"),
    path("catalogue/edits/", views.Edits.as_view(), name="edits"),
    path("catalogue/edits/<int:edit_id>/", views.OneEdit.as_view(), name="edit"),
]
