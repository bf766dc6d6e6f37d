"""Power and cooling: rack power from its parts, the cooling it needs, and what fits a room."""

from __future__ import annotations

from dataclasses import dataclass
from math import floor, sqrt

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.operations import CoolingBand, cooling_bands


@dataclass(frozen=True, slots=True, kw_only=True)
class RackParts:
    """What stands in a rack. `node_overhead_share` is hosts, fans and conversion against the cards' TDP."""

    cards: int
    card_w: float
    node_overhead_share: float
    switch_trays: int = 0
    switch_tray_kw: float = 0.0
    other_kw: float = 0.0

    def __post_init__(self) -> None:
        if min(self.cards, self.card_w, self.node_overhead_share, self.switch_trays) < 0:
            raise OutOfRange(say("parts of a rack must not be negative"))
        if min(self.switch_tray_kw, self.other_kw) < 0:
            raise OutOfRange(say("parts of a rack must not be negative"))


@dataclass(frozen=True, slots=True, kw_only=True)
class RackPower:
    """kW of a rack by part; they add up to `total_kw`."""

    cards_kw: float
    hosts_kw: float
    switches_kw: float
    other_kw: float

    @property
    def total_kw(self) -> float:
        """All of it."""
        return self.cards_kw + self.hosts_kw + self.switches_kw + self.other_kw


def rack_power(parts: RackParts) -> RackPower:
    """Power of a rack at full load."""
    cards = parts.cards * parts.card_w / 1000.0
    return RackPower(
        cards_kw=cards,
        hosts_kw=cards * parts.node_overhead_share,
        switches_kw=parts.switch_trays * parts.switch_tray_kw,
        other_kw=parts.other_kw,
    )


def cooling_for(rack_kw: float) -> CoolingBand:
    """The weakest way of cooling that carries a rack, else the strongest; between two bands the stronger one."""
    if rack_kw < 0:
        raise OutOfRange(say("rack power must not be negative"))
    known = sorted(cooling_bands(), key=lambda band: band.low_kw)
    return next((band for band in known if not exceeds_band(rack_kw, band)), known[-1])


def exceeds_band(rack_kw: float, band: CoolingBand) -> bool:
    """Whether a rack is above what a way of cooling usually carries."""
    return band.high_kw is not None and rack_kw > band.high_kw


@dataclass(frozen=True, slots=True, kw_only=True)
class Feed:
    """Electrical feed of a rack: three-phase volts and amperes per feed, and how much may be drawn for long."""

    volts: float
    amperes: float
    feeds: int
    redundant: bool = True
    load_share: float = 0.8

    @property
    def usable_kw(self) -> float:
        """kW that the rack may draw: with redundant feeds half of them must carry it all."""
        carrying = self.feeds // 2 if self.redundant else self.feeds
        return sqrt(3.0) * self.volts * self.amperes * carrying * self.load_share / 1000.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Room:
    """An existing room: kW and racks that it offers, and the cooling limit of one rack. `pue` is room over IT."""

    it_kw: float
    racks: int
    cooling_kw_per_rack: float
    feed: Feed | None = None
    pue: float = 1.3


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    """How many whole racks and domains fit, and what stops the next one."""

    racks: int
    domains: int
    limit: str
    it_kw: float
    facility_kw: float


def fit_room(room: Room, *, rack_kw: float, racks_per_domain: int) -> Fit:
    """What fits a room. Limits: cooling, feed (of one rack), power, racks (of the room)."""
    if rack_kw <= 0 or racks_per_domain < 1:
        raise OutOfRange(say("a rack draws power, and a domain has at least one rack"))
    by_power = floor(room.it_kw / rack_kw + 1e-9)
    limits = {"racks": room.racks, "power": by_power}
    if rack_kw > room.cooling_kw_per_rack:
        limits["cooling"] = 0
    if room.feed is not None and rack_kw > room.feed.usable_kw:
        limits["feed"] = 0
    limit = min(limits, key=lambda name: limits[name])
    domains = limits[limit] // racks_per_domain
    racks = domains * racks_per_domain
    return Fit(
        racks=racks,
        domains=domains,
        limit=limit,
        it_kw=racks * rack_kw,
        facility_kw=racks * rack_kw * room.pue,
    )


def energy_j_per_token(*, it_kw: float, pue: float, tokens_per_s: float) -> float:
    """Joules of the facility per trained token."""
    if tokens_per_s <= 0:
        raise OutOfRange(say("throughput must be above zero"))
    return it_kw * 1000.0 * pue / tokens_per_s
