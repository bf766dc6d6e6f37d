"""What a domain would be, and what it is: counts, names and figures of its fabric."""

from __future__ import annotations

from dataclasses import dataclass

from apps.fleet.engine import layouts
from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.layouts import Layout, describe
from apps.fleet.models import Cluster, Domain, Node
from apps.fleet.queries.fabric import Fabric, fabric_of_layout


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainPreview:
    """A domain before it is built. taken: names that exist already, so that it cannot be built like this."""

    name: str
    layout: Layout
    fleet: FleetDescription
    fabric: Fabric
    taken: tuple[str, ...]

    @property
    def first_node(self) -> str:
        return self.fleet.nodes[0].name

    @property
    def last_node(self) -> str:
        return self.fleet.nodes[-1].name


def domain_preview(
    *,
    cluster: Cluster,
    name: str,
    layout: Layout,
    accelerator_model: str,
    first_node: int,
    scale_out_bytes_per_s: float | None,
) -> DomainPreview:
    """What building would make, without making it. Takes what `services.build_domain` takes."""
    fleet = describe(layout, domain=name, model=accelerator_model, first_node=first_node)
    names = [node.name for node in fleet.nodes]
    taken = Node.objects.filter(cluster=cluster, name__in=names).values_list("name", flat=True)
    same = Domain.objects.filter(cluster=cluster, name=name).values_list("name", flat=True)
    return DomainPreview(
        name=name,
        layout=layout,
        fleet=fleet,
        fabric=fabric_of_layout(layouts.build(layout)),
        taken=(*same, *taken),
    )
