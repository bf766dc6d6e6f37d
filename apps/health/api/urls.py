"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.health.api import metrics, views

urlpatterns = [
    path("faults/", views.Faults.as_view(), name="faults"),
    path("faults/<int:pk>/", views.OneFault.as_view(), name="fault"),
    path("faults/<int:pk>/resolve/", views.Resolve.as_view(), name="resolve"),
    path("health-states/", views.States.as_view(), name="states"),
    path("quarantine-proposals/", views.Proposals.as_view(), name="proposals"),
    path("health-rules/", views.Rules.as_view(), name="rules"),
    path("health-rules/<slug:rule_id>/", views.OneRule.as_view(), name="rule"),
    path("health-policies/<slug:slug>/", views.Policy.as_view(), name="policy"),
    path("metrics-sources/<slug:slug>/", metrics.Source.as_view(), name="metrics_source"),
    path("metrics-sources/<slug:slug>/fetch/", metrics.Fetch.as_view(), name="fetch_metrics"),
    path("knowledge/", views.Knowledge.as_view(), name="knowledge"),
    path("knowledge/<slug:item_id>/", views.OneItem.as_view(), name="item"),
    path("diagnoses/", views.Diagnoses.as_view(), name="diagnoses"),
    path("upkeep/", views.Upkeep.as_view(), name="upkeep"),
    path("upkeep/<int:pk>/", views.OneUpkeep.as_view(), name="task"),
    path("upkeep/<int:pk>/records/", views.UpkeepRecords.as_view(), name="records"),
    path("upkeep/<int:pk>/retire/", views.RetireUpkeep.as_view(), name="retire"),
]
