"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path

from apps.launches import views

app_name = "launches"
urlpatterns = [
    path("launches/", views.launches, name="launches"),
    path("launches/open/", views.open_launch, name="open"),
    path("launches/<uuid:launch_id>/", views.launch, name="launch"),
    path("launches/<uuid:launch_id>/edit/", views.edit, name="edit"),
    path("launches/<uuid:launch_id>/evaluate/", views.evaluate, name="evaluate"),
    path("launches/<uuid:launch_id>/answers/", views.answer, name="answer"),
    path("launches/<uuid:launch_id>/waive/<slug:item>/", views.waive, name="waive"),
    path("launches/<uuid:launch_id>/rollback/", views.roll_back, name="roll_back"),
    path("launches/<uuid:launch_id>/start/", views.start, name="start"),
    path("launches/<uuid:launch_id>/finish/", views.finish, name="finish"),
    path("launches/<uuid:launch_id>/cancel/", views.cancel, name="cancel"),
    path("evaluations/<uuid:evaluation_id>/", views.evaluation, name="evaluation"),
    path("evaluations/<uuid:evaluation_id>/sign/", views.sign, name="sign"),
    path("waivers/<int:waiver_id>/approve/", views.approve_waiver, name="approve_waiver"),
    path("waivers/<int:waiver_id>/revoke/", views.revoke_waiver, name="revoke_waiver"),
]
