"""API of launches: CI opens them and asks the gate; answering, waiving and signing need a person in a session."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any
from uuid import UUID

from django.urls import reverse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.actor import Actor
from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.errors import FieldError, Invalid
from apps.core.filtering import yes_or_no
from apps.core.paging import CursorPages
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet.models import Domain
from apps.fleet.queries import cluster_for, node_ids_named
from apps.launches import filters, queries, services
from apps.launches.api import serializers as s
from apps.launches.api.renderers import JUnitRenderer
from apps.launches.engine.standing import Standing
from apps.launches.models import Evaluation, Launch
from apps.launches.queries import Decision

# For callers that look at the HTTP status alone, such as curl --fail.
FAIL_STATUS = {
    Standing.NO_GO: 409,
    Standing.NEEDS_SIGNOFF: 423,
    Standing.UNKNOWN: 503,
    Standing.PENDING: 503,
}


class NewestLaunches(CursorPages):
    """By time of opening, since ids of launches say nothing of their order."""

    ordering = ("-opened_at", "-id")


class Launches(generics.ListAPIView):
    """Launches, newest first."""

    serializer_class = s.LaunchOut
    filterset_class = filters.LaunchFilter
    queryset = Launch.objects.none()
    pagination_class = NewestLaunches
    token_scopes = {"POST": TokenScope.LAUNCH_WRITE}

    def get_queryset(self) -> Any:
        return queries.launches_visible(actor_of(self.request))

    @extend_schema(request=s.LaunchIn, responses={201: s.LaunchOut})
    def post(self, request: Request) -> Response:
        """Open a launch."""
        actor, data = actor_of(request), checked(s.LaunchIn, request)
        domain, node_ids = _place(actor, data["cluster"], data["domain_id"], data["nodes"])
        launch = services.open_launch(
            actor=actor,
            domain_id=domain.pk,
            title=data["title"],
            node_ids=node_ids,
            plan_version_id=data["plan_version_id"],
            job_environment=data["job_environment"],
        )
        return _launch(request, launch, status=201)


class OneLaunch(APIView):
    token_scopes = {"PATCH": TokenScope.LAUNCH_WRITE}

    @extend_schema(responses=s.LaunchOut, operation_id="launches_retrieve")
    def get(self, request: Request, launch_id: UUID) -> Response:
        """One launch."""
        return _launch(request, queries.launch_for(actor_of(request), launch_id))

    @extend_schema(
        request=s.LaunchEditIn,
        responses=s.LaunchOut,
        operation_id="launches_edit",
        parameters=[IF_MATCH],
    )
    def patch(self, request: Request, launch_id: UUID) -> Response:
        """Edit an open launch; evaluations of what it was no longer stand."""
        actor, version = actor_of(request), version_seen(request)
        data = checked(s.LaunchEditIn, request)
        launch = services.edit_launch(actor=actor, launch_id=launch_id, expected_version=version, **data)
        return _launch(request, launch)


class _Move(APIView):
    """A move of a launch that was seen: by the version in If-Match, answered by the launch as it is then."""

    token_scopes = {"POST": TokenScope.LAUNCH_WRITE}

    def moved(self, request: Request, launch_id: UUID, move: Callable[..., Launch], **said: Any) -> Response:
        actor, version = actor_of(request), version_seen(request)
        return _launch(request, move(actor=actor, launch_id=launch_id, expected_version=version, **said))


class Start(_Move):
    @extend_schema(request=None, responses=s.LaunchOut, operation_id="launches_start", parameters=[IF_MATCH])
    def post(self, request: Request, launch_id: UUID) -> Response:
        """The job starts; only on GO."""
        return self.moved(request, launch_id, services.start_launch)


class Finish(_Move):
    @extend_schema(
        request=s.EndIn, responses=s.LaunchOut, operation_id="launches_finish", parameters=[IF_MATCH]
    )
    def post(self, request: Request, launch_id: UUID) -> Response:
        """The job is over."""
        return self.moved(request, launch_id, services.finish_launch, **checked(s.EndIn, request))


class Cancel(_Move):
    @extend_schema(
        request=s.EndIn, responses=s.LaunchOut, operation_id="launches_cancel", parameters=[IF_MATCH]
    )
    def post(self, request: Request, launch_id: UUID) -> Response:
        """The job will not start."""
        return self.moved(request, launch_id, services.cancel_launch, **checked(s.EndIn, request))


class Gate(APIView):
    token_scopes = {"GET": TokenScope.GATE_EVALUATE}
    parameters = {"GET": frozenset({"fail_status", "format"})}
    renderer_classes = (JSONRenderer, JUnitRenderer)

    def perform_content_negotiation(self, request: Request, force: bool = False) -> tuple[Any, str]:
        if request.query_params.get("format") == JUnitRenderer.format:
            return JUnitRenderer(), JUnitRenderer.media_type
        chosen: tuple[Any, str] = super().perform_content_negotiation(request, force)
        return chosen

    @extend_schema(
        responses={(200, "application/json"): s.GateOut, (200, "application/xml"): OpenApiTypes.STR},
        operation_id="launches_gate",
        parameters=[
            OpenApiParameter(
                "fail_status",
                bool,
                description="Answer 409 for no_go, 423 for needs_signoff, 503 for unknown and pending.",
            ),
            OpenApiParameter("format", str, enum=["json", "junit"]),
        ],
    )
    def get(self, request: Request, launch_id: UUID) -> Response:
        """Where the launch stands now; `exit_code` also stands in the header X-Gate-Exit-Code."""
        if (asked := request.query_params.get("format", "json")) not in ("json", JUnitRenderer.format):
            raise Invalid(f"format={asked}: say json or junit", code="format")
        fails = yes_or_no(request.query_params, "fail_status")
        launch = queries.launch_for(actor_of(request), launch_id)
        decided = queries.decision_of(launch)
        evaluation = decided.evaluation
        matrix = evaluation.matrix_version if evaluation else None
        body = {
            "launch_id": launch.pk,
            "standing": decided.standing.value,
            "exit_code": int(decided.exit_code),
            "message": decided.told.message,
            "hint": decided.told.hint,
            "evaluation": evaluation.pk if evaluation else None,
            "is_stale": decided.is_stale,
            "changed": list(decided.changed),
            "valid_until": evaluation.valid_until if evaluation else None,
            "digest": evaluation.digest if evaluation else "",
            "suite": f"{launch.cluster.slug}.{matrix or 'no matrix'}",
            "items": evaluation.items if evaluation else [],
            "html_url": request.build_absolute_uri(reverse("launches:launch", args=[launch.pk])),
        }
        status = FAIL_STATUS.get(decided.standing, 200) if fails else 200
        response = Response(s.GateOut(body).data, status=status)
        if decided.standing is Standing.PENDING:
            response["Retry-After"] = "2"
        return _with_exit_code(response, decided)


class Evaluations(APIView):
    token_scopes = {"POST": TokenScope.GATE_EVALUATE}

    @extend_schema(
        request=s.EvaluateIn,
        responses={200: s.EvaluationOut, 202: s.EvaluationOut},
        operation_id="launches_evaluations_create",
    )
    def post(self, request: Request, launch_id: UUID) -> Response:
        """Ask for an evaluation; follow Location until its standing is no longer pending.

        200 with the one that stands already: signed, or waiting for signatures, and resting on equal inputs.
        """
        actor, anew = actor_of(request), checked(s.EvaluateIn, request)["anew"]
        evaluation = services.request_evaluation(actor=actor, launch_id=launch_id, anew=anew)
        response = _evaluation(request, evaluation.pk, status=200 if evaluation.done_at else 202)
        address = reverse("api_launches:evaluation", args=[evaluation.pk])
        response["Location"] = request.build_absolute_uri(address)
        if response.status_code == 202:
            response["Retry-After"] = "2"
        return response


class OneEvaluation(APIView):
    token_scopes = {"GET": TokenScope.GATE_EVALUATE}

    @extend_schema(responses=s.EvaluationOut, operation_id="gate_evaluations_retrieve")
    def get(self, request: Request, evaluation_id: UUID) -> Response:
        """One evaluation, with its standing now."""
        return _evaluation(request, evaluation_id)


class Answers(APIView):
    @extend_schema(request=s.AnswerIn, responses={201: s.AnswerOut}, operation_id="launches_answer")
    def post(self, request: Request, launch_id: UUID) -> Response:
        """Answer a manual item. By session only."""
        actor, data = actor_of(request), checked(s.AnswerIn, request)
        answer = services.answer_item(
            actor=actor, launch_id=launch_id, item=data["item"], verdict=data["verdict"], text=data["note"]
        )
        return Response(s.AnswerOut(answer).data, status=201)


class Waivers(APIView):
    rights = {"POST": Right.OPERATE}

    @extend_schema(request=s.WaiverIn, responses={201: s.WaiverOut}, operation_id="launches_waivers_create")
    def post(self, request: Request, launch_id: UUID) -> Response:
        """Ask for an item to be let pass for a while. By session only."""
        actor, data = actor_of(request), checked(s.WaiverIn, request)
        waiver = services.ask_waiver(actor=actor, launch_id=launch_id, **data)
        return Response(s.WaiverOut(waiver).data, status=201)


class ApproveWaiver(APIView):
    rights = {"POST": Right.SIGN}

    @extend_schema(request=None, responses=s.WaiverOut, operation_id="waivers_approve")
    def post(self, request: Request, waiver_id: int) -> Response:
        """Approve a waiver that somebody else asked for. By session only."""
        waiver = services.approve_waiver(actor=actor_of(request), waiver_id=waiver_id)
        return Response(s.WaiverOut(waiver).data)


class RevokeWaiver(APIView):
    rights = {"POST": Right.SIGN}

    @extend_schema(request=s.EndIn, responses=s.WaiverOut, operation_id="waivers_revoke")
    def post(self, request: Request, waiver_id: int) -> Response:
        """Take a waiver back. By session only."""
        actor, data = actor_of(request), checked(s.EndIn, request)
        waiver = services.revoke_waiver(actor=actor, waiver_id=waiver_id, reason=data["reason"])
        return Response(s.WaiverOut(waiver).data)


class Sign(APIView):
    rights = {"POST": Right.SIGN}

    @extend_schema(request=s.SignIn, responses={201: s.SignOffOut}, operation_id="gate_evaluations_sign")
    def post(self, request: Request, evaluation_id: UUID) -> Response:
        """Sign an evaluation GO or NO-GO. By session only, with the password given lately."""
        actor, data = actor_of(request), checked(s.SignIn, request)
        signed = services.sign_launch(actor=actor, evaluation_id=evaluation_id, **data)
        return Response(s.SignOffOut(signed).data, status=201)


def _place(actor: Actor, slug: str, domain_id: int, nodes: str) -> tuple[Domain, list[int]]:
    """The domain and the ids of the nodes that a launch names. Raises Missing, Invalid."""
    cluster = cluster_for(actor, slug)
    domain = Domain.objects.filter(pk=domain_id, cluster=cluster).first()
    if domain is None:
        message = say("there is no such domain in %(slug)s", slug=slug)
        raise Invalid(message, errors=[FieldError(pointer="/domain_id", message=message)])
    return domain, node_ids_named(cluster, nodes)


def _launch(request: Request, launch: Launch, *, status: int = 200) -> Response:
    body = s.LaunchOut(launch, context={"request": request}).data
    return with_version(Response(body, status=status), launch.version)


def _evaluation(request: Request, evaluation_id: UUID, *, status: int = 200) -> Response:
    evaluation = queries.evaluation_for(actor_of(request), evaluation_id)
    decided = queries.decision_on(evaluation.launch, evaluation)
    return _with_exit_code(Response(_evaluation_body(evaluation, decided), status=status), decided)


def _evaluation_body(evaluation: Evaluation, decided: Decision) -> dict[str, Any]:
    for name, value in (
        ("standing", decided.standing.value),
        ("exit_code", int(decided.exit_code)),
        ("is_stale", decided.is_stale),
        ("changed", list(decided.changed)),
    ):
        setattr(evaluation, name, value)
    return dict(s.EvaluationOut(evaluation).data)


def _with_exit_code(response: Response, decided: Decision) -> Response:
    response["X-Gate-Exit-Code"] = str(int(decided.exit_code))
    return response
