"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.portal import views

app_name = "portal"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("clusters/<slug:slug>/", views.cluster, name="cluster"),
    path("search/", views.search, name="search"),
    path("palette/", views.palette, name="palette"),
    path("theme/", views.theme, name="theme"),
]
