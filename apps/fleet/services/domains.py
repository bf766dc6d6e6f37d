"""Scale-up domains: built whole from a layout."""

from __future__ import annotations

from dataclasses import asdict

from django.db import IntegrityError, transaction

from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import Conflict
from apps.core.rights import Right, TokenScope
from apps.fleet.engine import layouts
from apps.fleet.engine.layouts import Layout
from apps.fleet.models import Accelerator, Cluster, Domain, Node, SubDomain


@decision
def build_domain(
    *,
    actor: Actor,
    cluster_id: int,
    name: str,
    layout: Layout,
    accelerator_model: str,
    first_node: int = 1,
    scale_out_bytes_per_s: float | None = None,
) -> Domain:
    """A domain with its sub-domains, nodes and accelerators, from a layout (a template or a free one).

    first_node: the number of the first node in the layout's node name pattern.
    Raises Invalid (the layout), Conflict where the domain or one of the node names exists already.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.OPERATE, cluster.scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    layout = layouts.build(layout)
    description = layouts.describe(layout, domain=name, model=accelerator_model, first_node=first_node)
    try:
        with transaction.atomic():
            domain = Domain.objects.create(
                cluster=cluster,
                name=name,
                layout=layout.key,
                topology=layouts.graph_of(layout).kind.value,
                parameters=asdict(layout),
                accelerator_model=accelerator_model,
                unidirectional_bytes_per_s=layout.unidirectional_bytes_per_s,
                scale_out_bytes_per_s=scale_out_bytes_per_s,
            )
            nodes = Node.objects.bulk_create(
                [
                    Node(cluster=cluster, domain=domain, name=node.name, index=place)
                    for place, node in enumerate(description.nodes)
                ]
            )
            _create_accelerators(domain, layout, nodes)
    except IntegrityError as error:
        taken = Node.objects.filter(cluster=cluster, name__in=[node.name for node in description.nodes])
        names = ", ".join(taken.values_list("name", flat=True)[:5]) or name
        raise Conflict(f"there is already something of this name: {names}", code="name_taken") from error
    record(
        actor=actor,
        action="domain.built",
        on=domain,
        scope_id=cluster.scope_id,
        after={
            "name": name,
            "layout": layout.key,
            "accelerator_model": accelerator_model,
            "nodes": [node.name for node in nodes],
        },
    )
    return domain


def _create_accelerators(domain: Domain, layout: Layout, nodes: list[Node]) -> None:
    parts = SubDomain.objects.bulk_create(
        [
            SubDomain(
                domain=domain,
                index=place,
                name=layout.sub_domain_pattern.format(domain=domain.name, sub_domain=place + 1),
            )
            for place in range(len(layout.sub_domain_sizes))
        ]
    )
    cards = []
    for place, node in enumerate(nodes):
        for slot in range(layout.accelerators_per_node):
            home = layout.sub_domain_of(place * layout.accelerators_per_node + slot)
            cards.append(
                Accelerator(
                    node=node,
                    index=slot,
                    sub_domain=parts[home] if home is not None else None,
                    model=domain.accelerator_model,
                )
            )
    Accelerator.objects.bulk_create(cards, batch_size=500)
