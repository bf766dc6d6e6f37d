"""Page addresses of this app."""

from __future__ import annotations

from django.urls import URLPattern

app_name = "benchmarks"
urlpatterns: list[URLPattern] = []
