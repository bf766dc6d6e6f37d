"""API of webhooks: endpoints, tests, deliveries."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.accounts.queries import scope_by_slug
from apps.core.api import IF_MATCH, NO_STORE, actor_of, checked, version_seen, with_version
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.jobs import queries
from apps.jobs.api import serializers as s
from apps.jobs.filters import DeliveryFilter
from apps.jobs.models import WebhookDelivery, WebhookEndpoint
from apps.jobs.services import deliveries, webhooks


class Endpoints(generics.ListAPIView):
    """Addresses that are told of events, of the clusters that you administrate."""

    rights = {"POST": Right.ADMIN}
    serializer_class = s.EndpointOut
    queryset = WebhookEndpoint.objects.none()

    def get_queryset(self) -> Any:
        return queries.endpoints_visible_to(actor_of(self.request))

    @extend_schema(request=s.NewEndpointIn, responses={201: s.EndpointWithSecretOut})
    def post(self, request: Request) -> Response:
        """Add an address; the secret of its signatures is in this answer only."""
        actor, data = actor_of(request), checked(s.NewEndpointIn, request)
        slug = data["cluster"]
        endpoint = webhooks.create_endpoint(
            name=data["name"],
            url=data["url"],
            events=data["events"],
            scope_id=None if slug is None else scope_by_slug(slug, actor=actor).pk,
            actor=actor,
        )
        answer = Response(s.EndpointWithSecretOut(endpoint).data, status=201, headers=NO_STORE)
        return with_version(answer, endpoint.version)


class OneEndpoint(APIView):
    rights = {"PUT": Right.ADMIN}

    @extend_schema(responses=s.EndpointOut, operation_id="webhook_endpoints_retrieve")
    def get(self, request: Request, endpoint_id: int) -> Response:
        """One endpoint; its ETag goes into If-Match."""
        endpoint = queries.endpoint(endpoint_id, actor=actor_of(request))
        return with_version(Response(s.EndpointOut(endpoint).data), endpoint.version)

    @extend_schema(
        request=s.EndpointIn,
        responses=s.EndpointOut,
        parameters=[IF_MATCH],
        operation_id="webhook_endpoints_update",
    )
    def put(self, request: Request, endpoint_id: int) -> Response:
        """Change an endpoint."""
        data = checked(s.EndpointIn, request)
        endpoint = webhooks.change_endpoint(
            endpoint_id=endpoint_id, expected_version=version_seen(request), **data, actor=actor_of(request)
        )
        return with_version(Response(s.EndpointOut(endpoint).data), endpoint.version)

    @extend_schema(responses={204: None}, operation_id="webhook_endpoints_destroy")
    def delete(self, request: Request, endpoint_id: int) -> Response:
        """Remove an endpoint with its deliveries."""
        webhooks.remove_endpoint(endpoint_id=endpoint_id, actor=actor_of(request))
        return Response(status=204)


class Rotate(APIView):
    @extend_schema(
        request=None,
        responses=s.EndpointWithSecretOut,
        parameters=[IF_MATCH],
        operation_id="webhook_endpoints_rotate",
    )
    def post(self, request: Request, endpoint_id: int) -> Response:
        """A new secret, in this answer only; for a day messages carry both signatures."""
        endpoint = webhooks.rotate_secret(
            endpoint_id=endpoint_id, expected_version=version_seen(request), actor=actor_of(request)
        )
        answer = Response(s.EndpointWithSecretOut(endpoint).data, headers=NO_STORE)
        return with_version(answer, endpoint.version)


class Test(APIView):
    @extend_schema(request=None, responses={202: s.DeliveryOut}, operation_id="webhook_endpoints_test")
    def post(self, request: Request, endpoint_id: int) -> Response:
        """Send a message of the kind webhook.test on the ordinary way."""
        delivery = webhooks.send_test(endpoint_id=endpoint_id, actor=actor_of(request))
        return Response(s.DeliveryOut(delivery).data, status=202)


class Deliveries(generics.ListAPIView):
    """Messages to the endpoints that you administrate, newest first."""

    serializer_class = s.DeliveryOut
    filterset_class = DeliveryFilter
    queryset = WebhookDelivery.objects.none()

    def get_queryset(self) -> Any:
        return queries.deliveries_visible_to(actor_of(self.request))


class OneDelivery(APIView):
    @extend_schema(responses=s.DeliveryOut, operation_id="webhook_deliveries_retrieve")
    def get(self, request: Request, delivery_id: int) -> Response:
        """One message with its newest attempts."""
        found = queries.deliveries_visible_to(actor_of(request)).filter(pk=delivery_id).first()
        if found is None:
            raise Missing()
        return Response(s.DeliveryOut(found).data)


class Redeliver(APIView):
    @extend_schema(request=None, responses={202: s.DeliveryOut}, operation_id="webhook_deliveries_redeliver")
    def post(self, request: Request, delivery_id: int) -> Response:
        """Send a message again, with the same id."""
        delivery = deliveries.redeliver(delivery_id=delivery_id, actor=actor_of(request))
        return Response(s.DeliveryOut(delivery).data, status=202)
