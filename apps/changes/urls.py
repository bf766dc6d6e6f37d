"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.changes import views

app_name = "changes"
urlpatterns = [
    path("changes/", views.changes, name="changes"),
    path("changes/new/", views.new, name="new"),
    path("changes/rollback/", views.roll_back_to, name="roll_back_to"),
    path("changes/<int:change_id>/", views.change, name="change"),
    path("changes/<int:change_id>/edit/", views.edit, name="edit"),
    path("changes/<int:change_id>/snapshot/", views.snapshot, name="snapshot"),
    path("changes/<int:change_id>/inventory.yml", views.inventory, name="inventory"),
    path("changes/<int:change_id>/submit/", views.submit, name="submit"),
    path("changes/<int:change_id>/approve/", views.approve, name="approve"),
    path("changes/<int:change_id>/start/", views.start, name="start"),
    path("changes/<int:change_id>/pass-stage/", views.pass_stage, name="pass_stage"),
    path("changes/<int:change_id>/finish/", views.finish, name="finish"),
    path("changes/<int:change_id>/fail/", views.fail, name="fail"),
    path("changes/<int:change_id>/cancel/", views.cancel, name="cancel"),
    path("changes/<int:change_id>/rollback/", views.roll_back, name="roll_back"),
    path("changes/<int:change_id>/review/", views.review, name="review"),
]
