"""Colours of the topology page: each layer says how every node, or accelerator, of a domain looks.

The layers of this app are here. Apps above bring their own (drift, bandwidth) and register them when they
start, so that the page knows what they know without asking upward.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy

from apps.core.speech import listed, said
from apps.core.status import sign_of
from apps.fleet.models import Accelerator, Hold, HoldKind, Node
from apps.fleet.queries.holds import state_of

SERIES = 6  # colours that are told apart by eye; then they repeat, and the printed mark tells


@dataclass(frozen=True, slots=True, kw_only=True)
class Shade:
    """How one thing looks. value: what the legend filters by. style: a class such as tone-fail, series-2, heat-4.

    mark: a few characters that a cell prints instead of its slot. note: one sentence for the table and the panel.
    """

    value: str
    word: str
    style: str
    mark: str = ""
    note: str = ""

    @property
    def is_tone(self) -> bool:
        """Whether it speaks the status language; then `value` is one of its words."""
        return self.style.startswith("tone-")

    @property
    def edge(self) -> str:
        """The class of a whole node's edge: heat fills cells only."""
        return "" if self.style.startswith("heat") else self.style


@dataclass(frozen=True, slots=True, kw_only=True)
class Colours:
    """Shades by id of node, or of accelerator where a node's cards differ. of: when it was true, if it ages."""

    nodes: Mapping[int, Shade] = field(default_factory=dict)
    cards: Mapping[int, Shade] = field(default_factory=dict)
    of: datetime | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Layer:
    """title: what is shown. paint: gives the colours of the nodes of one domain (accelerators prefetched)."""

    key: str
    title: str | Promise
    paint: Callable[[Sequence[Node]], Colours]


_layers: dict[str, Layer] = {}


def register_layer(layer: Layer) -> None:
    """Offer a layer on the topology page; each key once."""
    if layer.key in _layers and _layers[layer.key] is not layer:
        raise RuntimeError(f"two layers {layer.key}")
    _layers[layer.key] = layer


def layers() -> tuple[Layer, ...]:
    """All layers, in the order in which they were registered; the first is the ordinary one."""
    return tuple(_layers.values())


def layer_of(key: str) -> Layer:
    """The layer of that key, or the ordinary one."""
    return _layers.get(key) or layers()[0]


def state_shade(state: str, *, note: str = "") -> Shade:
    """A state in the status language."""
    sign = sign_of(state)
    return Shade(value=state, word=str(sign.word), style=f"tone-{sign.tone.value}", note=note)


def series_shades(names: Iterable[str]) -> dict[str, Shade]:
    """A shade for each name, in order; colours repeat after six, so each has a mark of its own too."""
    return {
        name: Shade(value=f"n{place}", word=name, style=f"series-{place % SERIES + 1}", mark=str(place))
        for place, name in enumerate(dict.fromkeys(names))
    }


def _by_state(nodes: Sequence[Node]) -> Colours:
    return Colours(nodes={node.pk: state_shade(state_of(node).value, note=_reasons(node)) for node in nodes})


def _reasons(node: Node) -> str:
    return listed((said(hold.told_reason) for hold in node.active_holds), "; ")


def _by_health(nodes: Sequence[Node]) -> Colours:
    return Colours(nodes={node.pk: state_shade(node.health) for node in nodes})


def _by_quarantine(nodes: Sequence[Node]) -> Colours:
    free = Shade(value="free", word=_("not in quarantine"), style="tone-neutral")
    shades = {}
    for node in nodes:
        held = [hold for hold in node.active_holds if hold.kind == HoldKind.QUARANTINE]
        shades[node.pk] = state_shade("quarantined", note=said(held[0].told_reason)) if held else free
    return Colours(nodes=shades)


def _by_work(nodes: Sequence[Node]) -> Colours:
    """The placement group of each node: what holds it, such as one launch; its nodes share a colour."""
    holds = {
        node.pk: hold for node in nodes for hold in node.active_holds if hold.kind != HoldKind.QUARANTINE
    }
    groups = series_shades(_group(hold) for hold in holds.values())
    free = Shade(value="free", word=_("held for nothing"), style="tone-neutral")
    return Colours(
        nodes={
            node.pk: replace(groups[_group(hold)], note=said(hold.told_reason))
            if (hold := holds.get(node.pk))
            else free
            for node in nodes
        }
    )


def _group(hold: Hold) -> str:
    """What holds of one placement group have in common: their owner, or kind and reason where a person holds."""
    kind = hold.get_kind_display()
    return f"{kind} #{hold.owner.rpartition(':')[2]}" if hold.owner else f"{kind}: {said(hold.told_reason)}"


def _by_failure_domain(nodes: Sequence[Node]) -> Colours:
    """What fails together: the rack, or the sub-domain where no racks are written down."""
    if any(node.rack for node in nodes):
        racks = series_shades(node.rack for node in nodes if node.rack)
        none = Shade(value="none", word=_("no rack written down"), style="tone-unknown")
        return Colours(nodes={node.pk: racks.get(node.rack, none) for node in nodes})
    cards: list[Accelerator] = [card for node in nodes for card in node.accelerators.all()]
    halls = series_shades(card.sub_domain.name for card in cards if card.sub_domain)
    whole = Shade(value="whole", word=_("the whole domain"), style="series-1", mark="0")
    return Colours(
        cards={card.pk: halls[card.sub_domain.name] if card.sub_domain else whole for card in cards}
    )


for _layer in (
    Layer(key="state", title=gettext_lazy("State"), paint=_by_state),
    Layer(key="health", title=gettext_lazy("Health"), paint=_by_health),
    Layer(key="quarantine", title=gettext_lazy("Quarantine"), paint=_by_quarantine),
    Layer(key="placement_group", title=gettext_lazy("Placement group"), paint=_by_work),
    Layer(key="failure_domain", title=gettext_lazy("Failure domain"), paint=_by_failure_domain),
):
    register_layer(_layer)
