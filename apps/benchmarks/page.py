"""What the page of one run shows, as plain values: verdict in words, curve, table, and what may be decided."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.benchmarks import queries
from apps.benchmarks.engine.acceptance import MIN_BUSBW_SHARE, Acceptance
from apps.benchmarks.engine.comparison import Comparison, curve
from apps.benchmarks.engine.ladder import Rung
from apps.benchmarks.engine.soak import Soak
from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.words import ADVICE, REASONS
from apps.core import clock
from apps.core.actor import Actor, Via
from apps.core.rights import Right
from apps.core.speech import listed, said
from apps.core.units import GB, show_bandwidth, show_binary_bytes, show_share
from apps.core.verdicts import Verdict
from apps.evidence.queries import receipts_visible

SHOWN_BREAKS = 3  # of what broke a soak


def run_context(actor: Actor, run: BenchmarkRun, other: BenchmarkRun | None = None) -> dict[str, Any]:
    """Everything that the page of a run shows. other: the run to compare with, None for the baseline in force."""
    baseline = queries.baseline_of(run.domain, run.collective) if run.domain and run.collective else None
    if other is None and baseline is not None and baseline.run_id != run.pk:
        other = baseline.run
    accepted, soaked = queries.acceptance_of(run), queries.soak_of(run, clock.now())
    comparison = queries.comparison_with(run, other) if other else None
    operates = actor.may(Right.OPERATE, run.cluster.scope_id)
    return {
        "run": run,
        "cluster": run.cluster,
        "acceptance": accepted,
        "soak": soaked,
        "soak_value": _("%(hours)s of %(needed)s h") % _soak_hours(soaked),
        "soak_note": soak_note(soaked),
        "reason_text": said(REASONS[accepted.reason.value]),
        "doubts": [{**doubt, "text": said(REASONS[doubt["code"]])} for doubt in run.doubts],
        "nodes": list(run.nodes.all()),
        "receipt": receipts_visible(actor).filter(sha256=run.sha256, scope=run.cluster.scope_id).first(),
        "baseline": baseline,
        "is_baseline": baseline is not None and baseline.run_id == run.pk,
        "other": other,
        "comparison": comparison,
        "is_slower": comparison.verdict if comparison and other and other.ranks == run.ranks else None,
        "figure": busbw_figure(run, other),
        "summary": chart_summary(run, accepted),
        "columns": point_columns(),
        "rows": point_rows(run),
        "may_state": operates
        and actor.via is Via.SESSION
        and (not run.collective or run.collective_stated_by_id is not None),
        "may_set_baseline": operates and run.domain is not None and accepted.verdict in ("pass", "warn"),
    }


def soak_note(soak: Soak) -> str:
    """What the soak of a run says so far, in words."""
    if soak.broken_by:
        return _("broken by %(what)s") % {"what": listed(said(one) for one in soak.broken_by[:SHOWN_BREAKS])}
    if soak.hours < soak.needed_hours:
        return _(
            "no link has degraded or dropped since the run; acceptance takes %(needed)s h"
        ) % _soak_hours(soak)
    if soak.verdict is not Verdict.PASS:
        over = ngettext(
            "over, but nobody looked at the links of %(n)d node since",
            "over, but nobody looked at the links of %(n)d nodes since",
            soak.unwatched,
        )
        return over % {"n": soak.unwatched}
    return _("no link degraded or dropped")


def _soak_hours(soak: Soak) -> dict[str, Any]:
    return {"hours": int(soak.hours), "needed": soak.needed_hours}


def busbw_figure(run: BenchmarkRun, other: BenchmarkRun | None) -> dict[str, Any]:
    """busbw over message size, with theory, the line of acceptance, and another run beside it."""
    series = [_line(_("this run"), curve(run.points), mode="lines+markers")]
    if other is not None:
        name = _("run #%(number)s") % {"number": other.pk}
        series.append(_line(name, curve(other.points), mode="lines+markers", dash="dash"))
    theory = run.domain.unidirectional_bytes_per_s if run.domain else None
    sizes = list(curve(run.points))
    if theory and sizes:
        ends = (sizes[0], sizes[-1])
        series.append(_line(_("theory"), dict.fromkeys(ends, theory), dash="dot"))
        needed = theory * MIN_BUSBW_SHARE
        label = _("80 % of theory")
        series.append(_line(label, dict.fromkeys(ends, needed), dash="dashdot"))
    return {
        "data": series,
        "layout": {
            "xaxis": {"type": "log", "title": {"text": _("message size, bytes")}, **_size_ticks(sizes)},
            "yaxis": {"rangemode": "tozero", "title": {"text": "busbw, GB/s"}},
            "legend": {"orientation": "h", "y": 1.12},
        },
    }


def _line(name: str, values: dict[int, float], *, mode: str = "lines", dash: str = "solid") -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": mode,
        "name": name,
        "x": list(values),
        "y": [round(value / GB, 3) for value in values.values()],
        "line": {"dash": dash},
    }


def _size_ticks(sizes: list[int]) -> dict[str, Any]:
    """Sizes in words at most eight places of the axis, in binary units, which is how the tool steps."""
    if not sizes:
        return {}
    step = max(1, -(-len(sizes) // 8))
    chosen = sizes[::step]
    return {"tickmode": "array", "tickvals": chosen, "ticktext": [show_binary_bytes(size) for size in chosen]}


def chart_summary(run: BenchmarkRun, accepted: Acceptance) -> str:
    """What is to be seen in the chart, in one sentence."""
    if run.busbw_bytes_per_s is None or run.max_size_bytes is None:
        return _("The output holds no bandwidth.")
    said = {
        "busbw": show_bandwidth(run.busbw_bytes_per_s),
        "size": show_binary_bytes(run.max_size_bytes),
        "share": show_share(accepted.share),
    }
    if accepted.share is None:
        return _("At the largest size, %(size)s, the bus bandwidth is %(busbw)s.") % said
    return _("At the largest size, %(size)s, the bus bandwidth is %(busbw)s: %(share)s of theory.") % said


def point_columns() -> list[str]:
    return [
        _("size"),
        _("bytes"),
        _("type"),
        _("time out of place, µs"),
        _("busbw out of place, GB/s"),
        _("time in place, µs"),
        _("busbw in place, GB/s"),
        _("wrong"),
    ]


def point_rows(run: BenchmarkRun) -> list[list[Any]]:
    """The rows of the tool's table, both columns, as printed."""
    return [_point_row(point) for point in run.points]


