"""The OpenAPI document, the page that shows it without a network, and the root of the API."""

from __future__ import annotations

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import NoReverseMatch, reverse
from drf_spectacular.utils import extend_schema
from drf_spectacular.views import SpectacularAPIView
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

_ROOMS = {
    "auth_check": "api_accounts:auth_check",
    "clusters": "api_fleet:clusters",
    "receipts": "api_evidence:receipts",
    "matrices": "api_environments:matrices",
    "runs": "api_benchmarks:runs",
    "plans": "api_planning:plans",
    "changes": "api_changes:changes",
    "launches": "api_launches:launches",
    "jobs": "api_jobs:jobs",
    "audit_events": "api_audit:events",
    "schema": "api_portal:schema",
}


class Schema(SpectacularAPIView):
    """The OpenAPI 3.1 document of this API; no sign-in needed."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    throttle_classes: list[Any] = []


class RootOut(serializers.Serializer[Any]):
    version = serializers.CharField()
    links = serializers.DictField(child=serializers.CharField())


class Root(APIView):
    """Where to begin."""

    authentication_classes: list[Any] = []
    permission_classes: list[Any] = []
    throttle_classes: list[Any] = []

    @extend_schema(responses=RootOut, operation_id="api_root", tags=["root"])
    def get(self, request: Request) -> Response:
        """Addresses of the main collections."""
        links = {name: address for name, view in _ROOMS.items() if (address := _address(view))}
        return Response({"version": "v1", "links": links})


def docs(request: HttpRequest) -> HttpResponse:
    """The API, to read and to try out."""
    return render(request, "core/api_docs.html", {"schema_url": reverse("api_portal:schema")})


def _address(view: str) -> str:
    try:
        return reverse(view)
    except NoReverseMatch:
        return ""
