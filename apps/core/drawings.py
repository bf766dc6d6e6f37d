"""Bars of parts, drawn on the server as SVG: placed by attributes, never styles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.template import Library
from django.template.loader import render_to_string
from django.utils.safestring import SafeString

from apps.core.speech import listed

WIDTH = 1000.0  # of every drawing, in its own coordinates
SERIES = 6  # colours of parts, repeated with another texture


def stacked(
    parts: Sequence[dict[str, Any]],
    *,
    label: str,
    limit: float | None = None,
    limit_label: str = "",
    scale: float | None = None,
    legend: bool = True,
) -> SafeString:
    """Parts of a whole as one bar, with a list that says each in words.

    parts: {"label", "value", "shown"} each, value in one unit, shown as people read it. limit: where a line is
    drawn, in the same unit. scale: value at the right end, so that several bars can be compared; else the
    larger of the sum and the limit. legend: False leaves the list out, where a table beside it says the same;
    the label then names the parts to readers without eyes.
    """
    total = sum(part["value"] for part in parts)
    end = scale or max(total, limit or 0.0) or 1.0
    drawn, at = [], 0.0
    for number, part in enumerate(parts):
        width = part["value"] / end * WIDTH
        drawn.append({**part, "x": at, "width": width, "series": number % SERIES + 1})
        at += width
    return render_to_string(
        "components/stacked.html",
        {
            "parts": drawn,
            "label": label if legend else f"{label}: {_in_words(parts)}",
            "legend": legend,
            "limit_x": None if limit is None else min(limit / end, 1.0) * WIDTH,
            "limit_label": limit_label,
            "over": limit is not None and total > limit,
        },
    )


def _in_words(parts: Sequence[dict[str, Any]]) -> str:
    return listed(f"{part['label']} {part['shown']}" for part in parts)


def register_on(register: Library) -> None:
    """Make the drawing a tag of a library."""
    register.simple_tag(stacked)
