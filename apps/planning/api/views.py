"""API of plans: ask, look at the answer, choose for launches. Computing is always a job: 202 with its address."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.catalogue.engine.model_catalogue import models_by_maker
from apps.core.api import actor_of, checked
from apps.core.rights import Right, TokenScope
from apps.fleet.models import Cluster
from apps.fleet.queries import cluster_for
from apps.jobs.answers import JobOut, accepted, address_of
from apps.planning import queries, services
from apps.planning.api import serializers as s
from apps.planning.filters import MeasuredStepFilter, PlanFilter
from apps.planning.models import MeasuredStep, Plan, PlanVersion

_WRITE = {"POST": TokenScope.PLAN_WRITE}


class Plans(generics.ListAPIView):
    """Plans, newest first."""

    serializer_class = s.PlanOut
    filterset_class = PlanFilter
    queryset = Plan.objects.none()
    token_scopes = _WRITE

    def get_queryset(self) -> Any:
        return queries.plans_visible(actor_of(self.request))

    @extend_schema(request=s.PlanIn, responses={202: s.PlanVersionOut})
    def post(self, request: Request) -> Response:
        """A new plan; its first version is computed by the job that Location names."""
        actor, data = actor_of(request), checked(s.PlanIn, request)
        cluster: Cluster = cluster_for(actor, data["cluster"], Right.OPERATE)
        version = services.create_plan(
            actor=actor,
            scope_id=cluster.scope_id,
            name=data["name"],
            document=data["document"],
            domain_id=data["domain_id"],
        )
        return _asked(version)


class OnePlan(APIView):
    @extend_schema(responses=s.PlanOut, operation_id="plans_retrieve")
    def get(self, request: Request, plan_id: int) -> Response:
        """One plan."""
        plan = queries.plan_for(actor_of(request), plan_id)
        return Response(s.PlanOut(plan, context={"request": request}).data)


class Versions(generics.ListAPIView):
    """Versions of a plan, newest first, without their results."""

    serializer_class = s.VersionSummaryOut
    queryset = PlanVersion.objects.none()
    ordering = "-number"
    token_scopes = _WRITE

    def get_queryset(self) -> Any:
        if getattr(self, "swagger_fake_view", False):
            return PlanVersion.objects.none()
        return queries.plan_for(actor_of(self.request), self.kwargs["plan_id"]).versions.all()

    @extend_schema(request=s.DocumentIn, responses={202: s.PlanVersionOut})
    def post(self, request: Request, plan_id: int) -> Response:
        """The next version; the same question again gives the version that has it."""
        actor, document = actor_of(request), checked(s.DocumentIn, request)["document"]
        return _asked(services.revise_plan(actor=actor, plan_id=plan_id, document=document))


class OneVersion(APIView):
    @extend_schema(responses=s.PlanVersionOut, operation_id="plans_versions_retrieve")
    def get(self, request: Request, plan_id: int, number: int) -> Response:
        """One version with its input and, once computed, its result."""
        version = queries.version_for(actor_of(request), plan_id, number)
        return Response(s.PlanVersionOut(version).data)


class UseForLaunch(APIView):
    token_scopes = _WRITE

    @extend_schema(request=None, responses=s.PlanOut, operation_id="plans_versions_use_for_launch")
    def post(self, request: Request, plan_id: int, number: int) -> Response:
        """Launches may choose this version from now on; only one that is computed and fits."""
        plan = services.use_for_launch(actor=actor_of(request), plan_id=plan_id, number=number)
        return Response(s.PlanOut(plan, context={"request": request}).data)


class Take(APIView):
    token_scopes = _WRITE

    @extend_schema(request=s.TakeIn, responses={202: s.PlanVersionOut}, operation_id="plans_versions_take")
    def post(self, request: Request, plan_id: int, number: int) -> Response:
        """A layout that a search found becomes the next version."""
        actor, place = actor_of(request), checked(s.TakeIn, request)["place"]
        return _asked(services.take_found(actor=actor, plan_id=plan_id, number=number, place=place))


class TakeAblation(APIView):
    token_scopes = _WRITE

    @extend_schema(
        request=s.TakeIn, responses={202: s.PlanVersionOut}, operation_id="plans_versions_take_ablation"
    )
    def post(self, request: Request, plan_id: int, number: int) -> Response:
        """A layout that the version lists to run for comparison becomes the next version."""
        actor, place = actor_of(request), checked(s.TakeIn, request)["place"]
        return _asked(services.take_ablation(actor=actor, plan_id=plan_id, number=number, place=place))


class Again(APIView):
    token_scopes = _WRITE

    @extend_schema(
        request=None, responses={202: s.PlanVersionOut}, operation_id="plans_versions_compute_again"
    )
    def post(self, request: Request, plan_id: int, number: int) -> Response:
        """Compute a version whose job failed or was cancelled."""
        return _asked(services.compute_again(actor=actor_of(request), plan_id=plan_id, number=number))


class MeasuredSteps(generics.ListAPIView):
    """Step times that were measured with the layouts of plans, newest first; withdrawn ones too."""

    serializer_class = s.MeasuredStepOut
    filterset_class = MeasuredStepFilter
    queryset = MeasuredStep.objects.none()

    def get_queryset(self) -> Any:
        return queries.measured_steps_visible(actor_of(self.request))


class CalibrationView(APIView):
    @extend_schema(responses=s.CalibrationOut, operation_id="domains_calibration")
    def get(self, request: Request, domain_id: int) -> Response:
        """The factor that a domain's measured steps give, and how it came about, newest first."""
        actor = actor_of(request)
        domain = queries.measured_domain_for(actor, domain_id)
        now = queries.calibration_of(domain)
        versions = queries.calibration_versions(queries.measured_steps_visible(actor).filter(domain=domain))
        body = {"step_scale": now.step_scale, "spread": now.spread, "runs": now.runs, "versions": versions}
        return Response(s.CalibrationOut(body).data)


