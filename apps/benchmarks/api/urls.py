"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.benchmarks.api import views

urlpatterns = [
    path("benchmark-runs/", views.Runs.as_view(), name="runs"),
    path("benchmark-runs/<int:run_id>/", views.OneRun.as_view(), name="run"),
    path("benchmark-runs/<int:run_id>/collective/", views.StateCollective.as_view(), name="collective"),
    path("baselines/", views.Baselines.as_view(), name="baselines"),
]
