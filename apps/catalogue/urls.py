"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.catalogue.views import entries

app_name = "catalogue"
urlpatterns = [
    path("catalogue/", entries.accelerators, name="accelerators"),
    path("catalogue/supernodes/", entries.supernodes, name="supernodes"),
    path("catalogue/edits/<int:edit_id>/clear/", entries.clear, name="clear"),
    path("catalogue/<slug:kind>/<str:entry_id>/", entries.entry, name="entry"),
]
