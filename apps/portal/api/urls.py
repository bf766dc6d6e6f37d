"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.core.api_docs import Root, Schema

urlpatterns = [
    path("", Root.as_view(), name="root"),
    path("schema/", Schema.as_view(), name="schema"),
]
