"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.core import api_docs, probes
from apps.jobs import readiness
from apps.portal.views import client, intake, overview

app_name = "portal"
urlpatterns = [
    path("", overview.overview, name="overview"),
    path("clusters/<slug:slug>/", overview.cluster, name="cluster"),
    path("clusters/<slug:slug>/hand-in/", intake.hand_in, name="hand_in"),
    path("evidence/receipts/<int:pk>/node/", intake.assign_node, name="assign_node"),
    path("evidence/receipts/<int:pk>/reading/", intake.reading, name="reading"),
    path("client/snp.py", client.snp, name="client"),
    path("search/", overview.search, name="search"),
    path("palette/", overview.palette, name="palette"),
    path("healthz", probes.healthz, name="healthz"),
    path("readyz", readiness.readyz, name="readyz"),
    path("csp-report/", probes.csp_report, name="csp_report"),
    path("robots.txt", probes.robots, name="robots"),
    path("api/docs/", api_docs.docs, name="api_docs"),
]
