"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.benchmarks import views

app_name = "benchmarks"
urlpatterns = [
    path("benchmarks/", views.runs, name="runs"),
    path("benchmarks/<int:run_id>/", views.run, name="run"),
    path("benchmarks/<int:run_id>/points.csv", views.points_csv, name="points_csv"),
    path("benchmarks/<int:run_id>/collective/", views.state_collective, name="state_collective"),
    path("benchmarks/<int:run_id>/baseline/", views.set_baseline, name="set_baseline"),
]
