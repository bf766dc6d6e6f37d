"""Power, cooling and room: what a rack draws, how it must be cooled, and how many racks and domains a room takes."""

from __future__ import annotations

from collections.abc import Iterator
from math import isclose
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.speech import listed
from apps.core.texts import say
from apps.planning.engine import power as engine
from apps.planning.engine.operations import cooling_bands, power_figure, power_source, published_racks
from apps.planning.engine.power import Feed, RackParts, Room
from apps.planning.studies import fields as f
from apps.planning.studies.base import Result, Study, Values
from apps.planning.studies.blocks import (
    Assumed,
    Assumptions,
    Bars,
    Block,
    Figure,
    Figures,
    Note,
    Stat,
    Stats,
    Table,
    count_shown,
    yes_no,
)

COOLING = {"air": _l("air"), "cold_plate": _l("cold plates"), "immersion": _l("immersion")}
LIMITS = {
    "racks": _l("places for racks"),
    "power": _l("power of the room"),
    "cooling": _l("cooling of a rack"),
    "feed": _l("feed of a rack"),
}
PARTS = {
    "cards_kw": _l("accelerators"),
    "hosts_kw": _l("hosts and conversion"),
    "switches_kw": _l("switch trays"),
    "other_kw": _l("other"),
}


class PowerForm(f.StudyForm):
    """What stands in a rack, how it is fed, and the room."""

    start = {
        "cards_per_rack": 72, "card_w": 1200, "overhead_percent": 35, "switch_trays": 9, "switch_tray_kw": 1,
        "other_kw": 2, "racks_per_domain": 1, "cooling": "cold_plate", "cooling_kw_per_rack": 140,
        "room_kw": 2000, "room_racks": 20, "pue": 1.25, "volts": 415, "amperes": 125, "feeds": 4,
        "redundant": True, "tokens_per_s": 100000,
    }  # fmt: skip
    groups = (
        (_l("Rack"), ("cards_per_rack", "card_w", "overhead_percent", "switch_trays", "switch_tray_kw", "other_kw",
                      "racks_per_domain")),
        (_l("Feed of a rack"), ("volts", "amperes", "feeds", "redundant")),
        (_l("Room"), ("cooling", "cooling_kw_per_rack", "room_kw", "room_racks", "pue", "tokens_per_s")),
    )  # fmt: skip

    cards_per_rack = f.whole(_l("Accelerators in a rack"), most=1024)
    card_w = f.number(_l("Power of an accelerator"), least=1, most=20_000, unit="W")
    overhead_percent = f.number(
        _l("Hosts, fans and conversion on top"),
        most=300,
        unit="%",
        help_text=_l("26 to 40 in a GB200 NVL72; 82 in an air-cooled host of 8 H100 at 10.2 kW."),
    )
    switch_trays = f.whole(_l("Switch trays"), least=0, most=200)
    switch_tray_kw = f.number(_l("A switch tray draws"), most=100, unit="kW")
    other_kw = f.number(_l("Pumps, management and the like"), most=200, unit="kW")
    racks_per_domain = f.whole(_l("Racks of a domain"), most=1000)
    volts = f.number(_l("Volts, three phases"), least=100, most=1000, unit="V")
    amperes = f.number(_l("Amperes of a feed"), least=1, most=10_000, unit="A")
    feeds = f.whole(_l("Feeds"), most=32)
    redundant = f.flag(_l("Half of the feeds must carry it all"))
    cooling = forms.ChoiceField(choices=list(COOLING.items()), label=_l("Cooling that is there"))
    cooling_kw_per_rack = f.number(_l("It takes away, per rack"), least=0.1, most=1000, unit="kW")
    room_kw = f.number(_l("Power for IT"), least=0.1, most=1e7, unit="kW")
    room_racks = f.whole(_l("Places for racks"), most=100_000)
    pue = f.number(_l("PUE"), least=1, most=3)
    tokens_per_s = f.number(
        _l("Tokens per second of a domain"),
        least=1e-6,
        required=False,
        help_text=_l("For the energy of a token."),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if data.get("redundant") and (data.get("feeds") or 0) < 2:
            self.add_error("feeds", _("Redundant feeds are at least two."))
        return data


def compute(values: Values) -> Result:
    """Power of a rack by part in kW, the cooling it needs, and what fits the room, as JSON values."""
    rack = engine.rack_power(
        RackParts(
            cards=values["cards_per_rack"],
            card_w=values["card_w"],
            node_overhead_share=values["overhead_percent"] / 100,
            switch_trays=values["switch_trays"],
            switch_tray_kw=values["switch_tray_kw"],
            other_kw=values["other_kw"],
        )
    )
    feed = Feed(
        volts=values["volts"],
        amperes=values["amperes"],
        feeds=values["feeds"],
        redundant=values["redundant"],
        load_share=power_figure("feed_load_share"),
    )
    room = Room(
        it_kw=values["room_kw"],
        racks=values["room_racks"],
        cooling_kw_per_rack=values["cooling_kw_per_rack"],
        feed=feed,
        pue=values["pue"],
    )
    racks = values["racks_per_domain"]
    fit = engine.fit_room(room, rack_kw=rack.total_kw, racks_per_domain=racks)
    tokens = values.get("tokens_per_s")
    return {
        "rack": {name: getattr(rack, name) for name in (*PARTS, "total_kw")},
        "feed_usable_kw": feed.usable_kw,
        "feed_carries": rack.total_kw <= feed.usable_kw,
        "cooling": _cooling(rack.total_kw, values["cooling"]),
        "fit": {
            "racks": fit.racks,
            "domains": fit.domains,
            "limit": fit.limit,
            "it_kw": fit.it_kw,
            "facility_kw": fit.facility_kw,
            "cards": fit.racks * values["cards_per_rack"],
        },
        "joules_per_token": engine.energy_j_per_token(
            it_kw=rack.total_kw * racks, pue=values["pue"], tokens_per_s=tokens
        )
        if tokens
        else None,
        "assumptions": _assumptions(values),
    }


def _cooling(rack_kw: float, present: str) -> Result:
    band = next(one for one in cooling_bands() if one.id == present)
    return {
        "needed": engine.cooling_for(rack_kw).id,
        "present": present,
        "present_low_kw": band.low_kw,
        "present_high_kw": band.high_kw,
        "above_present_band": engine.exceeds_band(rack_kw, band),
        "precedents": [
            {"name": one.name, "cooling": one.cooling, "low_kw": one.low_kw, "high_kw": one.high_kw}
            for one in published_racks()
            if one.cooling == present and one.high_kw >= rack_kw
        ],
    }


def _assumptions(values: Values) -> list[dict[str, Any]]:
    assumed = Assumed()
    assumed.add("card_w", values["card_w"], say("power of an accelerator at full load"), "given")
    share, shipped = values["overhead_percent"] / 100, power_figure("node_overhead_share")
    if isclose(share, shipped):
        assumed.add("overhead_share", share, power_source("node_overhead_share"), "derived")
    else:
        assumed.add("overhead_share", share, say("hosts, fans and conversion, as asked"), "given")
    assumed.add(
        "feed_load_share",
        power_figure("feed_load_share"),
        power_source("feed_load_share"),
        "rule_of_thumb",
    )
    for band in cooling_bands():
        shown = f"{band.low_kw:g}–{band.high_kw:g} kW" if band.high_kw else f"≥ {band.low_kw:g} kW"
        assumed.add(f"cooling.{band.id}", shown, band.source, "rule_of_thumb")
    return assumed.rows


def show(values: Values, result: Result) -> list[Block]:
    """Stats, the rack as a bar against its feed, and what fits."""
    rack, fit, cooling = result["rack"], result["fit"], result["cooling"]
    stats = [
        Stat(label=_("A rack draws"), value=f"{rack['total_kw']:.1f}", unit="kW"),
        Stat(label=_("Cooling that it needs"), value=str(COOLING[cooling["needed"]]),
             verdict="warn" if cooling["above_present_band"] else "pass"),
        Stat(label=_("Feed carries"), value=f"{result['feed_usable_kw']:.1f}", unit="kW",
             verdict="pass" if result["feed_carries"] else "fail"),
        Stat(label=_("Domains that fit"), value=count_shown(fit["domains"]),
             note=_fit_note(fit),
             verdict="pass" if fit["domains"] else "fail"),
    ]  # fmt: skip
    parts = [
        {"label": word, "value": rack[key], "shown": f"{rack[key]:.1f} kW"}
        for key, word in PARTS.items()
        if rack[key] > 0
    ]
    bar = {"name": _("One rack"), "shown": f"{rack['total_kw']:.1f} kW", "parts": parts}
    return [
        Stats(stats=stats),
        *_notes(result),
        Bars(
            title=_("Power of a rack by part"),
            bars=[bar],
            limit=result["feed_usable_kw"],
            limit_label=_("what the feed carries"),
            scale=max(rack["total_kw"], result["feed_usable_kw"]) * 1.05,
        ),
        _fit_table(values, result),
        Figures(title=_("How it is computed"), figures=list(_figures(result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _fit_note(fit: Result) -> str:
    said = {"cards": count_shown(fit["cards"]), "limit": LIMITS[fit["limit"]]}
    return _("%(cards)s accelerators; what stops the next one: %(limit)s") % said


def _notes(result: Result) -> Iterator[Note]:
    cooling, fit = result["cooling"], result["fit"]
    if cooling["above_present_band"]:
        said = {"low": f"{cooling['present_low_kw']:g}", "high": f"{cooling['present_high_kw']:g}"}
        text = _("Usual are %(low)s to %(high)s kW a rack.") % said
        if cooling["precedents"]:
            racks = [
                f"{one['name']} ({one['low_kw']:g}–{one['high_kw']:g} kW)" for one in cooling["precedents"]
            ]
            shipped = _("Published racks do the same: %(racks)s; the supplier must confirm it for this room.")
            text += " " + shipped % {"racks": listed(racks)}
        yield Note(
            tone="warn", title=_("The rack is above the usual band of the cooling that is there"), text=text
        )
    if not fit["domains"]:
        text = _("What stops it: %(limit)s.") % {"limit": LIMITS[fit["limit"]]}
        yield Note(tone="fail", title=_("No whole domain fits this room"), text=text)


def _fit_table(values: Values, result: Result) -> Table:
    fit = result["fit"]
    rows = [
        [_("racks in use"), f"{fit['racks']} / {values['room_racks']}"],
        [_("power for IT"), f"{fit['it_kw']:,.0f} / {values['room_kw']:,.0f} kW"],
        [_("power of the facility"), f"{fit['facility_kw']:,.0f} kW"],
        [_("accelerators"), count_shown(fit["cards"])],
        [_("the feed carries a rack"), yes_no(result["feed_carries"])],
    ]
    return Table(title=_("What fits the room"), columns=["", _("Value")], rows=rows, icon="server-2")


def _figures(result: Result) -> Iterator[Figure]:
    rack, fit = result["rack"], result["fit"]
    yield Figure(key="power.rack", name=_("Power of a rack"), value=f"{rack['total_kw']:.1f} kW")
    yield Figure(
        key="power.feed", name=_("What the feed carries"), value=f"{result['feed_usable_kw']:.1f} kW"
    )
    yield Figure(key="power.fit", name=_("Racks that fit"), value=count_shown(fit["racks"]))
    if result["joules_per_token"] is not None:
        shown = f"{result['joules_per_token']:.3g} J"
        yield Figure(key="power.energy", name=_("Energy of a token"), value=shown)


STUDY = Study(
    key="power",
    title=_l("Power, cooling and room"),
    question=_l("What does a rack draw, how must it be cooled, and what fits an existing room?"),
    icon="building-factory-2",
    form=PowerForm,
    compute=compute,
    show=show,
)
