"""Scaling as its page shows it: throughput and efficiency over size, the ways to join, and what limits each."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.units import show_bytes, show_seconds, show_share
from apps.planning.studies.base import Result, Values
from apps.planning.studies.blocks import (
    Assumptions,
    Block,
    Chart,
    Figure,
    Figures,
    Note,
    Stat,
    Stats,
    Table,
    axes,
    count_shown,
    line,
)
from apps.planning.studies.hardware import warning_notes
from apps.planning.words import BOTTLENECKS

SUPERNODE, ORDINARY = "supernode", "ordinary"
NAMES = {SUPERNODE: _l("supernode"), ORDINARY: _l("ordinary cluster")}
FULL, HOSTS = "full mesh", "hosts"


def show(values: Values, result: Result) -> list[Block]:
    """Stats, throughput and efficiency over size, the shapes, and what limits each."""
    growth = {name: result["growth"][name] for name in NAMES}  # a database's JSON keeps no order of its own
    return [
        Stats(stats=list(_stats(growth, result["shapes"]))),
        *warning_notes(result["warnings"]),
        *_notes(values, growth),
        _throughput_chart(growth),
        _efficiency_chart(growth),
        *(_growth_table(name, growth[name]["points"]) for name in growth),
        _shapes_chart(values, result["shapes"]),
        _shapes_table(values, result["shapes"]),
        Figures(title=_("How it is computed"), figures=list(_figures(growth))),
        Assumptions(rows=result["assumptions"]),
    ]


def _running(points: Sequence[Result]) -> list[Result]:
    return [point for point in points if point["tokens_per_s"]]


def _stats(growth: Result, shapes: Sequence[Result]) -> Iterator[Stat]:
    for name, one in growth.items():
        running = _running(one["points"])
        if not running:
            yield Stat(label=NAMES[name], value="—", note=_("nothing fits at any size"), verdict="fail")
            continue
        last = running[-1]
        note = _("%(efficiency)s of ideal growth to %(cards)s accelerators") % {
            "efficiency": show_share(last["efficiency"]), "cards": count_shown(last["accelerators"])
        }  # fmt: skip
        yield Stat(label=_("Most tokens/s, %(kind)s") % {"kind": NAMES[name]},
                   value=count_shown(max(p["tokens_per_s"] for p in running)), note=note)  # fmt: skip
    ratio = _gain(growth)
    if ratio is not None:
        yield Stat(
            label=_("Supernode against ordinary"),
            value=f"{ratio:.2f}",
            unit="×",
            note=_("at the largest size"),
        )
    running = _running(shapes)
    if running:
        worst = min(running, key=lambda point: point["tokens_per_s"])
        note = _("of the full mesh: %(shape)s") % {"shape": _shape_word(worst["shape"])}
        yield Stat(label=_("Slowest way to join"), value=show_share(worst["efficiency"]), note=note)


def _gain(growth: Result) -> float | None:
    """Throughput of the supernode over that of the ordinary cluster at the largest size that both run."""
    pairs = [
        (a["tokens_per_s"], b["tokens_per_s"])
        for a, b in zip(growth[SUPERNODE]["points"], growth[ORDINARY]["points"], strict=True)
        if a["tokens_per_s"] and b["tokens_per_s"]
    ]
    return pairs[-1][0] / pairs[-1][1] if pairs else None


def _notes(values: Values, growth: Result) -> Iterator[Note]:
    for name, one in growth.items():
        if one["turns_negative_at"] is not None:
            turn = one["turns_negative_at"]
            before = max(p["accelerators"] for p in _running(one["points"]) if p["accelerators"] < turn)
            said = {"kind": NAMES[name], "before": count_shown(before), "cards": count_shown(turn)}
            text = _("%(kind)s: slower with %(cards)s accelerators than with %(before)s.") % said
            yield Note(tone="warn", title=_("Adding accelerators turns negative"), text=text)
    turns = [one["turns_negative_at"] for one in growth.values()]
    if not any(turns) and any(_running(one["points"]) for one in growth.values()):
        text = _("Up to %(cards)s accelerators each size is faster than the one before.")
        said = {"cards": count_shown(values["sizes"][-1])}
        yield Note(
            tone="neutral", title=_("Adding accelerators does not turn negative here"), text=text % said
        )


def _throughput_chart(growth: Result) -> Chart:
    data = [
        line(NAMES[name], [p["accelerators"] for p in one["points"]],
             [p["tokens_per_s"] or None for p in one["points"]], dash=dash)
        for (name, one), dash in zip(growth.items(), ("solid", "dash"), strict=True)
    ]  # fmt: skip
    first = next(iter(_running(growth[SUPERNODE]["points"])), None)
    if first is not None:
        sizes = [p["accelerators"] for p in growth[SUPERNODE]["points"]]
        ideal = [first["tokens_per_s"] * size / first["accelerators"] for size in sizes]
        data.append(line(_("ideal"), sizes, ideal, dash="dot", marks=False))
    sizes = [p["accelerators"] for p in growth[SUPERNODE]["points"]]
    both = (growth[SUPERNODE]["points"], growth[ORDINARY]["points"])
    return Chart(
        id="throughput",
        title=_("Throughput over size"),
        summary=_(
            "The gap to the dotted line is what growth loses to communication, bubbles and small matrices."
        ),
        figure={
            "data": data,
            "layout": axes(_("accelerators"), _("tokens per second"), log_x=True, log_y=True),
        },
        columns=[_("Accelerators"), *(_("tokens/s, %(kind)s") % {"kind": word} for word in NAMES.values())],
        rows=[
            [count_shown(size), *(count_shown(points[place]["tokens_per_s"]) for points in both)]
            for place, size in enumerate(sizes)
        ],
    )


def _efficiency_chart(growth: Result) -> Chart:
    data = [
        line(NAMES[name], [p["accelerators"] for p in one["points"]],
             [None if p["efficiency"] is None else 100 * p["efficiency"] for p in one["points"]], dash=dash)
        for (name, one), dash in zip(growth.items(), ("solid", "dash"), strict=True)
    ]  # fmt: skip
    sizes = [p["accelerators"] for p in growth[SUPERNODE]["points"]]
    return Chart(
        id="efficiency",
        title=_("Efficiency of growth"),
        summary=_(
            "Throughput per accelerator against the first size that runs; below 85 % look at the interconnect."
        ),
        figure={
            "data": data,
            "layout": axes(_("accelerators"), _("efficiency, %"), log_x=True, from_zero=False),
        },
        columns=[_("Accelerators"), *NAMES.values()],
        rows=[
            [count_shown(size), *(show_share(one["points"][place]["efficiency"]) for one in growth.values())]
            for place, size in enumerate(sizes)
        ],
    )


def _growth_table(name: str, points: Sequence[Result]) -> Table:
    return Table(
        title=_("Each size, %(kind)s") % {"kind": NAMES[name]},
        columns=[_("Accelerators"), _("Tokens per second"), _("Efficiency"), _("Step"), "MFU", _("Memory"),
                 _("Limited by")],
        rows=[_row(count_shown(point["accelerators"]), point) for point in points],
    )  # fmt: skip


def _row(first: Any, point: Result) -> list[Any]:
    if not point["tokens_per_s"]:
        nothing: dict[str, Any] = {"verdict": "fail", "label": _("nothing fits")}
        return [first, nothing, *(["—"] * 5)]
    return [
        {"name": first, "note": point["layout"]},
        count_shown(point["tokens_per_s"]),
        show_share(point["efficiency"]),
        show_seconds(point["iteration_time_s"]),
        show_share(point["mfu"]),
        show_bytes(point["peak_bytes"]),
        BOTTLENECKS[point["bottleneck"]],
    ]


def _shape_word(name: str) -> str:
    if name == FULL:
        return _("full mesh")
    if name.startswith(HOSTS):
        return _("hosts of %(cards)s") % {"cards": name.removeprefix(HOSTS).strip()}
    return name


def _shapes_chart(values: Values, shapes: Sequence[Result]) -> Chart:
    names = [_shape_word(point["shape"]) for point in shapes]
    shares = [None if p["efficiency"] is None else round(100 * p["efficiency"], 3) for p in shapes]
    said = {"cards": count_shown(values["joined"])}
    return Chart(
        id="shapes",
        title=_("%(cards)s accelerators, joined in different ways") % said,
        summary=_("Throughput against the full mesh; 2:1 means half of the bandwidth between sub-domains."),
        figure={
            "data": [{"type": "bar", "x": names, "y": shares, "name": _("of the full mesh, %")}],
            "layout": axes("", _("of the full mesh, %")),
        },
        columns=[_("Shape"), _("Against the full mesh")],
        rows=[[name, show_share(point["efficiency"])] for name, point in zip(names, shapes, strict=True)],
    )


def _shapes_table(values: Values, shapes: Sequence[Result]) -> Table:
    said = {"cards": count_shown(values["joined"])}
    return Table(
        title=_("Ways to join %(cards)s accelerators") % said,
        columns=[_("Shape"), _("Tokens per second"), _("Against the full mesh"), _("Step"), "MFU", _("Memory"),
                 _("Limited by")],
        rows=[_row(_shape_word(point["shape"]), point) for point in shapes],
        icon="topology-star-3",
    )  # fmt: skip


def _figures(growth: Result) -> Iterator[Figure]:
    running = _running(growth[SUPERNODE]["points"])
    if running:
        rate, efficiency = count_shown(running[-1]["tokens_per_s"]), show_share(running[-1]["efficiency"])
        yield Figure(key="scaling.throughput", name=_("Throughput at the largest size"), value=rate)
        yield Figure(key="scaling.efficiency", name=_("Efficiency of growth"), value=efficiency)
        limit = str(BOTTLENECKS[running[-1]["bottleneck"]])
        yield Figure(key="scaling.bottleneck", name=_("Limited by"), value=limit)
