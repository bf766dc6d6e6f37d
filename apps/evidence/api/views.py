"""API of deliveries: what came in, what was read from it, and the raw bytes."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.queries import scope_by_slug
from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.rights import TokenScope
from apps.evidence import queries, services
from apps.evidence.answers import KeepPolicyIn, KeepPolicyOut, ReceiptOut, ReceiptWithReadingOut
from apps.evidence.downloads import raw_response
from apps.evidence.filters import ReceiptFilter
from apps.evidence.models import KeepPolicy, Receipt


class Receipts(generics.ListAPIView):
    """Deliveries of the clusters that you may read, newest first."""

    serializer_class = ReceiptOut
    filterset_class = ReceiptFilter
    queryset = Receipt.objects.none()

    def get_queryset(self) -> Any:
        return queries.receipts_visible(actor_of(self.request))


class OneReceipt(APIView):
    @extend_schema(responses=ReceiptWithReadingOut, operation_id="evidence_receipts_retrieve")
    def get(self, request: Request, receipt_id: int) -> Response:
        """One delivery, with the facts and warnings that were read from it."""
        receipt = queries.receipt_for(actor_of(request), receipt_id)
        return Response(ReceiptWithReadingOut(receipt, context={"request": request}).data)


class Keeping(APIView):
    token_scopes = {"PUT": TokenScope.EVIDENCE_WRITE}

    @extend_schema(responses=KeepPolicyOut, operation_id="evidence_keeping_retrieve")
    def get(self, request: Request, slug: str) -> Response:
        """For how long a cluster keeps raw bytes that nothing rests on."""
        return _kept(queries.keep_policy_of(scope_by_slug(slug, actor=actor_of(request))))

    @extend_schema(
        request=KeepPolicyIn,
        responses=KeepPolicyOut,
        parameters=[IF_MATCH],
        operation_id="evidence_keeping_update",
    )
    def put(self, request: Request, slug: str) -> Response:
        """Set it; needs the right to administrate the cluster. What a decision rests on stays whatever is said."""
        actor = actor_of(request)
        scope = scope_by_slug(slug, actor=actor)
        seen, data = version_seen(request), checked(KeepPolicyIn, request)
        return _kept(services.set_keep_policy(actor=actor, scope_id=scope.pk, expected_version=seen, **data))


def _kept(policy: KeepPolicy) -> Response:
    return with_version(Response(KeepPolicyOut(policy).data), policy.version)


class Raw(APIView):
    @extend_schema(
        responses={(200, "application/octet-stream"): OpenApiTypes.BINARY},
        operation_id="evidence_raw_retrieve",
    )
    def get(self, request: Request, sha256: str) -> StreamingHttpResponse:
        """The raw bytes as they arrived; 404 (thinned) where only the reading is left."""
        return raw_response(queries.evidence_for(actor_of(request), sha256))
