"""API of the intake: hand a file in, ask which bytes are known, say which node a delivery is about."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from drf_spectacular.types import OpenApiTypes
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import actor_of, checked
from apps.core.rights import Right, TokenScope
from apps.evidence.answers import ReceiptOut, refusal_of
from apps.evidence.models import Receipt, ReceiptState
from apps.evidence.queries import known_digests
from apps.evidence.services import Said, parse_collected_at
from apps.fleet.queries import cluster_for
from apps.portal.api import serializers as s
from apps.portal.api.bodies import RAW_TYPES, file_of
from apps.portal.services import intake
from apps.portal.services.unchanged import count_unchanged

_WRITES = {"POST": TokenScope.EVIDENCE_WRITE}
_NAMES = frozenset({"node", "file_name", "collected_at", "kind", "sha256"})
_PARAMETERS = [
    OpenApiParameter("node", str, description="The node, or for a benchmark the domain, that it is about."),
    OpenApiParameter("file_name", str),
    OpenApiParameter(
        "collected_at", OpenApiTypes.DATETIME, description="When it was collected, with offset."
    ),
    OpenApiParameter("kind", str, description="Only where the head of the output is missing."),
    OpenApiParameter(
        "sha256",
        str,
        description="Instead of a body: bytes that this cluster handed in before. 404 (unknown_digest) where not.",
    ),
]
_FORM = {
    "type": "object",
    "required": ["file"],
    "properties": {"file": {"type": "string", "format": "binary"}},
}


class HandIn(APIView):
    token_scopes = _WRITES
    parameters = {"POST": _NAMES}

    @extend_schema(
        parameters=_PARAMETERS,
        request=dict.fromkeys(RAW_TYPES, OpenApiTypes.BINARY) | {"multipart/form-data": _FORM},
        responses={200: ReceiptOut, 201: ReceiptOut},
        operation_id="clusters_evidence_create",
    )
    def post(self, request: Request, slug: str) -> Response:
        """Hand one file in: the body itself, or one file in a form.

        The answer is its receipt: applied, unmatched (its node does not exist yet), or stored, where the file
        is large and `job` reads it. What cannot be read is refused with a problem (413 above the limit) that
        names the `receipt`. The same bytes may be sent again: each delivery counts as a report of its time. Named
        by `sha256`, a report that changes nothing is counted at the receipt that it repeats: 200 with that.
        """
        actor = actor_of(request)
        cluster = cluster_for(actor, slug, Right.OPERATE)
        given = {name: request.query_params.get(name, "") for name in _NAMES}
        common = {
            "actor": actor,
            "cluster": cluster,
            "node_name": given["node"],
            "collected_at": parse_collected_at(given["collected_at"]),
        }
        if given["sha256"]:
            return _created(
                request, intake.take_in_known(sha256=given["sha256"], file_name=given["file_name"], **common)
            )
        name, chunks = file_of(request._request)
        receipt = intake.take_in(
            chunks=chunks, file_name=given["file_name"] or name, kind=given["kind"], **common
        )
        return _created(request, receipt)


class Known(APIView):
    token_scopes = _WRITES

    @extend_schema(request=s.DigestsIn, responses=s.DigestsOut, operation_id="clusters_evidence_known")
    def post(self, request: Request, slug: str) -> Response:
        """Which of these bytes the cluster has handed in before, so that they need not be sent again."""
        actor = actor_of(request)
        cluster = cluster_for(actor, slug, Right.OPERATE)
        digests = checked(s.DigestsIn, request)["digests"]
        known = known_digests(actor, digests, scope_id=cluster.scope_id)
        body: dict[str, Any] = {"known": sorted(known), "limit_bytes": settings.EVIDENCE_LIMIT_BYTES}
        return Response(s.DigestsOut(body).data)


class Unchanged(APIView):
    token_scopes = _WRITES

    @extend_schema(
        request=s.UnchangedIn, responses=s.UnchangedOut, operation_id="clusters_evidence_unchanged"
    )
    def post(self, request: Request, slug: str) -> Response:
        """Count all reports of nodes that say word for word what they said last time, in one request.

        A report is left to be delivered (null) where the bytes are not known, where they are not what is on record
        of the node, or where something may follow from them; so is each that follows it of the same file.
        """
        actor = actor_of(request)
        cluster = cluster_for(actor, slug, Right.OPERATE)
        reports = [
            Said(
                sha256=one["sha256"],
                node_name=one["node"],
                file_name=one["file_name"],
                collected_at=one["collected_at"],
            )
            for one in checked(s.UnchangedIn, request)["reports"]
        ]
        counted = count_unchanged(actor=actor, cluster=cluster, reports=reports)
        return Response({"receipts": [receipt.pk if receipt else None for receipt in counted]})


class AssignNode(APIView):
    token_scopes = _WRITES

    @extend_schema(request=s.NodeIn, responses=ReceiptOut, operation_id="evidence_receipts_assign_node")
    def post(self, request: Request, receipt_id: int) -> Response:
        """Say which node or domain an unmatched delivery is about; it is applied where that exists."""
        node = checked(s.NodeIn, request)["node"]
        receipt = intake.assign_node(actor=actor_of(request), receipt_id=receipt_id, node_name=node)
        return Response(ReceiptOut(receipt, context={"request": request}).data)


def _created(request: Request, receipt: Receipt) -> Response:
    """The receipt and its address: 201, or 200 where it counts a report once more. Raises what refused it."""
    if receipt.state == ReceiptState.REFUSED:
        raise refusal_of(receipt)
    body = ReceiptOut(receipt, context={"request": request}).data
    return Response(body, status=201 if receipt.times == 1 else 200, headers={"Location": body["url"]})
