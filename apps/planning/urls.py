"""Page addresses of this app."""

from __future__ import annotations

from django.urls import path, re_path

from apps.planning.views import ablations, measured, plans, studies

app_name = "planning"
urlpatterns = [
    path("plans/", plans.plans, name="plans"),
    path("plans/new/", plans.new, name="new"),
    path("plans/compare/", plans.compare, name="compare"),
    path("plans/validation/", plans.validation, name="validation"),
    path("plans/calibration/<int:domain_id>/", measured.calibration, name="calibration"),
    path("plans/measured-steps/<int:step_id>/withdraw/", measured.withdraw, name="withdraw"),
    path("plans/<int:plan_id>/versions/<int:number>/measured/", measured.note, name="note"),
    path("plans/studies/", studies.hub, name="studies"),
    path("plans/studies/<slug:key>/", studies.study, name="study"),
    path("plans/<int:plan_id>/", plans.plan, name="plan"),
    path("plans/<int:plan_id>/revise/", plans.revise, name="revise"),
    path("plans/<int:plan_id>/versions/<int:number>/", plans.version, name="version"),
    path("plans/<int:plan_id>/versions/<int:number>/use/", plans.use, name="use"),
    path("plans/<int:plan_id>/versions/<int:number>/take/", plans.take, name="take"),
    path(
        "plans/<int:plan_id>/versions/<int:number>/take-ablation/", plans.take_ablation, name="take_ablation"
    ),
    path("plans/<int:plan_id>/versions/<int:number>/again/", plans.again, name="again"),
    path("plans/<int:plan_id>/versions/<int:number>/ablations/", ablations.ablations, name="ablations"),
    re_path(
        r"^plans/(?P<plan_id>\d+)/versions/(?P<number>\d+)/export\.(?P<form>json|csv)$",
        plans.export,
        name="export",
    ),
]
