"""What a domain would be, and what it is: counts, names and figures of its fabric."""

from __future__ import annotations

import difflib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

from apps.catalogue.engine.accelerators import Accelerator
from apps.catalogue.queries import accelerators_for
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.core.units import show_bandwidth
from apps.fleet.engine import layouts
from apps.fleet.engine.description import FleetDescription
from apps.fleet.engine.layouts import Layout, describe
from apps.fleet.models import Cluster, Domain, Node
from apps.fleet.queries.fabric import Fabric, fabric_of_layout


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainPreview:
    """A domain before it is built. taken: names that exist already, so that it cannot be built like this.

    doubts: where the layout goes beyond what the catalogue says of the card.
    """

    name: str
    layout: Layout
    fleet: FleetDescription
    fabric: Fabric
    taken: tuple[str, ...]
    doubts: tuple[str, ...]

    @property
    def first_node(self) -> str:
        return self.fleet.nodes[0].name

    @property
    def last_node(self) -> str:
        return self.fleet.nodes[-1].name


def require_known_model(cluster: Cluster, model: str) -> None:
    """Raises Invalid where the catalogue, as the cluster has it, holds no accelerator of that id."""
    known = accelerators_for(cluster.scope_id)
    if model in known:
        return
    close = difflib.get_close_matches(model, known, n=3, cutoff=0.4)
    message = say("there is no accelerator %(model)s in the catalogue", model=repr(model))
    if close:
        message = say("%(what)s; %(close)s may be meant", what=message, close=", ".join(close))
    raise Invalid(message, errors=[FieldError(pointer="/accelerator_model", message=message)])


def bandwidth_of(parts: Mapping[str, Accelerator], model: str) -> float | None:
    """Scale-up bandwidth of a card, one way; None where the catalogue does not know."""
    return parts[model].scale_up.unidirectional_bytes_per_s if model in parts else None


def domain_preview(
    *,
    cluster: Cluster,
    name: str,
    layout: Layout,
    accelerator_model: str,
    first_node: int,
    scale_out_bytes_per_s: float | None,
) -> DomainPreview:
    """What building would make, without making it. Takes what `services.build_domain` takes. Raises Invalid."""
    require_known_model(cluster, accelerator_model)
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
        doubts=tuple(_doubts(layout, accelerators_for(cluster.scope_id)[accelerator_model])),
    )


def _doubts(layout: Layout, part: Accelerator) -> Iterator[str]:
    card, planned = part.scale_up, layout.unidirectional_bytes_per_s
    if card.unidirectional_bytes_per_s and planned > card.unidirectional_bytes_per_s * 1.001:
        yield say(
            "%(planned)s one way per accelerator is more than the %(known)s that the catalogue has for %(name)s",
            planned=show_bandwidth(planned),
            known=show_bandwidth(card.unidirectional_bytes_per_s),
            name=part.name,
        )
    if card.max_domain and layout.accelerators > card.max_domain:
        yield say(
            "%(name)s ships in scale-up domains of up to %(most)s cards; one of %(domain_size)s is hypothetical",
            name=part.name,
            most=card.max_domain,
            domain_size=layout.accelerators,
        )
