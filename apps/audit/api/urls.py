"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.audit.api import views

urlpatterns = [
    path("audit-events/", views.Events.as_view(), name="events"),
    path("audit-events/<int:seq>/", views.OneEvent.as_view(), name="event"),
    path("audit-export/", views.Export.as_view(), name="export"),
    path("audit-head/", views.Head.as_view(), name="head"),
]
