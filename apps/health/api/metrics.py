"""API of the Prometheus server that a cluster's GPU metrics are fetched from."""

from __future__ import annotations

from drf_spectacular.utils import extend_schema
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.rights import Right
from apps.fleet.queries import cluster_for
from apps.health import queries, services
from apps.health.api import serializers as s
from apps.health.models import MetricsSource
from apps.jobs.answers import JobOut, accepted


class Source(APIView):
    @extend_schema(responses=s.MetricsSourceOut, operation_id="metrics_sources_retrieve")
    def get(self, request: Request, slug: str) -> Response:
        """Where the metrics are fetched from, and how the last look went."""
        return _source(queries.metrics_source_of(cluster_for(actor_of(request), slug, Right.ADMIN)))

    @extend_schema(
        request=s.MetricsSourceIn,
        responses=s.MetricsSourceOut,
        parameters=[IF_MATCH],
        operation_id="metrics_sources_update",
    )
    def put(self, request: Request, slug: str) -> Response:
        """Set it; needs the right to administrate the cluster. No token can. If-Match "v0" for the first time."""
        actor = actor_of(request)
        cluster = cluster_for(actor, slug, Right.ADMIN)
        seen, data = version_seen(request), checked(s.MetricsSourceIn, request)
        return _source(
            services.set_metrics_source(actor=actor, cluster_id=cluster.pk, expected_version=seen, **data)
        )

    @extend_schema(
        request=None, responses={204: None}, parameters=[IF_MATCH], operation_id="metrics_sources_destroy"
    )
    def delete(self, request: Request, slug: str) -> Response:
        """Ask no more, and forget the credentials. If-Match is the version seen."""
        actor = actor_of(request)
        cluster = cluster_for(actor, slug, Right.ADMIN)
        services.remove_metrics_source(
            actor=actor, cluster_id=cluster.pk, expected_version=version_seen(request)
        )
        return Response(status=204)


class Fetch(APIView):
    @extend_schema(request=None, responses={202: JobOut}, operation_id="metrics_sources_fetch")
    def post(self, request: Request, slug: str) -> Response:
        """Ask now, without waiting for its time: 202 with the job's address."""
        actor = actor_of(request)
        source = queries.metrics_source_of(cluster_for(actor, slug, Right.ADMIN))
        return accepted(services.ask_metrics_now(actor=actor, cluster_id=source.cluster_id))


def _source(source: MetricsSource) -> Response:
    return with_version(Response(s.MetricsSourceOut(source).data), source.version)
