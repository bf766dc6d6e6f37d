"""API of changes: automation asks for them and follows them; approving, starting and rolling back need a person."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.serializers import Serializer
from rest_framework.views import APIView

from apps.changes import filters, page, queries, services
from apps.changes.api import serializers as s
from apps.changes.models import Change, Snapshot
from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.errors import Missing
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet.queries import domain_for, node_ids_named


class Changes(generics.ListAPIView):
    """Changes, newest first."""

    serializer_class = s.ChangeOut
    filterset_class = filters.ChangeFilter
    queryset = Change.objects.none()
    token_scopes = {"POST": TokenScope.CHANGE_WRITE}

    def get_queryset(self) -> Any:
        return queries.with_node_count(queries.changes_visible(actor_of(self.request)))

    @extend_schema(request=s.ChangeIn, responses={201: s.OneChangeOut}, operation_id="changes_create")
    def post(self, request: Request) -> Response:
        """Draft a change; it is handed in, approved and started by steps of their own."""
        actor, data = actor_of(request), checked(s.ChangeIn, request)
        domain = domain_for(actor, data["domain_id"])
        change = services.draft_change(
            actor=actor,
            domain_id=domain.pk,
            kind=data["kind"],
            content=s.content_of(data),
            node_ids=node_ids_named(domain.cluster, data["nodes"]),
        )
        return _change(request, change, status=201)


class OneChange(APIView):
    token_scopes = {"PUT": TokenScope.CHANGE_WRITE}

    @extend_schema(responses=s.OneChangeOut, operation_id="changes_retrieve")
    def get(self, request: Request, change_id: int) -> Response:
        """One change; its ETag goes into If-Match."""
        return _change(request, queries.change_for(actor_of(request), change_id))

    @extend_schema(
        request=s.ContentIn, responses=s.OneChangeOut, operation_id="changes_edit", parameters=[IF_MATCH]
    )
    def put(self, request: Request, change_id: int) -> Response:
        """Edit a change before it starts; it is a draft again, and approvals of what it was count no more."""
        actor, version = actor_of(request), version_seen(request)
        data = checked(s.ContentIn, request)
        change = queries.change_for(actor, change_id)
        edited = services.edit_change(
            actor=actor,
            change_id=change_id,
            expected_version=version,
            content=s.content_of(data),
            node_ids=node_ids_named(change.cluster, data["nodes"]),
        )
        return _change(request, edited)


class SnapshotOf(APIView):
    @extend_schema(responses=s.SnapshotWholeOut, operation_id="changes_snapshot")
    def get(self, request: Request, change_id: int) -> Response:
        """What the nodes of a change ran before it started, with the exact text that was hashed."""
        change = queries.change_for(actor_of(request), change_id)
        snapshot = Snapshot.objects.filter(change=change).first()
        if snapshot is None:
            raise Missing(
                say("the change has not started; a snapshot is taken when it does"), code="no_snapshot"
            )
        return Response(s.SnapshotWholeOut(snapshot).data)


class Inventory(APIView):
    @extend_schema(responses={(200, "application/yaml"): OpenApiTypes.STR}, operation_id="changes_inventory")
    def get(self, request: Request, change_id: int) -> HttpResponse:
        """The stages as an Ansible inventory."""
        change = queries.change_for(actor_of(request), change_id)
        return HttpResponse(queries.inventory_of(change), content_type="application/yaml; charset=utf-8")


class _Step(APIView):
    """One step of a change that was seen: by the version in If-Match, answered by the change as it is then."""

    def taken(
        self,
        request: Request,
        change_id: int,
        step: Callable[..., Change],
        said: type[Serializer[Any]] | None = None,
        *,
        status: int = 200,
    ) -> Response:
        """said: the shape of the body, whose values the step takes by their names."""
        actor, version = actor_of(request), version_seen(request)
        values = checked(said, request) if said else {}
        change = step(actor=actor, change_id=change_id, expected_version=version, **values)
        return _change(request, change, status=status)


class _AutomatedStep(_Step):
    """A step that automation takes by token."""

    token_scopes = {"POST": TokenScope.CHANGE_WRITE}


def _documented(operation: str, said: type[Serializer[Any]] | None = None, *, status: int = 200) -> Any:
    """How the API document tells of a step."""
    return extend_schema(
        request=said, responses={status: s.OneChangeOut}, operation_id=operation, parameters=[IF_MATCH]
    )


class Submit(_AutomatedStep):
    @_documented("changes_submit")
    def post(self, request: Request, change_id: int) -> Response:
        """Hand a draft in for approval."""
        return self.taken(request, change_id, services.submit_change)


class Approve(_Step):
    rights = {"POST": Right.APPROVE}

    @_documented("changes_approve", s.NoteIn)
    def post(self, request: Request, change_id: int) -> Response:
        """Approve exactly this content. By session only, and by a second person."""
        return self.taken(request, change_id, services.approve_change, s.NoteIn)


class Refuse(_Step):
    rights = {"POST": Right.APPROVE}

    @_documented("changes_refuse", s.RefusalIn)
    def post(self, request: Request, change_id: int) -> Response:
        """Refuse this content; the change is over. By session only, and by a second person."""
        return self.taken(request, change_id, services.refuse_change, s.RefusalIn)


class Start(_Step):
    @_documented("changes_start")
    def post(self, request: Request, change_id: int) -> Response:
        """Record what the nodes run, hold them, and begin the first stage. By session only."""
        return self.taken(request, change_id, services.start_change)


class PassStage(_AutomatedStep):
    @_documented("changes_pass_stage")
    def post(self, request: Request, change_id: int) -> Response:
        """Close the running stage where its gate is open; 409 says what it waits for."""
        return self.taken(request, change_id, services.pass_stage)


class Finish(_AutomatedStep):
    @_documented("changes_finish")
    def post(self, request: Request, change_id: int) -> Response:
        """Done, where every node reports what the change wanted."""
        return self.taken(request, change_id, services.finish_change)


class Fail(_AutomatedStep):
    @_documented("changes_fail", s.ChangeReasonIn)
    def post(self, request: Request, change_id: int) -> Response:
        """Give up; the nodes stay held until a rollback."""
        return self.taken(request, change_id, services.fail_change, s.ChangeReasonIn)


class Cancel(_AutomatedStep):
    @_documented("changes_cancel", s.ChangeReasonIn)
    def post(self, request: Request, change_id: int) -> Response:
        """Take a change back before it starts."""
        return self.taken(request, change_id, services.cancel_change, s.ChangeReasonIn)


class RollBack(_Step):
    rights = {"POST": Right.OPERATE}

    @_documented("changes_roll_back", s.ChangeReasonIn, status=201)
    def post(self, request: Request, change_id: int) -> Response:
        """Undo a change: back to the snapshot before it. By session only, with the password given lately."""
        return self.taken(request, change_id, services.roll_back_change, s.ChangeReasonIn, status=201)


class Review(_Step):
    rights = {"POST": Right.APPROVE}

    @_documented("changes_review", s.ReviewIn)
    def post(self, request: Request, change_id: int) -> Response:
        """A second person's look at a rollback afterwards. By session only."""
        return self.taken(request, change_id, services.review_rollback, s.ReviewIn)


