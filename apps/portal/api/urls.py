"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.core.api_docs import Root, Schema
from apps.portal.api import views

urlpatterns = [
    path("", Root.as_view(), name="root"),
    path("schema/", Schema.as_view(), name="schema"),
    path("clusters/<slug:slug>/evidence/", views.HandIn.as_view(), name="hand_in"),
    path("clusters/<slug:slug>/evidence/known/", views.Known.as_view(), name="known"),
    path("clusters/<slug:slug>/evidence/unchanged/", views.Unchanged.as_view(), name="unchanged"),
    path("evidence-receipts/<int:receipt_id>/node/", views.AssignNode.as_view(), name="assign_node"),
]
