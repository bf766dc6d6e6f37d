"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.health import views

app_name = "health"
urlpatterns = [path("health/", views.overview, name="overview")]
