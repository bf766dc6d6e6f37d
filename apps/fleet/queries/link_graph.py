"""The link graph of a domain: boxes at their places, and the links between them, for a canvas and for a table."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.core.hostlist import fold
from apps.core.status import Tone
from apps.core.units import show_bandwidth
from apps.fleet.engine.link_places import FEW, Places, places
from apps.fleet.engine.link_sketch import Bundle, Item, Kind, Sketch, sketch
from apps.fleet.models import Domain, SubDomain
from apps.fleet.queries.fabric import wired_fleet_of
from apps.fleet.queries.layers import Shade
from apps.fleet.queries.topology import DomainPicture

_WIDTH, _HEIGHT, _CARD_WIDTH = 116, 40, 48
_SAID_ALWAYS = 10  # bundles of a small circle that say what they are without being pointed at
_WORST_FIRST = (Tone.FAIL, Tone.WARN, Tone.UNKNOWN, Tone.WAIVED, Tone.RUNNING, Tone.PASS, Tone.NEUTRAL)


@dataclass(frozen=True, slots=True, kw_only=True)
class End:
    """One end of drawn links. name: in full. url: where it is seen from nearer; "" for switches."""

    name: str
    url: str


@dataclass(frozen=True, slots=True, kw_only=True)
class DrawnLinks:
    upper: End
    lower: End
    count: int
    bytes_per_s: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class LinkGraph:
    """elements: as Cytoscape takes them, in a picture of this many pixels. links: the same for a table.

    sub_domain: which one is looked into; None where it is the whole domain, or one node.
    """

    elements: list[dict[str, Any]]
    links: tuple[DrawnLinks, ...]
    width: int
    height: int
    sub_domain: SubDomain | None


def link_graph_of(
    domain: Domain, picture: DomainPicture, *, here: str, sub_domain: SubDomain | None = None, node: str = ""
) -> LinkGraph:
    """The links of a domain, or of one sub-domain or node of it; of its layout where the records hold none.

    here: address of the page that shows the whole domain; what has an inside leads there. Labels leave out the name of
    the domain, which many names begin with; the table has them whole.
    """
    drawn = sketch(wired_fleet_of(domain), sub_domain=sub_domain.name if sub_domain else "", node=node)
    width = _CARD_WIDTH if {one.kind for one in drawn.items} == {Kind.ACCELERATOR} else _WIDTH
    placed = places(drawn, width=width, height=_HEIGHT)
    urls, shades = _urls(domain, picture, here), _shades(picture)
    number = {item: f"b{place}" for place, item in enumerate(drawn.items)}
    boxes = [
        {
            "group": "nodes",
            "data": {
                "id": number[item],
                "label": _label(item, f"{domain.name}-"),
                "width": width,
                "height": _HEIGHT,
            }
            | ({"url": urls[item.kind, item.name]} if (item.kind, item.name) in urls else {})
            | _values(shades.get((item.kind, item.name), ())),
            "position": dict(zip("xy", placed.of[item], strict=True)),
            "classes": _class(shades.get((item.kind, item.name), ())),
        }
        for item in drawn.items
    ]
    edges = [
        {
            "group": "edges",
            "data": {
                "source": number[bundle.lower],
                "target": number[bundle.upper],
                "label": _says(bundle),
                "weight": round(1 + math.log10(bundle.count), 1),
            },
            "classes": classes,
        }
        for bundle, classes in _edge_classes(drawn, placed)
    ]

    def end(item: Item) -> End:
        return End(name=_name(item), url=urls.get((item.kind, item.name), ""))

    return LinkGraph(
        elements=[*boxes, *edges],
        links=tuple(
            DrawnLinks(
                upper=end(one.upper), lower=end(one.lower), count=one.count, bytes_per_s=one.bytes_per_s
            )
            for one in drawn.bundles
        ),
        width=placed.width,
        height=placed.height,
        sub_domain=sub_domain,
    )


def _urls(domain: Domain, picture: DomainPicture, here: str) -> dict[tuple[Kind, str], str]:
    found = {
        (Kind.SUBDOMAIN, name): f"{here}&sub_domain={pk}"
        for pk, name in SubDomain.objects.filter(domain=domain).values_list("pk", "name")
    }
    for part in picture.nodes:
        found[Kind.NODE, part.node.name] = f"{here}&node={part.node.pk}"
        for cell in part.cells:
            found[Kind.ACCELERATOR, f"{part.node.name}/{cell.card.index}"] = f"{here}&card={cell.card.pk}"
    return found


def _shades(picture: DomainPicture) -> dict[tuple[Kind, str], tuple[Shade, ...]]:
    """What each thing wears in the chosen colours."""
    found: dict[tuple[Kind, str], tuple[Shade, ...]] = {
        (Kind.SUBDOMAIN, hall.name): tuple(
            dict.fromkeys(shade for part in hall.parts for shade in part.shades)
        )
        for hall in picture.halls
    }
    for part in picture.nodes:
        found[Kind.NODE, part.node.name] = part.shades
        for cell in part.cells:
            found[Kind.ACCELERATOR, f"{part.node.name}/{cell.card.index}"] = (cell.shade,)
    return found


def _values(shades: Sequence[Shade]) -> dict[str, str]:
    """What the legend finds a box by; switches wear no colours."""
    return {"values": " ".join(dict.fromkeys(shade.value for shade in shades))} if shades else {}


def _class(shades: Sequence[Shade]) -> str:
    """The edge of a box: what all of it wears, or the worst of the tones; none where colours only differ."""
    edges = {shade.edge for shade in shades}
    if len(edges) == 1:
        return edges.pop()
    worst = (f"tone-{tone.value}" for tone in _WORST_FIRST)
    return next((tone for tone in worst if tone in edges), "")


def _label(item: Item, shared_prefix: str) -> str:
    match item.kind:
        case Kind.ALL:
            return f"{_name(item)}\n{_accelerators(item)}"
        case Kind.SUBDOMAIN:
            return f"{item.name.removeprefix(shared_prefix)}\n{_accelerators(item)}"
        case Kind.ACCELERATOR:
            return item.name.rpartition("/")[2]
        case Kind.SWITCHES:
            names = _switches(item) if len(item.holds) > 1 else item.holds[0].removeprefix(shared_prefix)
            return "\n".join([names, _("tier %(tier)s") % {"tier": item.tier}])
    return item.name.removeprefix(shared_prefix)


def _name(item: Item) -> str:
    if item.kind is Kind.ALL:
        return ngettext("%(number)s node", "%(number)s nodes", len(item.holds)) % {
            "number": f"{len(item.holds):,}"
        }
    return fold(item.holds) if item.kind is Kind.SWITCHES else item.name


def _switches(item: Item) -> str:
    number = len(item.holds)
    return ngettext("%(number)s switch", "%(number)s switches", number) % {"number": f"{number:,}"}


def _accelerators(item: Item) -> str:
    number = item.accelerators
    return ngettext("%(number)s accelerator", "%(number)s accelerators", number) % {"number": f"{number:,}"}


def _says(bundle: Bundle) -> str:
    """How many links a bundle is, and what they carry together."""
    links = ngettext("%(number)s link", "%(number)s links", bundle.count) % {"number": f"{bundle.count:,}"}
    return links if bundle.bytes_per_s is None else f"{links} · {show_bandwidth(bundle.bytes_per_s)}"


def _edge_classes(drawn: Sketch, placed: Places) -> Iterator[tuple[Bundle, str]]:
    """Each bundle with how it is drawn: what it says stands where no other's stands, or waits to be pointed at."""
    ups = Counter(bundle.lower for bundle in drawn.bundles)
    downs = Counter(bundle.upper for bundle in drawn.bundles)
    for bundle in drawn.bundles:
        if placed.is_round:
            few = len(drawn.items) <= FEW and len(drawn.bundles) <= _SAID_ALWAYS
            yield bundle, "says-between" if few else ""
        elif bundle.lower.tier == bundle.upper.tier:
            yield bundle, "arc"
        elif ups[bundle.lower] == 1:
            yield bundle, "says-below"
        else:
            yield bundle, "says-above" if downs[bundle.upper] == 1 else ""