def _point_row(point: dict[str, Any]) -> list[Any]:
    out, inside = point.get("out_of_place") or {}, point.get("in_place") or {}
    wrong = [value for value in (out.get("wrong"), inside.get("wrong")) if value is not None]
    return [
        show_binary_bytes(point["size_bytes"]),
        point["size_bytes"],
        point.get("dtype"),
        out.get("time_us"),
        out.get("busbw_gbps"),
        inside.get("time_us"),
        inside.get("busbw_gbps"),
        sum(wrong) if wrong else None,
    ]


def ladder_rows(rungs: tuple[Rung, ...]) -> list[dict[str, Any]]:
    """Rungs as a page shows them, each with the width of its bar as a share of the fastest."""
    most = max((rung.busbw_bytes_per_s for rung in rungs), default=0.0)
    return [
        {
            "rung": rung,
            "parts": [
                {
                    "label": "busbw",
                    "value": rung.busbw_bytes_per_s,
                    "shown": show_bandwidth(rung.busbw_bytes_per_s),
                }
            ],
            "scale": most,
            "advice": ADVICE[rung.step.advice.value] if rung.step else "",
        }
        for rung in rungs
    ]


def comparison_rows(comparison: Comparison) -> list[list[str]]:
    """Both runs at the sizes that they share."""
    return [
        [
            show_binary_bytes(pair.size_bytes),
            show_bandwidth(pair.busbw_bytes_per_s),
            show_bandwidth(pair.baseline_bytes_per_s),
            show_share(pair.ratio),
        ]
        for pair in comparison.pairs
    ]
