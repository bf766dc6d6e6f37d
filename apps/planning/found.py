"""What a search found, as its page shows it: rows that the address filters, the front, and why the rest fail."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import urlencode

from django import forms
from django.http import QueryDict
from django.utils.functional import Promise
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.filtering import refuse_unknown
from apps.core.speech import said
from apps.core.units import GB
from apps.planning.documents import configuration_words
from apps.planning.engine.rules import REASONS
from apps.planning.input_words import shown_value
from apps.planning.near import near_context
from apps.planning.words import FOUND_NAMES, REJECTED

Row = Mapping[str, Any]

SIZES = ("accelerators", "tp", "pp", "vpp", "dp", "cp", "ep", "micro_batch")
CHOICES = (*SIZES, "zero", "recompute", "schedule", "placement")
COLUMNS = (
    *("place", "accelerators", "tp", "pp", "vpp", "dp", "cp", "ep", "etp", "micro_batch", "global_batch"),
    *("zero", "recompute", "sequence_parallel", "schedule", "placement"),
    *("step_s", "tokens_per_s", "mfu", "peak_bytes", "headroom"),
    *("cost_per_million_tokens", "energy_j_per_token", "pareto"),
)


class FoundFilter(forms.Form):
    """Which of the layouts found are shown; every field is a name in the address, and empty means any.

    rows: all layouts found; they give the choices. Fields that could only choose what all have are left out.
    """

    pareto = forms.ChoiceField(
        choices=[("", _l("all")), ("true", _l("unbeaten only"))], required=False, label=_l("Unbeaten")
    )
    min_free = forms.FloatField(
        min_value=0, max_value=100, required=False, label=_l("Free memory, at least %")
    )

    def __init__(self, asked: QueryDict, rows: Sequence[Row]) -> None:
        refuse_unknown(None, asked, also=frozenset({*CHOICES, *self.base_fields}))
        super().__init__(asked, auto_id="found_%s")
        self.rows = rows
        own = {name: field for name in CHOICES if (field := _choice(name, rows, asked.get(name))) is not None}
        self.fields = own | self.fields

    @property
    def asked(self) -> dict[str, str]:
        """What the address asks for, by name."""
        return {name: value for name in self.fields if (value := self.data.get(name))}

    @property
    def is_used(self) -> bool:
        """Whether anything is asked for."""
        return bool(self.asked)

    @property
    def query(self) -> str:
        """The filters for the address of the same rows elsewhere, with its question mark; empty for all rows."""
        return f"?{urlencode(self.asked)}" if self.is_used else ""

    def chosen(self) -> list[Row]:
        """The rows that all filters let through; what cannot be read filters nothing and is said at its field."""
        self.is_valid()
        wanted = {name: value for name, value in self.cleaned_data.items() if value not in ("", None)}
        return [row for row in self.rows if all(_passes(row, *one) for one in wanted.items())]


def _choice(name: str, rows: Sequence[Row], asked: str | None) -> forms.ChoiceField | None:
    values = sorted({row[name] for row in rows})
    if len(values) < 2 and not asked:
        return None
    choices = [("", _("any")), *((str(value), shown_value(name, value)) for value in values)]
    return forms.ChoiceField(choices=choices, required=False, label=FOUND_NAMES[name])


def _passes(row: Row, name: str, value: Any) -> bool:
    if name == "min_free":
        return bool(100 * row["headroom"] >= value)
    if name == "pareto":
        return bool(row["pareto"])
    return str(row[name]) == value


def found_rows(result: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The layouts that a search lists, best first. What older engines did not say is None."""
    return [_row(place, best) for place, best in enumerate(result["best"], start=1)]


def _row(place: int, best: Mapping[str, Any]) -> dict[str, Any]:
    layout = best["configuration"]
    return {
        "place": place,
        "accelerators": layout["tp"] * layout["pp"] * layout["dp"] * layout["cp"],
        **configuration_words(layout),
        "step_s": best["iteration_time_s"],
        "tokens_per_s": best["tokens_per_s"],
        "mfu": best["mfu"],
        "headroom": best["memory"]["headroom_share"],
        "peak_bytes": best["memory"]["peak_bytes"],
        "cost_per_million_tokens": best.get("cost_per_million_tokens"),
        "energy_j_per_token": best.get("energy_j_per_token"),
        "pareto": best.get("pareto", False),
    }


