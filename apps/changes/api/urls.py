"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.changes.api import views

urlpatterns = [
    path("changes/", views.Changes.as_view(), name="changes"),
    path("changes/<int:change_id>/", views.OneChange.as_view(), name="change"),
    path("changes/<int:change_id>/snapshot/", views.SnapshotOf.as_view(), name="snapshot"),
    path("changes/<int:change_id>/inventory/", views.Inventory.as_view(), name="inventory"),
    path("changes/<int:change_id>/submit/", views.Submit.as_view(), name="submit"),
    path("changes/<int:change_id>/approve/", views.Approve.as_view(), name="approve"),
    path("changes/<int:change_id>/refuse/", views.Refuse.as_view(), name="refuse"),
    path("changes/<int:change_id>/start/", views.Start.as_view(), name="start"),
    path("changes/<int:change_id>/pass-stage/", views.PassStage.as_view(), name="pass_stage"),
    path("changes/<int:change_id>/finish/", views.Finish.as_view(), name="finish"),
    path("changes/<int:change_id>/fail/", views.Fail.as_view(), name="fail"),
    path("changes/<int:change_id>/cancel/", views.Cancel.as_view(), name="cancel"),
    path("changes/<int:change_id>/roll-back/", views.RollBack.as_view(), name="roll_back"),
    path("changes/<int:change_id>/review/", views.Review.as_view(), name="review"),
    path("rollbacks/", views.Rollbacks.as_view(), name="rollbacks"),
]