class Models(APIView):
    @extend_schema(responses=s.ModelOut(many=True), operation_id="planning_models")
    def get(self, request: Request) -> Response:
        """The models of the catalogue; a plan's document may name one by its id."""
        known = [model for own in models_by_maker().values() for model in own]
        return Response(s.ModelOut(known, many=True).data)


class NoteMeasuredStep(APIView):
    token_scopes = _WRITE

    @extend_schema(
        request=s.MeasuredStepIn,
        responses={201: s.MeasuredStepOut},
        operation_id="plans_versions_note_measured_step",
    )
    def post(self, request: Request, plan_id: int, number: int) -> Response:
        """A step of this layout took so long on the plan's domain; later predictions there weigh it in."""
        actor, data = actor_of(request), checked(s.MeasuredStepIn, request)
        step = services.note_measured_step(actor=actor, plan_id=plan_id, number=number, **data)
        return Response(s.MeasuredStepOut(step).data, status=201)


class WithdrawMeasuredStep(APIView):
    token_scopes = _WRITE

    @extend_schema(request=s.WithdrawIn, responses=s.MeasuredStepOut, operation_id="measured_steps_withdraw")
    def post(self, request: Request, step_id: int) -> Response:
        """The figure was wrong: it stays to be seen, and counts no more."""
        actor, reason = actor_of(request), checked(s.WithdrawIn, request)["reason"]
        step = services.withdraw_measured_step(actor=actor, step_id=step_id, reason=reason)
        return Response(s.MeasuredStepOut(step).data)


class Estimates(APIView):
    token_scopes = _WRITE

    @extend_schema(request=s.AskIn, responses={202: JobOut}, operation_id="plan_estimates_create")
    def post(self, request: Request) -> Response:
        """Compute a layout or a search without keeping a plan; the answer is the job's result."""
        actor, data = actor_of(request), checked(s.AskIn, request)
        cluster: Cluster = cluster_for(actor, data["cluster"], Right.OPERATE)
        return accepted(services.ask(actor=actor, scope_id=cluster.scope_id, document=data["document"]))


def _asked(version: PlanVersion) -> Response:
    response = Response(s.PlanVersionOut(version).data, status=202)
    if version.job is not None:
        response["Location"] = address_of(version.job)
        response["Retry-After"] = "2"
    return response