def search_context(result: Mapping[str, Any], asked: QueryDict, *, priced: bool) -> dict[str, Any]:
    """What a search found, as far as the address asks for it, and why the rest failed. Raises Invalid.

    priced: whether the search was told what an accelerator hour costs; else costs are such hours.
    """
    rows = found_rows(result)
    wanted = FoundFilter(asked, rows)
    shown = wanted.chosen()
    return {
        "candidates_shown": f"{result['candidates']:,}",
        "feasible_shown": f"{result['feasible']:,}",
        "found_filter": wanted,
        "found_count": len(rows),
        "found_rows": shown,
        "listed_note": listed_note(result, rows),
        "figure": front_figure(shown),
        "figure_summary": _("Each point is a layout; those joined by the line are beaten by no other."),
        "is_priced": priced,
        "count_rows": [
            {
                **row,
                "cost_shown": show_cost(row["cost_per_million_tokens"], priced=priced),
                "energy_shown": show_energy(row["energy_j_per_token"]),
            }
            for row in best_by_count(rows)
        ],
        "rejected_rows": list(_rejected(result)),
        **near_context(result),
    }


def listed_note(result: Mapping[str, Any], rows: Sequence[Row]) -> str:
    """Which of the layouts that run and fit are listed; empty where all of them are."""
    values = {"listed": f"{len(rows):,}", "feasible": f"{result['feasible']:,}"}
    if len(rows) == result["feasible"]:
        return ""
    if len({row["accelerators"] for row in rows}) > 1:
        return (
            _(
                "The best %(listed)s of %(feasible)s are listed, with the best on each number of accelerators "
                "among them."
            )
            % values
        )
    return _("The best %(listed)s of %(feasible)s are listed.") % values


def found_csv(result: Mapping[str, Any], asked: QueryDict) -> list[Sequence[Any]]:
    """The layouts found that the filters of the address let through, as rows for a CSV file, header first.

    Raises Invalid for names that are no filters.
    """
    chosen = FoundFilter(asked, found_rows(result)).chosen()
    return [COLUMNS, *([row[name] for name in COLUMNS] for row in chosen)]


def show_cost(per_million: float | None, *, priced: bool) -> str:
    """The cost of a million tokens: as the prices are, or accelerator hours."""
    if per_million is None:
        return "?"
    return _three_digits(per_million) if priced else f"{_three_digits(per_million)} h"


def show_energy(joules: float | None) -> str:
    """The energy of a token."""
    return "?" if joules is None else f"{_three_digits(joules)} J"


def _three_digits(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:#.3g}".removesuffix(".")


def best_by_count(rows: Sequence[Row]) -> list[Row]:
    """The best layout with each number of accelerators, most first; none where there is one number only."""
    first: dict[int, Row] = {}
    for row in rows:
        first.setdefault(row["accelerators"], row)
    return [first[count] for count in sorted(first, reverse=True)] if len(first) > 1 else []


def _rejected(result: Mapping[str, Any]) -> Iterator[dict[str, Any]]:
    for code, count in sorted(result["rejected"].items(), key=lambda item: -item[1]):
        share = count / result["candidates"] if result["candidates"] else 0.0
        yield {"reason": rejected_word(code), "code": code, "count": count, "share": share}


def rejected_word(code: str) -> str | Promise:
    """Why a layout was rejected, in words."""
    return REJECTED.get(code) or (said(REASONS[code][1]) if code in REASONS else code)


def front_figure(rows: Sequence[Row]) -> dict[str, Any]:
    """Tokens per second over memory of the fullest accelerator, with the layouts that no other beats joined."""
    front = sorted((row for row in rows if row["pareto"]), key=lambda row: row["peak_bytes"])
    rest = [row for row in rows if not row["pareto"]]
    return {
        "data": [
            _points(_("unbeaten"), front, mode="lines+markers"),
            _points(_("others"), rest, mode="markers"),
        ],
        "layout": {
            "xaxis": {"title": {"text": _("memory of the fullest accelerator, GB")}},
            "yaxis": {"title": {"text": _("tokens per second")}},
            "legend": {"orientation": "h", "y": 1.12},
        },
    }


def _points(name: str, rows: Sequence[Row], *, mode: str) -> dict[str, Any]:
    return {
        "type": "scatter",
        "mode": mode,
        "name": name,
        "x": [round(row["peak_bytes"] / GB, 2) for row in rows],
        "y": [round(row["tokens_per_s"]) for row in rows],
        "text": [f"#{row['place']} TP{row['tp']} PP{row['pp']} DP{row['dp']}" for row in rows],
    }
