"""API of clusters and of scale-up domains."""

from __future__ import annotations

from typing import Any

from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework import generics
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.views import APIView

from apps.catalogue.queries import accelerators_for
from apps.core.api import IF_MATCH, actor_of, checked, version_seen, with_version
from apps.core.errors import FieldError, Invalid
from apps.core.filtering import yes_or_no
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet import filters, queries, services
from apps.fleet.api import serializers as s
from apps.fleet.engine.layout_values import from_values
from apps.fleet.engine.layouts import Layout, at_card_speed
from apps.fleet.engine.templates import TEMPLATES, template
from apps.fleet.models import Cluster, Domain
from apps.fleet.queries.domains import bandwidth_of
from apps.fleet.queries.fabric import fabric_of, fabric_of_layout

DRY_RUN = OpenApiParameter("dry_run", bool, description="true: say what would be built, and build nothing.")


class Clusters(generics.ListAPIView):
    """Clusters that you may see."""

    token_scopes = {"POST": TokenScope.FLEET_WRITE}
    serializer_class = s.ClusterOut
    filterset_class = filters.ClusterFilter
    queryset = Cluster.objects.none()

    def get_queryset(self) -> Any:
        return queries.clusters_visible(actor_of(self.request))

    @extend_schema(request=s.ClusterIn, responses={201: s.ClusterOut})
    def post(self, request: Request) -> Response:
        """A new cluster, without nodes yet; needs the right to operate everywhere."""
        cluster = services.create_cluster(actor=actor_of(request), **checked(s.ClusterIn, request))
        return with_version(Response(s.ClusterOut(cluster).data, status=201), cluster.version)


class OneCluster(APIView):
    token_scopes = {"PUT": TokenScope.FLEET_WRITE}

    @extend_schema(responses=s.ClusterOut, operation_id="clusters_retrieve")
    def get(self, request: Request, slug: str) -> Response:
        """One cluster; its ETag goes into If-Match."""
        cluster = queries.cluster_for(actor_of(request), slug)
        return with_version(Response(s.ClusterOut(cluster).data), cluster.version)

    @extend_schema(
        request=s.ClusterEditIn,
        responses=s.ClusterOut,
        parameters=[IF_MATCH],
        operation_id="clusters_update",
    )
    def put(self, request: Request, slug: str) -> Response:
        """Change what people read about a cluster."""
        actor, data = actor_of(request), checked(s.ClusterEditIn, request)
        cluster = services.edit_cluster(
            actor=actor,
            cluster_id=queries.cluster_for(actor, slug, Right.OPERATE).pk,
            expected_version=version_seen(request),
            **data,
        )
        return with_version(Response(s.ClusterOut(cluster).data), cluster.version)


class LayoutTemplates(APIView):
    @extend_schema(responses=s.LayoutOut(many=True), operation_id="layout_templates_list")
    def get(self, request: Request) -> Response:
        """Ready layouts to build a domain from, or to start a layout of your own from."""
        return Response(s.LayoutOut(TEMPLATES, many=True).data)


class LayoutFigures(APIView):
    token_scopes = {"POST": frozenset({TokenScope.FLEET_WRITE, TokenScope.PLAN_WRITE})}

    @extend_schema(request={"application/json": {"type": "object"}}, responses=s.FabricOut)
    def post(self, request: Request) -> Response:
        """Figures of a free layout (in the form that /layout-templates/ gives): bisection, hops, parts, fit."""
        if not isinstance(request.data, dict):
            raise Invalid("a layout is an object", errors=[FieldError(pointer="", message="an object")])
        return Response(s.FabricOut(fabric_of_layout(from_values(request.data))).data)


class Domains(generics.ListAPIView):
    """Domains of the clusters that you may see."""

    token_scopes = {"POST": TokenScope.FLEET_WRITE}
    parameters = {"POST": frozenset({"dry_run"})}
    serializer_class = s.DomainOut
    filterset_class = filters.DomainFilter
    queryset = Domain.objects.none()

    def get_queryset(self) -> Any:
        return queries.domains_visible(actor_of(self.request))

    @extend_schema(
        request=s.DomainIn, responses={201: s.DomainOut, 200: s.DomainPreviewOut}, parameters=[DRY_RUN]
    )
    def post(self, request: Request) -> Response:
        """Build a whole domain from a template or a free layout: nodes, accelerators, switches, links."""
        actor, data = actor_of(request), checked(s.DomainIn, request)
        cluster = queries.cluster_for(actor, data.pop("cluster"), Right.OPERATE)
        speed = bandwidth_of(accelerators_for(cluster.scope_id), data["accelerator_model"])
        data["layout"] = _layout(data.pop("template", None), data.get("layout"), speed)
        if yes_or_no(request.query_params, "dry_run"):
            return Response(s.DomainPreviewOut(queries.domain_preview(cluster=cluster, **data)).data)
        domain = services.build_domain(actor=actor, cluster_id=cluster.pk, **data)
        return with_version(Response(s.DomainOut(domain).data, status=201), domain.version)


class OneDomain(APIView):
    @extend_schema(responses=s.DomainOut, operation_id="domains_retrieve")
    def get(self, request: Request, pk: int) -> Response:
        """One domain."""
        domain = queries.domain_for(actor_of(request), pk)
        return with_version(Response(s.DomainOut(domain).data), domain.version)


class DomainFabric(APIView):
    @extend_schema(responses=s.FabricOut, operation_id="domains_fabric")
    def get(self, request: Request, pk: int) -> Response:
        """Figures of a domain's fabric: bisection as a cut, hops, oversubscription, parts, and fit with reasons."""
        domain = queries.domain_for(actor_of(request), pk)
        fabric = fabric_of(domain)
        if fabric is None:
            raise Invalid(say("neither a layout nor links are on record"), code="no_fabric")
        return Response(s.FabricOut(fabric).data)


def _layout(key: str | None, values: dict[str, Any] | None, speed: float | None) -> Layout:
    """A free layout as it is given; a template at the speed of the card."""
    if values is not None:
        return from_values(values)
    layout = template(key or "")
    if layout is None:
        known = ", ".join(one.key for one in TEMPLATES)
        message = say("there is no layout template %(key)s; there are %(known)s", key=f"{key!r}", known=known)
        raise Invalid(message, errors=[FieldError(pointer="/template", message=message)])
    return at_card_speed(layout, speed)
