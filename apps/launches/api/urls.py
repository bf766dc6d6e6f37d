"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.launches.api import views

urlpatterns = [
    path("launches/", views.Launches.as_view(), name="launches"),
    path("launches/<uuid:launch_id>/", views.OneLaunch.as_view(), name="launch"),
    path("launches/<uuid:launch_id>/start/", views.Start.as_view(), name="start"),
    path("launches/<uuid:launch_id>/finish/", views.Finish.as_view(), name="finish"),
    path("launches/<uuid:launch_id>/cancel/", views.Cancel.as_view(), name="cancel"),
    path("launches/<uuid:launch_id>/gate/", views.Gate.as_view(), name="gate"),
    path("launches/<uuid:launch_id>/evaluations/", views.Evaluations.as_view(), name="evaluations"),
    path("launches/<uuid:launch_id>/answers/", views.Answers.as_view(), name="answers"),
    path("launches/<uuid:launch_id>/waivers/", views.Waivers.as_view(), name="waivers"),
    path("waivers/<int:waiver_id>/approve/", views.ApproveWaiver.as_view(), name="approve_waiver"),
    path("waivers/<int:waiver_id>/revoke/", views.RevokeWaiver.as_view(), name="revoke_waiver"),
    path("gate-evaluations/<uuid:evaluation_id>/", views.OneEvaluation.as_view(), name="evaluation"),
    path("gate-evaluations/<uuid:evaluation_id>/sign/", views.Sign.as_view(), name="sign"),
]
