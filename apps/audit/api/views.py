"""API of the audit trail: events, exports, and where the chain ends."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiResponse, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.audit import exports, queries
from apps.audit.api import serializers as s
from apps.audit.filters import EventFilter
from apps.audit.models import AuditEvent
from apps.audit.services import checkpoints
from apps.core.api import actor_of
from apps.core.paging import CursorPages
from apps.core.rights import TokenScope

AUDIT_READ = {"GET": TokenScope.AUDIT_READ, "POST": TokenScope.AUDIT_READ}


class NewestFirst(CursorPages):
    ordering = "-seq"


class Events(generics.ListAPIView):
    """Events of the scopes in which you may audit, newest first."""

    token_scopes = AUDIT_READ
    serializer_class = s.EventOut
    filterset_class = EventFilter
    pagination_class = NewestFirst
    queryset = AuditEvent.objects.none()

    def get_queryset(self) -> Any:
        return queries.events_visible_to(actor_of(self.request))

    def paginate_queryset(self, queryset: Any) -> Any:
        rows = super().paginate_queryset(queryset) or []
        return [queries.document(item) for item in queries.shown(rows)]


class OneEvent(APIView):
    token_scopes = AUDIT_READ

    @extend_schema(responses=s.EventOut, operation_id="audit_events_retrieve")
    def get(self, request: Request, seq: int) -> Response:
        """One event by its sequence number."""
        return Response(s.EventOut(queries.document(queries.event(seq, actor=actor_of(request)))).data)


class Export(generics.GenericAPIView):
    token_scopes = AUDIT_READ
    serializer_class = s.EventOut
    filterset_class = EventFilter
    parameters = {"POST": frozenset(EventFilter.get_filters())}
    queryset = AuditEvent.objects.none()

    @extend_schema(
        request=None,
        filters=True,
        responses={(200, "application/jsonl"): OpenApiResponse(OpenApiTypes.BINARY)},
        operation_id="audit_export",
    )
    def post(self, request: Request) -> StreamingHttpResponse:
        """The trail as JSON lines, for the stand-alone verifier; takes the filters of the list as query."""
        return exports.json_lines_response(request._request, actor=actor_of(request))


class Head(APIView):
    token_scopes = AUDIT_READ

    @extend_schema(responses=s.HeadOut, operation_id="audit_head")
    def get(self, request: Request) -> Response:
        """Where the chain ends."""
        queries.events_visible_to(actor_of(request))
        head = queries.head()
        answer = {"seq": head.seq, "hash": head.hash, "public_key": checkpoints.public_key_text()}
        return Response(s.HeadOut(answer).data)
