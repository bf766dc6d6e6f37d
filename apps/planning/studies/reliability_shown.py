"""Reliability as its page shows it: useful time over the interval, closed form beside simulation, growth."""

from __future__ import annotations

from collections.abc import Iterator
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

MODES = {"synchronous": _l("synchronous saves"), "asynchronous": _l("asynchronous saves")}


def show(values: Values, result: Result) -> list[Block]:
    """Stats, the goodput over the interval, the table of both ways to save, and growth."""
    job, modes, low_high = result["job"], result["modes"], result["timeout_s"]
    best = max(modes.values(), key=lambda one: one["goodput"])
    spares = result["spares"]["needed"]
    stats = [
        Stat(label=_("Any failure in a week"), value=show_share(job["p_any_week"]), note=_nodes_alone(result)),
        Stat(label=_("Mean time between failures"), value=_span(job["mtbf_s"])),
        Stat(label=_("Save every"), value=_span(modes["synchronous"]["best_s"]),
             note=_("asynchronous: %(span)s") % {"span": _span(modes["asynchronous"]["best_s"])}),
        Stat(label=_("Useful time"), value=show_share(best["goodput"]), note=_simulated(best)),
        Stat(label=_("Spare nodes"), value="?" if spares is None else str(spares)),
        Stat(label=_("Time-out"), value=f"{low_high[0]:g}–{low_high[1]:g}", unit="s", note=_("50 to 100 % above")),
    ]  # fmt: skip
    return [
        Stats(stats=stats),
        *_notes(result),
        *_goodput_chart(modes),
        _mode_table(modes),
        _growth_chart(result["growth"]),
        Figures(title=_("How it is computed"), figures=list(_figures(result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _nodes_alone(result: Result) -> str:
    return _("nodes alone: %(share)s") % {"share": f"{100 * result['nodes']['p_any_week']:.3f} %"}


def _span(seconds: float | None) -> str:
    return _("never") if seconds is None else show_seconds(seconds)


def _simulated(mode: Result) -> str:
    drawn = mode["simulated"]
    return _("simulated: %(share)s") % {"share": show_share(drawn["mean"])} if drawn else ""


def _notes(result: Result) -> Iterator[Note]:
    worst = min(mode["goodput"] for mode in result["modes"].values())
    if worst < 0.9:
        text = _("The published run on 16,384 accelerators kept above 90 %. Save asynchronously, or faster.")
        yield Note(tone="warn", title=_("Less than 90 % of the time is useful work"), text=text)


def _goodput_chart(modes: Result) -> Iterator[Chart]:
    curves = {name: mode["curve"] for name, mode in modes.items() if mode["curve"]}
    if not curves:
        return
    data = [
        line(MODES[name], (p[0] / 60 for p in curve), (100 * p[1] for p in curve), marks=False, dash=dash)
        for (name, curve), dash in zip(curves.items(), ("solid", "dash"), strict=False)
    ]
    yield Chart(
        id="goodput",
        title=_("Useful time over the interval between saves"),
        summary=_(
            "Saving too often costs stalls, too seldom costs lost work; the best interval lies between."
        ),
        figure={
            "data": data,
            "layout": axes(_("interval, minutes"), _("useful time, %"), log_x=True, from_zero=False),
        },
        columns=[_("Saves"), _("Interval"), _("Useful time")],
        rows=[
            [MODES[name], show_seconds(p[0]), show_share(p[1])]
            for name, curve in curves.items()
            for p in curve[:: max(1, len(curve) // 8)]
        ],
    )


def _mode_table(modes: Result) -> Table:
    names = {
        "stall_s": _("stall of a save"),
        "drain_s": _("until a save is safe"),
        "young_s": _("interval, Young"),
        "daly_s": _("interval, Daly"),
        "availability_s": _("interval of best availability"),
        "best_s": _("interval to use: Young's, but not below the drain"),
    }
    rows: list[list[Any]] = [
        [word, *(_span(mode[key]) for mode in modes.values())] for key, word in names.items()
    ]
    rows.append([_("useful time, closed form"), *(show_share(mode["goodput"]) for mode in modes.values())])
    drawn = [mode["simulated"] for mode in modes.values()]
    rows.append([_("useful time, simulated"), *(show_share(one["mean"]) if one else "—" for one in drawn)])
    rows.append([_("nine of ten simulated runs"), *(_between(one) if one else "—" for one in drawn)])
    return Table(title=_("Closed form beside simulation"), columns=["", *MODES.values()], rows=rows)


def _between(simulated: Result) -> str:
    return f"{100 * simulated['low']:.1f} – {100 * simulated['high']:.1f} %"


def _growth_chart(growth: list[list[float]]) -> Chart:
    nodes, chances = [row[0] for row in growth], [100 * row[1] for row in growth]
    return Chart(
        id="growth",
        title=_("Any failure in a week, by number of nodes"),
        summary=_("More nodes fail more often: from some size on every week has a failure."),
        figure={
            "data": [line(_("any failure"), nodes, chances)],
            "layout": axes(_("nodes"), _("probability, %"), log_x=True),
        },
        columns=[_("Nodes"), _("Any failure in a week"), _("Mean time between failures")],
        rows=[[count_shown(n), f"{100 * p:.3f} %", _span(m or None)] for n, p, m in growth],
    )


def _figures(result: Result) -> Iterator[Figure]:
    sync = result["modes"]["synchronous"]
    yield Figure(
        key="reliability.p_any",
        name=_("Any failure in the period"),
        value=show_share(result["job"]["p_any_period"]),
    )
    yield Figure(
        key="reliability.mtbf", name=_("Mean time between failures"), value=_span(result["job"]["mtbf_s"])
    )
    yield Figure(
        key="reliability.checkpoint",
        name=_("Size of a checkpoint"),
        value=show_bytes(result["checkpoint_bytes"]),
    )
    yield Figure(key="reliability.young", name=_("Interval, Young"), value=_span(sync["young_s"]))
    yield Figure(key="reliability.daly", name=_("Interval, Daly"), value=_span(sync["daly_s"]))
    yield Figure(
        key="reliability.availability",
        name=_("Interval of best availability"),
        value=_span(sync["availability_s"]),
    )
    yield Figure(
        key="reliability.goodput", name=_("Useful time, synchronous"), value=show_share(sync["goodput"])
    )
    yield Figure(
        key="reliability.spares", name=_("A node is down"), value=show_share(result["spares"]["p_down"])
    )
    low, high = result["timeout_s"]
    yield Figure(key="reliability.timeout", name=_("Time-out of collectives"), value=f"{low:g}–{high:g} s")
