"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path, re_path

from apps.evidence.api import views

urlpatterns = [
    path("evidence-receipts/", views.Receipts.as_view(), name="receipts"),
    path("evidence-receipts/<int:receipt_id>/", views.OneReceipt.as_view(), name="receipt"),
    path("evidence-keeping/<slug:slug>/", views.Keeping.as_view(), name="keeping"),
    re_path(r"^evidence/(?P<sha256>[0-9a-f]{64})/raw/$", views.Raw.as_view(), name="raw"),
]
