"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.audit import views

app_name = "audit"
urlpatterns = [
    path("audit/", views.events, name="events"),
    path("audit/<int:seq>/", views.event, name="event"),
    path("audit/export.jsonl", views.export_json_lines, name="export_json_lines"),
    path("audit/export.csv", views.export_csv, name="export_csv"),
    path("audit/verify_audit_export.py", views.verifier, name="verifier"),
]
