"""What the answer of a study is shown as: blocks that one template draws, each with the same data in words."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar, TypeAlias

from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.speech import said
from apps.core.texts import kept, of_row
from apps.planning.engine.study_terms import STUDY_TERMS
from apps.planning.input_words import ASSUMED, shown_value

Text: TypeAlias = "str | Promise"


@dataclass(frozen=True, slots=True, kw_only=True)
class Stat:
    """One figure that answers the question."""

    label: Text
    value: Text
    unit: Text = ""
    note: Text = ""
    verdict: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Stats:
    """The figures that answer the question, side by side."""

    kind: ClassVar[str] = "stats"
    stats: Sequence[Stat]


@dataclass(frozen=True, slots=True, kw_only=True)
class Table:
    """Rows under columns; the first cell names the row, the others are figures unless `words`.

    A first cell may be {"name", "note"}; another one may be {"verdict", "label"}.
    """

    kind: ClassVar[str] = "table"
    title: Text
    columns: Sequence[Text]
    rows: Sequence[Sequence[Any]]
    icon: str = "list-details"
    subtitle: Text = ""
    words: bool = False

    @property
    def labelled(self) -> list[list[tuple[Text, Any]]]:
        """The rows with the heading beside each cell, as phones show them."""
        return [list(zip(self.columns, row, strict=True)) for row in self.rows]


@dataclass(frozen=True, slots=True, kw_only=True)
class Chart:
    """A Plotly figure and its table twin. The summary says in one sentence what is to be seen."""

    kind: ClassVar[str] = "chart"
    id: str
    title: Text
    summary: Text
    figure: Mapping[str, Any]
    columns: Sequence[Text]
    rows: Sequence[Sequence[Any]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Bars:
    """Parts of wholes, one bar each; `limit` is a line across them in the unit of the parts."""

    kind: ClassVar[str] = "bars"
    title: Text
    bars: Sequence[Mapping[str, Any]]
    scale: float | None = None
    limit: float | None = None
    limit_label: Text = ""
    icon: str = "stack-2"


@dataclass(frozen=True, slots=True, kw_only=True)
class Note:
    """A sentence that must not be missed."""

    kind: ClassVar[str] = "note"
    tone: str
    title: Text
    text: Text = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Figure:
    """One figure of the result: its name, its value in words, and the formula that gives it."""

    key: str
    name: Text
    value: Text

    @property
    def formula(self) -> str:
        """How it is computed."""
        return said(STUDY_TERMS[self.key].formula)

    @property
    def source(self) -> str:
        """Who says so."""
        return said(STUDY_TERMS[self.key].source)


@dataclass(frozen=True, slots=True, kw_only=True)
class Figures:
    """All figures of the result, each with its formula and source."""

    kind: ClassVar[str] = "figures"
    title: Text
    figures: Sequence[Figure]


@dataclass(frozen=True, slots=True, kw_only=True)
class Assumptions:
    """What the result rests on, with value, source and how sure that is."""

    kind: ClassVar[str] = "assumptions"
    rows: Sequence[Mapping[str, Any]]

    @property
    def shown(self) -> list[dict[str, Any]]:
        """The rows with names, values and confidence in words; `code` is the name where there is a word for it."""
        return [
            {
                **row,
                "name": ASSUMED.get(row["name"], row["name"]),
                "code": row["name"] if row["name"] in ASSUMED else "",
                "value": _plain(row["name"], row["value"]),
                "source": said(of_row(row, "source")),
                "confidence": CONFIDENCE.get(row["confidence"], row["confidence"]),
            }
            for row in self.rows
        ]


Block = Stats | Table | Chart | Bars | Note | Figures | Assumptions


def line(
    name: Text, x: Iterable[Any], y: Iterable[float | None], *, dash: str = "solid", marks: bool = True
) -> dict[str, Any]:
    """A line of a chart; its dash and marks tell it apart without colour."""
    return {
        "type": "scatter",
        "mode": "lines+markers" if marks else "lines",
        "name": str(name),
        "x": list(x),
        "y": [None if value is None else float(f"{value:.6g}") for value in y],
        "line": {"dash": dash},
    }


def axes(
    x: Text, y: Text, *, log_x: bool = False, log_y: bool = False, from_zero: bool = True
) -> dict[str, Any]:
    """The layout of a chart with titles of both axes; y starts at zero unless logarithmic, or `from_zero` is off."""
    from_y = {"type": "log"} if log_y else {"rangemode": "tozero"} if from_zero else {}
    return {
        "xaxis": {"title": {"text": str(x)}, **({"type": "log"} if log_x else {})},
        "yaxis": {"title": {"text": str(y)}, **from_y},
        "legend": {"orientation": "h", "y": 1.15},
    }


@dataclass(slots=True)
class Assumed:
    """Collects what a study assumes while it computes."""

    rows: list[dict[str, Any]] = field(default_factory=list)

    def add(self, name: str, value: Any, source: str, confidence: str) -> None:
        """confidence: a key of CONFIDENCE, such as given, measured, published, or the catalogue's own."""
        row = {"name": name, "value": value, "source": source, "confidence": confidence}
        self.rows.append(row | kept(source))


def _plain(name: str, value: Any) -> Any:
    if name == "peak_flops":
        return f"{value / 1e12:,.4g} TFLOP/s"
    known = shown_value(name, value)
    return said(value) if known is value else known


CONFIDENCE = {
    "given": _l("given by you"),
    "measured": _l("measured"),
    "vendor_doc": _l("vendor's document"),
    "vendor_doc_sibling": _l("vendor's document of a sibling"),
    "vendor_secondary": _l("vendor, second hand"),
    "third_party": _l("third party"),
    "reported": _l("reported"),
    "recalled": _l("recalled, not checked"),
    "unknown": _l("unknown"),
    "published": _l("published"),
    "derived": _l("derived"),
    "stated": _l("stated here"),
    "rule_of_thumb": _l("rule of thumb"),
}


def count_shown(value: float) -> str:
    """A count with thousands apart."""
    return f"{value:,.0f}"


def yes_no(value: bool) -> str:
    """A flag in words."""
    return _("yes") if value else _("no")