class Rollbacks(APIView):
    rights = {"POST": Right.OPERATE}

    @extend_schema(request=s.RollbackIn, responses={201: s.OneChangeOut}, operation_id="rollbacks_create")
    def post(self, request: Request) -> Response:
        """Back to a known-good version. By session only, with the password given lately."""
        actor, data = actor_of(request), checked(s.RollbackIn, request)
        domain = domain_for(actor, data["domain_id"])
        rollback = services.start_rollback(
            actor=actor,
            domain_id=domain.pk,
            matrix_version_id=data["matrix_version_id"],
            node_ids=node_ids_named(domain.cluster, data["nodes"]),
            reason=data["reason"],
        )
        return _change(request, rollback, status=201)


def _change(request: Request, change: Change, *, status: int = 200) -> Response:
    """A change with all that belongs to it, and its ETag."""
    stages = page.stages_of(change)
    parts = {
        "wanted": queries.wanted_in(change.targets.all()),
        "stages": stages,
        "changes_nothing": page.differences_in(change)["changes_nothing"],
        "against_matrix": queries.against_matrix(change),
        "approvals_counting": queries.approvals_counting(change),
        "approvals": change.approvals.all(),
        "snapshot": Snapshot.objects.filter(change=change).first(),
        "rollback_ids": list(change.rollbacks.values_list("pk", flat=True)),
    }
    change.node_count = sum(one.node_count for one in stages)
    body = s.ChangeOut(change, context={"request": request}).data | s.PartsOut(parts).data
    return with_version(Response(body, status=status), change.version)
