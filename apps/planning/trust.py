"""What the validation page shows: predicted over measured, errors by source, and the rows that are furthest off."""

from __future__ import annotations

from typing import Any

from django.utils.translation import gettext as _

from apps.core.speech import said
from apps.core.units import show_change, show_seconds, show_share
from apps.planning.bar_words import bar_rows, held_out_rows
from apps.planning.engine.validation import Comparison, SourceSummary
from apps.planning.queries.validation import Validation

FURTHEST = 8


def validation_context(found: Validation) -> dict[str, Any]:
    """Everything that the page shows."""
    furthest = sorted(found.runs, key=lambda run: -abs(run.error))[:FURTHEST]
    return {
        "overall": _shown(found.overall),
        "sources": [_shown(source) for source in found.sources],
        "groups": [
            {
                "name": " · ".join(part for part in group.group if part),
                "count": group.count,
                "spearman": f"{group.spearman:.2f}",
                "regret": show_share(group.regret),
            }
            for group in found.groups
        ],
        "bars": bar_rows(found.runs),
        "held_out": held_out_rows(found.runs),
        "furthest": [_run(run) for run in furthest],
        "skipped": [{"reason": said(reason), "count": len(ids)} for reason, ids in found.skipped.items()],
        "skipped_count": sum(map(len, found.skipped.values())),
        "figure": figure(found),
        "columns": [_("run"), _("source"), _("measured"), _("predicted"), _("error")],
        "rows": [list(_run(run).values())[:5] for run in found.runs],
        "summary": _(
            "%(count)s published runs: the mean error of a step is %(error)s, and %(covered)s of them lie inside "
            "the interval."
        )
        % {
            "count": found.overall.count,
            "error": show_share(found.overall.mean_absolute_error),
            "covered": show_share(found.overall.coverage),
        },
    }


def figure(found: Validation) -> dict[str, Any]:
    """Predicted over measured seconds on logarithmic axes, a series for each publication, and where they are equal."""
    seconds = [value for run in found.runs for value in (run.measured_s, run.predicted_s)]
    ends = [min(seconds), max(seconds)]
    published: dict[str, list[Comparison]] = {}
    for run in found.runs:
        published.setdefault(_publication(run.source), []).append(run)
    series = [
        {
            "type": "scatter",
            "mode": "markers",
            "name": name,
            "x": [round(run.measured_s, 4) for run in runs],
            "y": [round(run.predicted_s, 4) for run in runs],
            "text": [run.id for run in runs],
        }
        for name, runs in published.items()
    ]
    equal = {
        "type": "scatter",
        "mode": "lines",
        "name": _("equal"),
        "x": ends,
        "y": ends,
        "line": {"dash": "dot"},
    }
    return {
        "data": [*series, equal],
        "layout": {
            "xaxis": {"type": "log", "title": {"text": _("measured step, seconds")}},
            "yaxis": {"type": "log", "title": {"text": _("predicted step, seconds")}},
            "legend": {"orientation": "h", "y": -0.25},
        },
    }


def _publication(source: str) -> str:
    """A source without its issue and its place within, so that a legend has room for it on a phone."""
    return source.partition(", ")[0].partition(" (")[0]


def _shown(summary: SourceSummary) -> dict[str, Any]:
    return {
        "name": summary.source,
        "count": summary.count,
        "error": show_share(summary.mean_absolute_error),
        "median": show_share(summary.median_absolute_error),
        "bias": show_change(summary.bias),
        "coverage": show_share(summary.coverage),
    }


def _run(run: Comparison) -> dict[str, Any]:
    return {
        "id": run.id,
        "source": run.source,
        "measured": show_seconds(run.measured_s),
        "predicted": show_seconds(run.predicted_s),
        "error": show_change(run.error),
        "covered": run.covered,
    }
