"""Purchase: a supernode against an ordinary cluster on the same cards, by workload and price, size by size."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.catalogue.engine.model_catalogue import shipped_models
from apps.core.units import show_share
from apps.planning.catalogue_choices import model_choices
from apps.planning.documents import model_document
from apps.planning.engine import cost
from apps.planning.engine.cost import Offer, Prices
from apps.planning.engine.scaling import Growth
from apps.planning.studies import fields as f
from apps.planning.studies.base import Progress, Result, Study, Values, silent
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
from apps.planning.studies.growing import growth_of
from apps.planning.studies.hardware import (
    HARDWARE_START,
    HardwareFields,
    card_assumptions,
    domain_rows,
    peak_of,
    system_from,
    warning_notes,
)
from apps.planning.studies.prices import PriceFields, prices_of, start_prices

MOST_SIZE = 8192


class PurchaseForm(PriceFields, HardwareFields):
    """Workloads, sizes, and what a card costs in either kind of cluster."""

    start = start_prices() | HARDWARE_START | {
        "workloads": ["llama-3-70b", "mixtral-8x22b"], "precision": "bf16", "seq_len": 4096, "global_batch": 576,
        "sizes": "144, 288, 576", "ordinary_domain": 8, "it_kw_per_card": 1.75, "ordinary_capital_per_card": 32000,
        "ordinary_it_kw_per_card": 1.8,
    }  # fmt: skip
    groups = (
        (_l("Workloads"), ("workloads", "precision", "seq_len", "global_batch", "sizes")),
        (_l("Hardware"), ("accelerator", "catalogue", "domain_size", "ordinary_domain", "scale_up_gb_s",
                           "scale_out_gb_s")),
        (PriceFields.price_group[0], (*PriceFields.price_group[1], "ordinary_capital_per_card",
                                      "ordinary_it_kw_per_card")),
    )  # fmt: skip

    workloads = forms.MultipleChoiceField(label=_l("Models to train"), choices=[])
    precision = f.precision()
    seq_len = f.whole(_l("Sequence length, tokens"), most=131_072)
    global_batch = f.whole(_l("Global batch, sequences"), most=65_536)
    sizes = f.SizesField(label=_l("Sizes, in accelerators"), most=MOST_SIZE, many=5)
    ordinary_domain = f.whole(_l("Accelerators of a host in an ordinary cluster"), most=64)
    ordinary_capital_per_card = f.number(_l("Price of an accelerator in an ordinary cluster"), least=0.01)
    ordinary_it_kw_per_card = f.number(_l("Its power with its share there"), most=100, unit="kW")

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        chosen: Any = self.fields["workloads"]
        chosen.choices = model_choices()
        chosen.widget.attrs["size"] = 8

    def clean_workloads(self) -> list[str]:
        chosen: list[str] = self.cleaned_data["workloads"]
        if len(chosen) > 4:
            raise forms.ValidationError(_("At most %(many)s models.") % {"many": 4})
        return chosen


def compute(values: Values) -> Result:
    """All of it at once."""
    return work(values, silent)


def work(values: Values, on_progress: Progress) -> Result:
    """For each workload and size the cost of a million tokens in both clusters, as JSON values."""
    peak_of(values)
    supernode = prices_of(values)
    ordinary = replace(
        supernode,
        capital_per_card=values["ordinary_capital_per_card"],
        it_kw_per_card=values["ordinary_it_kw_per_card"],
    )
    rows = []
    for done, model_id in enumerate(values["workloads"]):
        on_progress(done, len(values["workloads"]))
        rows.append(_workload(values, model_id, supernode, ordinary))
    _system, assumed = system_from(values, accelerators=values["sizes"][-1])
    return {
        "break_even_speedup": cost.break_even_speedup(supernode, ordinary, values["sizes"][-1]),
        "workloads": rows,
        "warnings": domain_rows(values, accelerators=values["sizes"][-1]),
        "assumptions": list(card_assumptions(values, assumed)),
    }


def _workload(values: Values, model_id: str, supernode: Prices, ordinary: Prices) -> Result:
    model = shipped_models()[model_id]
    asked = {**values, "model": model_document(model.spec), "growth": "strong"}
    grown = {
        "supernode": (supernode, growth_of(asked, values["sizes"], domain_size=values["domain_size"])),
        "ordinary": (ordinary, growth_of(asked, values["sizes"], domain_size=values["ordinary_domain"])),
    }
    offers = {name: _offers(name, prices, growth) for name, (prices, growth) in grown.items()}
    both = sorted(set(offers["supernode"]) & set(offers["ordinary"]))
    return {
        "model": model.name,
        "sizes": [_compared(offers["supernode"][cards], offers["ordinary"][cards]) for cards in both],
        "marginal": {name: _marginal(prices, growth) for name, (prices, growth) in grown.items()},
    }


def _offers(name: str, prices: Prices, growth: Growth) -> dict[int, Offer]:
    return {
        point.accelerators: Offer(
            name=name, prices=prices, cards=point.accelerators, tokens_per_s=point.tokens_per_s
        )
        for point in growth.points
        if point.best
    }


def _compared(supernode: Offer, ordinary: Offer) -> Result:
    better, dearer = cost.better_buy(supernode, ordinary)
    return {
        "cards": supernode.cards,
        "supernode_tokens_per_s": supernode.tokens_per_s,
        "ordinary_tokens_per_s": ordinary.tokens_per_s,
        "speedup": supernode.tokens_per_s / ordinary.tokens_per_s,
        "supernode_per_million": supernode.cost_per_million,
        "ordinary_per_million": ordinary.cost_per_million,
        "better": better.name,
        "other_dearer_share": dearer,
    }


def _marginal(prices: Prices, growth: Growth) -> list[Result]:
    sizes = [
        cost.Block(cards=point.accelerators, tokens_per_s=point.tokens_per_s)
        for point in growth.points
        if point.best
    ]
    return [
        {
            "cards": gain.cards,
            "added_cards": gain.added_cards,
            "added_tokens_per_s": gain.added_tokens_per_s,
            "marginal_per_million": gain.marginal_cost_per_million,
        }
        for gain in cost.marginal_gains(prices, sizes)
    ]


BUYS = {"supernode": _l("supernode"), "ordinary": _l("ordinary cluster")}


def show(values: Values, result: Result) -> list[Block]:
    """The better buy per workload, the cost over size, and each further block."""
    return [
        Stats(stats=list(_stats(result))),
        *_notes(result),
        *(_chart(number, row) for number, row in enumerate(result["workloads"]) if row["sizes"]),
        *(_size_table(row) for row in result["workloads"]),
        *(_marginal_table(row) for row in result["workloads"] if any(row["marginal"].values())),
        Figures(title=_("How it is computed"), figures=list(_figures(result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _stats(result: Result) -> Iterator[Stat]:
    yield Stat(label=_("A supernode must be faster by"), value=f"{result['break_even_speedup']:.2f}", unit="×",
               note=_("to cost as much per token"))  # fmt: skip
    for row in result["workloads"]:
        if row["sizes"]:
            last = row["sizes"][-1]
            said = {"kind": BUYS[last["better"]], "speedup": f"{last['speedup']:.2f}"}
            note = _(
                "Better buy: %(kind)s. The other is that much dearer per token; the supernode is %(speedup)s × as fast."
            )
            yield Stat(label=row["model"], value=show_share(last["other_dearer_share"]), note=note % said)


def _notes(result: Result) -> Iterator[Note]:
    yield from warning_notes(result["warnings"])
    for row in result["workloads"]:
        if not row["sizes"]:
            said = {"model": row["model"]}
            yield Note(tone="warn", title=_("%(model)s fits at none of these sizes") % said)


def _chart(number: int, row: Result) -> Chart:
    sizes = row["sizes"]
    cards = [one["cards"] for one in sizes]
    return Chart(
        id=f"cost-{number}",
        title=_("Cost of a million tokens, %(model)s") % {"model": row["model"]},
        summary=_("The lower line is the better buy at that size."),
        figure={
            "data": [
                line(BUYS[name], cards, [one[f"{name}_per_million"] for one in sizes], dash=dash)
                for name, dash in (("supernode", "solid"), ("ordinary", "dash"))
            ],
            "layout": axes(_("accelerators"), _("per million tokens")),
        },
        columns=[_("Accelerators"), *BUYS.values()],
        rows=[
            [
                count_shown(one["cards"]),
                f"{one['supernode_per_million']:.4g}",
                f"{one['ordinary_per_million']:.4g}",
            ]
            for one in sizes
        ],
    )


def _size_table(row: Result) -> Table:
    return Table(
        title=_("Supernode / ordinary cluster, %(model)s") % {"model": row["model"]},
        columns=[
            _("Accelerators"),
            _("Tokens per second"),
            _("Speed-up"),
            _("A million tokens"),
            _("Better buy"),
        ],
        rows=[
            [
                count_shown(one["cards"]),
                f"{count_shown(one['supernode_tokens_per_s'])} / {count_shown(one['ordinary_tokens_per_s'])}",
                f"{one['speedup']:.3f} ×",
                f"{one['supernode_per_million']:.4g} / {one['ordinary_per_million']:.4g}",
                BUYS[one["better"]],
            ]
            for one in row["sizes"]
        ],
        icon="scale",
    )


def _marginal_table(row: Result) -> Table:
    return Table(
        title=_("Each further block, %(model)s") % {"model": row["model"]},
        columns=[
            _("To"),
            _("Cluster"),
            _("Added accelerators"),
            _("Added tokens/s"),
            _("A million of those"),
        ],
        rows=[
            [
                count_shown(one["cards"]),
                BUYS[name],
                count_shown(one["added_cards"]),
                count_shown(one["added_tokens_per_s"]),
                _marginal_cell(one["marginal_per_million"]),
            ]
            for name in BUYS
            for one in row["marginal"][name]
        ],
        icon="trending-up",
    )


def _marginal_cell(per_million: float | None) -> Any:
    return {"verdict": "fail", "label": _("gains nothing")} if per_million is None else f"{per_million:.4g}"


def _figures(result: Result) -> Iterator[Figure]:
    shown = f"{result['break_even_speedup']:.3f} ×"
    yield Figure(key="cost.break_even", name=_("Speed-up that pays"), value=shown)
    rows: Sequence[Result] = [row for row in result["workloads"] if row["sizes"]]
    for row in rows[:1]:
        value = f"{row['sizes'][-1]['supernode_per_million']:.4g}"
        yield Figure(key="cost.per_million", name=_("A million tokens, supernode"), value=value)


STUDY = Study(
    key="purchase",
    title=_l("Supernode or ordinary cluster"),
    question=_l("For which workloads does a supernode pay, and when is an ordinary cluster the better buy?"),
    icon="scale",
    form=PurchaseForm,
    compute=compute,
    work=work,
    show=show,
)
