"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.environments.views import drift, matrices, overview

app_name = "environments"
urlpatterns = [
    path("environment/", overview.overview, name="overview"),
    path("clusters/<slug:slug>/environment/", overview.cluster, name="cluster"),
    path("environment/matrices/<int:pk>/", matrices.matrix, name="matrix"),
    path("environment/versions/<int:pk>/", matrices.version, name="version"),
    path("environment/domains/<int:pk>/drift/", drift.drift, name="drift"),
]
