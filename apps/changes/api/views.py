"""API of changes: automation asks for them and follows them; approving, starting and rolling back need a person."""

from __future__ import annotations

from typing import Any

from django.http import HttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.changes import filters, page, queries, services
from apps.changes.api import serializers as s
from apps.changes.models import Change, Snapshot
from apps.core.api import actor_of, checked, version_seen, with_version
from apps.core.errors import FieldError, Invalid, Missing
from apps.core.hostlist import HostListError, expand
from apps.core.rights import TokenScope
from apps.core.texts import say
from apps.fleet.models import Domain
from apps.fleet.queries import nodes_by_name

_IF_MATCH = OpenApiParameter("If-Match", str, OpenApiParameter.HEADER, required=True)


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
        domain = queries.domain_for(actor, data["domain_id"])
        change = services.draft_change(
            actor=actor,
            domain_id=domain.pk,
            kind=data["kind"],
            content=s.content_of(data),
            node_ids=_node_ids(domain, data["nodes"]),
        )
        return _change(request, change, status=201)


class OneChange(APIView):
    token_scopes = {"PUT": TokenScope.CHANGE_WRITE}

    @extend_schema(responses=s.OneChangeOut, operation_id="changes_retrieve")
    def get(self, request: Request, change_id: int) -> Response:
        """One change; its ETag goes into If-Match."""
        return _change(request, queries.change_for(actor_of(request), change_id))

    @extend_schema(
        request=s.ContentIn, responses=s.OneChangeOut, operation_id="changes_edit", parameters=[_IF_MATCH]
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
            node_ids=_node_ids(change.domain, data["nodes"]),
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


class Submit(APIView):
    token_scopes = {"POST": TokenScope.CHANGE_WRITE}

    @extend_schema(
        request=None, responses=s.OneChangeOut, operation_id="changes_submit", parameters=[_IF_MATCH]
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Hand a draft in for approval."""
        return _change(
            request,
            services.submit_change(
                actor=actor_of(request), change_id=change_id, expected_version=version_seen(request)
            ),
        )


class Approve(APIView):
    @extend_schema(
        request=s.NoteIn, responses=s.OneChangeOut, operation_id="changes_approve", parameters=[_IF_MATCH]
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Approve exactly this content. By session only, and by a second person."""
        actor, version = actor_of(request), version_seen(request)
        note = checked(s.NoteIn, request)["note"]
        change = services.approve_change(
            actor=actor, change_id=change_id, expected_version=version, note=note
        )
        return _change(request, change)


class Refuse(APIView):
    @extend_schema(
        request=s.RefusalIn, responses=s.OneChangeOut, operation_id="changes_refuse", parameters=[_IF_MATCH]
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Refuse this content; the change is over. By session only, and by a second person."""
        actor, version = actor_of(request), version_seen(request)
        note = checked(s.RefusalIn, request)["note"]
        change = services.refuse_change(actor=actor, change_id=change_id, expected_version=version, note=note)
        return _change(request, change)


class Start(APIView):
    @extend_schema(
        request=None, responses=s.OneChangeOut, operation_id="changes_start", parameters=[_IF_MATCH]
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Record what the nodes run, hold them, and begin the first stage. By session only."""
        return _change(
            request,
            services.start_change(
                actor=actor_of(request), change_id=change_id, expected_version=version_seen(request)
            ),
        )


class PassStage(APIView):
    token_scopes = {"POST": TokenScope.CHANGE_WRITE}

    @extend_schema(
        request=None, responses=s.OneChangeOut, operation_id="changes_pass_stage", parameters=[_IF_MATCH]
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Close the running stage where its gate is open; 409 says what it waits for."""
        return _change(
            request,
            services.pass_stage(
                actor=actor_of(request), change_id=change_id, expected_version=version_seen(request)
            ),
        )


class Finish(APIView):
    token_scopes = {"POST": TokenScope.CHANGE_WRITE}

    @extend_schema(
        request=None, responses=s.OneChangeOut, operation_id="changes_finish", parameters=[_IF_MATCH]
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Done, where every node reports what the change wanted."""
        return _change(
            request,
            services.finish_change(
                actor=actor_of(request), change_id=change_id, expected_version=version_seen(request)
            ),
        )


class Fail(APIView):
    token_scopes = {"POST": TokenScope.CHANGE_WRITE}

    @extend_schema(
        request=s.ChangeReasonIn,
        responses=s.OneChangeOut,
        operation_id="changes_fail",
        parameters=[_IF_MATCH],
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Give up; the nodes stay held until a rollback."""
        actor, version = actor_of(request), version_seen(request)
        reason = checked(s.ChangeReasonIn, request)["reason"]
        return _change(
            request,
            services.fail_change(actor=actor, change_id=change_id, expected_version=version, reason=reason),
        )


class Cancel(APIView):
    token_scopes = {"POST": TokenScope.CHANGE_WRITE}

    @extend_schema(
        request=s.ChangeReasonIn,
        responses=s.OneChangeOut,
        operation_id="changes_cancel",
        parameters=[_IF_MATCH],
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Take a change back before it starts."""
        actor, version = actor_of(request), version_seen(request)
        reason = checked(s.ChangeReasonIn, request)["reason"]
        return _change(
            request,
            services.cancel_change(actor=actor, change_id=change_id, expected_version=version, reason=reason),
        )


class RollBack(APIView):
    @extend_schema(
        request=s.ChangeReasonIn,
        responses={201: s.OneChangeOut},
        operation_id="changes_roll_back",
        parameters=[_IF_MATCH],
    )
    def post(self, request: Request, change_id: int) -> Response:
        """Undo a change: back to the snapshot before it. By session only, with the password given lately."""
        actor, version = actor_of(request), version_seen(request)
        reason = checked(s.ChangeReasonIn, request)["reason"]
        rollback = services.roll_back_change(
            actor=actor, change_id=change_id, expected_version=version, reason=reason
        )
        return _change(request, rollback, status=201)


class Rollbacks(APIView):
    @extend_schema(request=s.RollbackIn, responses={201: s.OneChangeOut}, operation_id="rollbacks_create")
    def post(self, request: Request) -> Response:
        """Back to a known-good version. By session only, with the password given lately."""
        actor, data = actor_of(request), checked(s.RollbackIn, request)
        domain = queries.domain_for(actor, data["domain_id"])
        rollback = services.start_rollback(
            actor=actor,
            domain_id=domain.pk,
            matrix_version_id=data["matrix_version_id"],
            node_ids=_node_ids(domain, data["nodes"]),
            reason=data["reason"],
        )
        return _change(request, rollback, status=201)


class Review(APIView):
    @extend_schema(
        request=s.ReviewIn, responses=s.OneChangeOut, operation_id="changes_review", parameters=[_IF_MATCH]
    )
    def post(self, request: Request, change_id: int) -> Response:
        """A second person's look at a rollback afterwards. By session only."""
        actor, version = actor_of(request), version_seen(request)
        review = checked(s.ReviewIn, request)["review"]
        change = services.review_rollback(
            actor=actor, change_id=change_id, expected_version=version, review=review
        )
        return _change(request, change)


def _node_ids(domain: Domain, text: str) -> list[int]:
    if not text.strip():
        return []
    try:
        names = expand(text, limit=20_000)
    except HostListError as error:
        raise Invalid(error.message, errors=[FieldError(pointer="/nodes", message=error.message)]) from error
    return [node.pk for node in nodes_by_name(domain.cluster, names)]


def _change(request: Request, change: Change, *, status: int = 200) -> Response:
    """A change with all that belongs to it, and its ETag."""
    stages = page.stages_of(change)
    parts = {
        "wanted": queries.wanted_in(change.targets.all()),
        "stages": stages,
        "changes_nothing": page.differences_in(change)["changes_nothing"],
        "approvals_counting": queries.approvals_counting(change),
        "approvals": change.approvals.all(),
        "snapshot": Snapshot.objects.filter(change=change).first(),
        "rollback_ids": list(change.rollbacks.values_list("pk", flat=True)),
    }
    change.node_count = sum(one.node_count for one in stages)
    body = s.ChangeOut(change, context={"request": request}).data | s.PartsOut(parts).data
    return with_version(Response(body, status=status), change.version)
