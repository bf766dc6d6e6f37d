"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.catalogue.views import entries

app_name = "catalogue"
urlpatterns = [
    path("catalogue/", entries.accelerators, name="accelerators"),
    path("catalogue/supernodes/", entries.supernodes, name="supernodes"),
    path("catalogue/components/", entries.components, name="components"),
    path("catalogue/components/export/", entries.export_components, name="export_components"),
    path("catalogue/components/import/", entries.import_components, name="import_components"),
    path("catalogue/versions/", entries.version_table, name="version_tables"),
    path("catalogue/versions/<slug:kind>/", entries.version_table, name="version_table"),
    path("catalogue/edits/<int:edit_id>/clear/", entries.clear, name="clear"),
    path("catalogue/<slug:kind>/<str:entry_id>/", entries.entry, name="entry"),
]
