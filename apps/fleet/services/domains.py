"""Scale-up domains: built whole from a layout."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import IntegrityError, transaction

from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet.engine import layouts
from apps.fleet.engine.cells import is_name, name_wanted
from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.graph import Medium
from apps.fleet.engine.layout_values import as_values
from apps.fleet.engine.layouts import Layout
from apps.fleet.engine.wiring import wired
from apps.fleet.models import Accelerator, Cluster, Domain, Link, Node, SubDomain, Switch
from apps.fleet.queries.domains import require_known_model


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
    """A domain with its sub-domains, nodes, accelerators, switches and links, from a layout.

    first_node: the number of the first node in the layout's node name pattern.
    Raises Invalid (the layout, the name, the accelerator), Conflict where the domain, a node or a switch exists.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.OPERATE, cluster.scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    name = _checked_name(name)
    require_known_model(cluster, accelerator_model)
    layout = layouts.build(layout)
    description = wired(layout, domain=name, model=accelerator_model, first_node=first_node)
    domain = Domain(
        cluster=cluster,
        name=name,
        layout=layout.key,
        topology=layouts.graph_of(layout).kind.value,
        parameters=as_values(layout),
        accelerator_model=accelerator_model,
        unidirectional_bytes_per_s=layout.unidirectional_bytes_per_s,
        scale_out_bytes_per_s=scale_out_bytes_per_s,
    )
    names_of_nodes = [node.name for node in description.nodes]
    try:
        with transaction.atomic():
            _create(domain, layout, description)
    except IntegrityError as error:
        taken = Node.objects.filter(cluster=cluster, name__in=names_of_nodes)
        names = ", ".join(taken.values_list("name", flat=True)[:5]) or name
        raise Conflict(
            say("there is already something of this name: %(names)s", names=names), code="name_taken"
        ) from error
    record(
        actor=actor,
        action="domain.built",
        on=domain,
        scope_id=cluster.scope_id,
        after={
            "name": name,
            "layout": layout.key,
            "accelerator_model": accelerator_model,
            "nodes": names_of_nodes,
        },
    )
    return domain


def _create(domain: Domain, layout: Layout, description: FleetDescription) -> None:
    """The domain and all that is in it."""
    domain.save()
    nodes = Node.objects.bulk_create(
        [
            Node(cluster=domain.cluster, domain=domain, name=node.name, index=place)
            for place, node in enumerate(description.nodes)
        ]
    )
    _create_fabric(domain, description, _create_accelerators(domain, layout, nodes))


def _checked_name(name: str) -> str:
    name = name.strip()
    if not is_name(name, 60):
        message = name_wanted(60)
        raise Invalid(message, errors=[FieldError(pointer="/name", message=message)])
    return name


def _create_accelerators(domain: Domain, layout: Layout, nodes: list[Node]) -> dict[str, Accelerator]:
    """The accelerators of the nodes, by node/index."""
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
    made = Accelerator.objects.bulk_create(cards, batch_size=500)
    return {f"{card.node.name}/{card.index}": card for card in made}


def _create_fabric(domain: Domain, fleet: FleetDescription, cards: dict[str, Accelerator]) -> None:
    """Switches and the links below them. What is joined without a switch (mesh, ring) is in the layout alone."""
    rows = [
        Switch(cluster=domain.cluster, domain=domain, name=switch.name, tier=switch.tier, index=place)
        for place, switch in enumerate(fleet.switches)
    ]
    switches = {switch.name: switch for switch in Switch.objects.bulk_create(rows, batch_size=500)}
    Link.objects.bulk_create(_links(fleet, switches, cards), batch_size=500)


def _links(
    fleet: FleetDescription, switches: dict[str, Switch], cards: dict[str, Accelerator]
) -> Iterator[Link]:
    for link in fleet.links:
        if link.a in switches:
            yield Link(
                upper=switches[link.a],
                accelerator=cards.get(link.b),
                lower=switches.get(link.b),
                count=link.count,
                unidirectional_bytes_per_s=link.bandwidth_bytes_per_s,
                optical=link.kind == Medium.OPTICAL,
            )
