"""Pages beside the ids of the audit trail; see apps.audit.directory."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from django.urls import reverse

from apps.fleet.models import Cluster, Domain, Node


def pages_of_clusters(ids: Collection[str]) -> Mapping[str, str]:
    """Ids of clusters to their pages."""
    rows = Cluster.objects.filter(pk__in=_numbers(ids)).values_list("pk", "slug")
    return {str(pk): reverse("portal:cluster", args=[slug]) for pk, slug in rows}


def pages_of_nodes(ids: Collection[str]) -> Mapping[str, str]:
    """Ids of nodes to their pages, in the cluster in which they are today."""
    rows = Node.objects.filter(pk__in=_numbers(ids)).values_list("pk", "cluster__slug")
    return {str(pk): reverse("fleet:node", args=[slug, pk]) for pk, slug in rows}


def pages_of_domains(ids: Collection[str]) -> Mapping[str, str]:
    """Ids of domains to their topology."""
    rows = Domain.objects.filter(pk__in=_numbers(ids)).values_list("pk", "cluster__slug")
    return {str(pk): f"{reverse('fleet:topology', args=[slug])}?domain={pk}" for pk, slug in rows}


def _numbers(ids: Collection[str]) -> list[int]:
    return [int(one) for one in ids if one.isdecimal()]
