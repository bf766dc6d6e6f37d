"""API addresses of this app, under /api/v1/."""

from __future__ import annotations

from django.urls import path

from apps.planning.api import ablations, studies, views

_VERSION = "plans/<int:plan_id>/versions/<int:number>/"

urlpatterns = [
    path("plans/", views.Plans.as_view(), name="plans"),
    path("plans/<int:plan_id>/", views.OnePlan.as_view(), name="plan"),
    path("plans/<int:plan_id>/versions/", views.Versions.as_view(), name="versions"),
    path(_VERSION, views.OneVersion.as_view(), name="version"),
    path(f"{_VERSION}ablations/", ablations.Ablations.as_view(), name="ablations"),
    path(f"{_VERSION}use-for-launch/", views.UseForLaunch.as_view(), name="use_for_launch"),
    path(f"{_VERSION}take/", views.Take.as_view(), name="take"),
    path(f"{_VERSION}take-ablation/", views.TakeAblation.as_view(), name="take_ablation"),
    path(f"{_VERSION}compute-again/", views.Again.as_view(), name="compute_again"),
    path(f"{_VERSION}measured-steps/", views.NoteMeasuredStep.as_view(), name="note"),
    path("measured-steps/", views.MeasuredSteps.as_view(), name="measured_steps"),
    path("measured-steps/<int:step_id>/withdraw/", views.WithdrawMeasuredStep.as_view(), name="withdraw"),
    path("domains/<int:domain_id>/calibration/", views.CalibrationView.as_view(), name="calibration"),
    path("planning/models/", views.Models.as_view(), name="models"),
    path("plan-estimates/", views.Estimates.as_view(), name="estimates"),
    *studies.urls(),
]
