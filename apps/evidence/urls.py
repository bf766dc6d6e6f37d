"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.evidence import views

app_name = "evidence"
urlpatterns = [
    path("evidence/", views.receipts, name="receipts"),
    path("evidence/keeping/<slug:slug>/", views.keeping, name="keeping"),
    path("evidence/receipts/<int:pk>/", views.receipt, name="receipt"),
    path("evidence/receipts/<int:pk>/raw/", views.raw, name="raw"),
]
