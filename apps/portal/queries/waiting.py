"""Which unmatched deliveries can be attached by now."""

from __future__ import annotations

from django.db.models import CharField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Value
from django.db.models.functions import Concat

from apps.evidence.models import Receipt
from apps.evidence.queries import unmatched
from apps.fleet.models import Domain, Node, NodeAlias

# Kinds that name their nodes themselves, so that the receipt need not.
_NAME_THEIR_NODES = ("k8s_nodes",)


def attachable() -> QuerySet[Receipt]:
    """Unmatched deliveries whose node or domain may exist by now, oldest first.

    Wider than `node_by_reported_name` is, never narrower: who applies one looks again. One query, so that
    names that never appear do not keep those from attaching that do.
    """
    name = OuterRef("node_name")
    same_cluster = Q(cluster__scope=OuterRef("scope"))
    nodes = (
        Node.objects.filter(same_cluster).alias(wanted=ExpressionWrapper(name, CharField())).exclude(name="")
    )
    by_name = nodes.filter(
        Q(name__iexact=name)
        | Q(wanted__istartswith=Concat(F("name"), Value(".")))
        | Q(name__istartswith=Concat(name, Value(".")))
    )
    by_alias = NodeAlias.objects.filter(same_cluster, name__iexact=name)
    domains = Domain.objects.filter(same_cluster, name__iexact=name)
    waiting = unmatched()
    named = ~Q(node_name="") & (Q(Exists(by_name)) | Q(Exists(by_alias)) | Q(Exists(domains)))
    return waiting.filter(named | Q(kind__in=_NAME_THEIR_NODES))
