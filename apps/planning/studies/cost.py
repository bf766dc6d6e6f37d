"""Cost of a cluster: total cost of ownership, a million tokens, one more block, and what price moves it most."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.texts import say
from apps.core.units import show_change
from apps.planning.engine import cost as engine
from apps.planning.engine.cost import Block as Size
from apps.planning.engine.cost import Prices
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
)
from apps.planning.studies.prices import PriceFields, prices_of, start_prices

PARTS = {
    "capital": _l("depreciation"),
    "interest": _l("interest"),
    "energy": _l("energy"),
    "upkeep": _l("upkeep"),
}
PRICES = {
    "capital_per_card": _l("price of an accelerator with its share"),
    "years": _l("years in use"),
    "energy_per_kwh": _l("price of energy"),
    "it_kw_per_card": _l("power of an accelerator with its share"),
    "pue": "PUE",
    "upkeep_share_per_year": _l("upkeep"),
    "tokens_per_s": _l("throughput"),
}


class CostForm(PriceFields):
    """Cards, what they do, what they cost, and the next size."""

    start = start_prices() | {
        "cards": 144, "tokens_per_s": 170000, "goodput_percent": 95, "cards_next": 288,
        "tokens_per_s_next": 330000, "other_capital_per_card": 30000,
    }  # fmt: skip
    groups = (
        (_l("Cluster"), ("cards", "tokens_per_s", "goodput_percent", "cards_next", "tokens_per_s_next")),
        PriceFields.price_group,
        (_l("Beside it"), ("other_capital_per_card",)),
    )

    cards = f.whole(_l("Accelerators"))
    tokens_per_s = f.number(_l("Tokens per second"), least=1e-6)
    goodput_percent = f.number(_l("Useful time"), least=1, most=100, unit="%")
    cards_next = f.whole(_l("Accelerators of the next size"), required=False)
    tokens_per_s_next = f.number(_l("Its tokens per second"), least=1e-6, required=False)
    other_capital_per_card = f.number(
        _l("Price of an accelerator in an ordinary cluster"),
        required=False,
        help_text=_l("How much faster must the supernode be to pay?"),
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        larger = data.get("cards_next")
        if larger is not None and larger <= (data.get("cards") or 0):
            self.add_error("cards_next", _("The next size has more accelerators."))
        if (larger is None) != (data.get("tokens_per_s_next") is None) and not self.errors:
            self.add_error("tokens_per_s_next", _("Say both accelerators and throughput of the next size."))
        return data


def compute(values: Values) -> Result:
    """Cost in the currency of the prices, as JSON values."""
    prices, cards = prices_of(values), values["cards"]
    goodput = values["goodput_percent"] / 100
    useful = values["tokens_per_s"] * goodput
    yearly = engine.yearly_cost(prices, cards)
    return {
        "yearly": {name: getattr(yearly, name) for name in (*PARTS, "total")},
        "total": engine.total_cost(prices, cards),
        "per_million": engine.cost_per_million_tokens(
            prices, cards, tokens_per_s=values["tokens_per_s"], goodput=goodput
        ),
        "marginal": _marginal(values, prices, goodput),
        "break_even_speedup": _break_even(values, prices),
        "sensitivity": [
            {"name": one.name, "low": one.low, "high": one.high}
            for one in engine.sensitivity(prices, cards, tokens_per_s=useful)
        ],
        "assumptions": _assumptions(values),
    }


def _marginal(values: Values, prices: Prices, goodput: float) -> Result | None:
    if values.get("cards_next") is None or values.get("tokens_per_s_next") is None:
        return None
    sizes = [
        Size(cards=values["cards"], tokens_per_s=values["tokens_per_s"] * goodput),
        Size(cards=values["cards_next"], tokens_per_s=values["tokens_per_s_next"] * goodput),
    ]
    gain = engine.marginal_gains(prices, sizes)[0]
    return {
        "added_cards": gain.added_cards,
        "added_tokens_per_s": gain.added_tokens_per_s,
        "marginal_per_million": gain.marginal_cost_per_million,
        "average_per_million": gain.average_cost_per_million,
    }


def _break_even(values: Values, prices: Prices) -> float | None:
    other = values.get("other_capital_per_card")
    if not other:
        return None
    ordinary = prices_of({**values, "capital_per_card": other})
    return engine.break_even_speedup(prices, ordinary, values["cards"])


def _assumptions(values: Values) -> list[dict[str, Any]]:
    assumed = Assumed()
    assumed.add(
        "capital_per_card", values["capital_per_card"], say("cards, hosts, network and installation"), "given"
    )
    assumed.add(
        "depreciation",
        say("straight"),
        say("the same amount each year down to the residual value"),
        "rule_of_thumb",
    )
    assumed.add("utilisation", 1.0, say("the cluster works all of its useful time"), "rule_of_thumb")
    return assumed.rows


def show(values: Values, result: Result) -> list[Block]:
    """Stats, the year as a bar, the next block, and what moves the cost."""
    yearly, marginal = result["yearly"], result["marginal"]
    stats = [
        Stat(label=_("A million tokens"), value=f"{result['per_million']:.4g}"),
        Stat(label=_("A year"), value=count_shown(yearly["total"])),
        Stat(label=_("All years"), value=count_shown(result["total"]),
             note=_("%(years)s years") % {"years": f"{values['years']:g}"}),
    ]  # fmt: skip
    if marginal is not None:
        stats.append(_marginal_stat(marginal))
    if result["break_even_speedup"] is not None:
        shown = f"{result['break_even_speedup']:.2f}"
        stats.append(
            Stat(label=_("Must be faster by"), value=shown, unit="×", note=_("to cost as much per token"))
        )
    parts = [
        {"label": word, "value": yearly[key], "shown": count_shown(yearly[key])}
        for key, word in PARTS.items()
        if yearly[key] > 0
    ]
    bar = {"name": _("One year"), "shown": count_shown(yearly["total"]), "parts": parts}
    return [
        Stats(stats=stats),
        *_notes(marginal),
        Bars(title=_("Cost of a year by part"), bars=[bar]),
        _sensitivity_table(result),
        Figures(title=_("How it is computed"), figures=list(_figures(result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _marginal_stat(marginal: Result) -> Stat:
    cost = marginal["marginal_per_million"]
    return Stat(
        label=_("A million tokens of the next block"),
        value="—" if cost is None else f"{cost:.4g}",
        verdict="fail" if cost is None else "",
        note=_("on average then %(cost)s") % {"cost": f"{marginal['average_per_million']:.4g}"},
    )


def _notes(marginal: Result | None) -> Iterator[Note]:
    if marginal is not None and marginal["marginal_per_million"] is None:
        yield Note(
            tone="fail", title=_("The next block gains nothing"), text=_("More accelerators, no more tokens.")
        )


def _sensitivity_table(result: Result) -> Table:
    base = result["per_million"]
    rows = [
        [
            PRICES[one["name"]],
            *(f"{one[end]:.4g} ({show_change(one[end] / base - 1)})" for end in ("low", "high")),
        ]
        for one in result["sensitivity"]
    ]
    return Table(
        title=_("What moves the cost of a million tokens"),
        subtitle=_("With one figure 20 % lower or higher."),
        columns=[_("Figure"), "−20 %", "+20 %"],
        rows=rows,
        icon="adjustments",
    )


def _figures(result: Result) -> Iterator[Figure]:
    yield Figure(key="cost.yearly", name=_("A year"), value=count_shown(result["yearly"]["total"]))
    yield Figure(key="cost.total", name=_("All years"), value=count_shown(result["total"]))
    yield Figure(key="cost.per_million", name=_("A million tokens"), value=f"{result['per_million']:.4g}")
    if result["marginal"] and result["marginal"]["marginal_per_million"] is not None:
        shown = f"{result['marginal']['marginal_per_million']:.4g}"
        yield Figure(key="cost.marginal", name=_("A million tokens of the next block"), value=shown)
    if result["break_even_speedup"] is not None:
        shown = f"{result['break_even_speedup']:.3f} ×"
        yield Figure(key="cost.break_even", name=_("Speed-up that pays"), value=shown)


STUDY = Study(
    key="cost",
    title=_l("Cost"),
    question=_l("What do the years, a million tokens and one more block of accelerators cost?"),
    icon="chart-bar",
    form=CostForm,
    compute=compute,
    show=show,
)
