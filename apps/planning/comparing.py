"""Up to four plan versions side by side: what was asked, what came out, and which is best in each row."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.core.units import show_bytes, show_seconds, show_share
from apps.planning.documents import in_order, spec_of
from apps.planning.input_words import LAYOUT, MODEL, SYSTEM, Words
from apps.planning.models import PlanVersion
from apps.planning.page import asked_of, memory_parts, value_rows
from apps.planning.words import TIME

MOST = 4
_Figure = tuple[str | Promise, Callable[[dict[str, Any]], float | None], Callable[[float], str], int]


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One line of the comparison: a cell per version. best: places of the best cells, empty where none is better."""

    name: str | Promise
    cells: list[Any]
    best: frozenset[int] = frozenset()

    @property
    def differs(self) -> bool:
        return any(cell != self.cells[0] for cell in self.cells)

    @property
    def marked(self) -> list[tuple[Any, bool]]:
        """Each cell, and whether it is among the best."""
        return [(cell, place in self.best) for place, cell in enumerate(self.cells)]


def _part_of_step(key: str) -> Callable[[dict[str, Any]], float | None]:
    return lambda result: result["time"].get(key)


def _count(value: float) -> str:
    return f"{value:,.0f}"


# Name, where the figure stands in a result, how it is shown, and whether more (1) or less (-1) is better.
_FIGURES: tuple[_Figure, ...] = (
    (_("tokens per second"), lambda r: r["tokens_per_s"], _count, 1),
    (_("time of a step"), lambda r: r["iteration_time_s"], show_seconds, -1),
    (_("at best"), lambda r: r["iteration_time_low_s"], show_seconds, -1),
    (_("at worst"), lambda r: r["iteration_time_high_s"], show_seconds, -1),
    ("MFU", lambda r: r["mfu"], show_share, 1),
    (_("memory of the fullest"), lambda r: r["memory"]["peak_bytes"], show_bytes, -1),
    (_("free memory there"), lambda r: r["memory"]["headroom_share"], show_share, 1),
    (
        _("communication not hidden"),
        lambda r: r["time"]["exposed_communication_s"],
        show_seconds,
        -1,
    ),
    *((word, _part_of_step(key), show_seconds, -1) for key, word in TIME.items()),
)


def parameter_rows(versions: Sequence[PlanVersion]) -> list[Row]:
    """What was asked, key by key: model, system, layout."""
    inputs = [in_order(version.input) for version in versions]
    return [
        *_rows([one["model"] for one in inputs], MODEL),
        *_rows([one["system"] for one in inputs], SYSTEM),
        *_rows([asked_of(one) for one in inputs], LAYOUT),
    ]


def result_rows(versions: Sequence[PlanVersion]) -> list[Row]:
    """What came out; a version without an estimate has no figures.

    What does not fit is in no contest. Figures of different models are none either, nor are times of steps that
    train a different number of tokens.
    """
    results = [v.result if v.result and "memory" in v.result else None for v in versions]
    fitting = {place: version for place, version in enumerate(versions) if version.fits}
    same_model = _all_equal(spec_of(version.input["model"]) for version in fitting.values())
    same_step = same_model and _all_equal(_tokens_of_step(version) for version in fitting.values())
    rows = []
    for name, figure, shown, direction in _FIGURES:
        is_open = same_step if shown is show_seconds else same_model
        rows.append(
            _figure_row(results, frozenset(fitting if is_open else ()), name, figure, shown, direction)
        )
    return [row for row in rows if any(cell != "?" for cell in row.cells)]


def _all_equal(values: Iterable[Any]) -> bool:
    known = list(values)
    return all(value == known[0] for value in known)


def _tokens_of_step(version: PlanVersion) -> int:
    layout = version.input["parallel"]
    return int(layout["global_batch"] * layout["seq_len"])


def memory_bars(versions: Sequence[PlanVersion]) -> list[dict[str, Any]]:
    """The fullest accelerator of each version as a bar, all on one scale, in bytes."""
    ledgers = [(v, v.result["memory"]) for v in versions if v.result and "memory" in v.result]
    scale = max((max(m["capacity_bytes"], m["peak_bytes"]) for _v, m in ledgers), default=0.0)
    return [
        {
            "name": str(version),
            "parts": memory_parts(max(memory["stages"], key=lambda stage: stage["total_bytes"])),
            "limit": memory["capacity_bytes"] * (1.0 - memory["reserve_share"]),
            "scale": scale,
            "peak_bytes": memory["peak_bytes"],
        }
        for version, memory in ledgers
    ]


def _rows(inputs: Sequence[dict[str, Any]], words: Words) -> list[Row]:
    said = [{str(row["name"]): row["value"] for row in value_rows(one, words)} for one in inputs]
    names = dict.fromkeys(name for one in said for name in one)
    return [Row(name=name, cells=[one.get(name, "—") for one in said]) for name in names]


def _figure_row(
    results: Sequence[dict[str, Any] | None],
    contestants: frozenset[int],
    name: str | Promise,
    figure: Callable[[dict[str, Any]], float | None],
    shown: Callable[[float], str],
    direction: int,
) -> Row:
    """direction: 1 where more is better, -1 where less is. contestants: places that may be called the best."""
    values = [figure(result) if result else None for result in results]
    if not any(values):
        return Row(name=name, cells=["?"] * len(values))
    cells = ["?" if value is None else shown(value) for value in values]
    ranked = {place: value * direction for place, value in enumerate(values) if value is not None}
    contest = {place: value for place, value in ranked.items() if place in contestants}
    if len({cells[place] for place in contest}) < 2:
        return Row(name=name, cells=cells)
    top = max(contest.values())
    return Row(
        name=name, cells=cells, best=frozenset(place for place, value in contest.items() if value == top)
    )
