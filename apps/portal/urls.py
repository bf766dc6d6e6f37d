"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.core import api_docs, probes
from apps.jobs import readiness
from apps.portal import views

app_name = "portal"
urlpatterns = [
    path("", views.overview, name="overview"),
    path("clusters/<slug:slug>/", views.cluster, name="cluster"),
    path("search/", views.search, name="search"),
    path("palette/", views.palette, name="palette"),
    path("healthz", probes.healthz, name="healthz"),
    path("readyz", readiness.readyz, name="readyz"),
    path("csp-report/", probes.csp_report, name="csp_report"),
    path("robots.txt", probes.robots, name="robots"),
    path("api/docs/", api_docs.docs, name="api_docs"),
]
