"""Inference as its page shows it: what binds both phases, the batch over its price, and the pools."""

from __future__ import annotations

from collections.abc import Iterator

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.units import TB, show_bytes, show_seconds
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

BOUND = {"compute": _l("compute"), "memory": _l("memory"), "collectives": _l("latency of collectives")}


def show(values: Values, result: Result) -> list[Block]:
    """Stats, what binds both phases, the batch over its price, and the pools."""
    first, token = result["first_token"], result["output_token"]
    stats = [
        Stat(label=_("First token, at least"), value=show_seconds(first["total_s"]),
             note=_("bound by %(what)s") % {"what": BOUND[first["bound_by"]]}),
        Stat(label=_("Each further token, at least"), value=show_seconds(token["total_s"]),
             note=_("bound by %(what)s") % {"what": BOUND[token["bound_by"]]}),
        Stat(label=_("Cache of a token"), value=show_bytes(result["kv_bytes_per_token"])),
        Stat(label=_("Largest batch"), value=count_shown(result["largest_batch"]),
             verdict="pass" if result["batch_fits"] else "fail"),
        Stat(label=_("Largest context"), value=count_shown(result["largest_context"]), unit=_("tokens")),
    ]  # fmt: skip
    return [
        Stats(stats=stats),
        *_notes(values, result),
        *_sweep_chart(result["sweep"]),
        _phase_table(first, token),
        *_pool_table(values, result),
        Figures(title=_("How it is computed"), figures=list(_figures(result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _notes(values: Values, result: Result) -> Iterator[Note]:
    yield from warning_notes(result["warnings"])
    if result["free_bytes"] < 0:
        text = _("The weights need %(missing)s more than a decode replica may use.")
        said = {"missing": show_bytes(-result["free_bytes"])}
        yield Note(tone="fail", title=_("The weights do not fit a decode replica"), text=text % said)
    elif not result["batch_fits"]:
        said = {"batch": values["batch"], "most": result["largest_batch"]}
        yield Note(tone="fail", title=_("%(batch)s requests do not fit, %(most)s do") % said)
    if result["prefill_free_bytes"] < 0:
        text = _("The weights need %(missing)s more than a prefill replica may use.")
        said = {"missing": show_bytes(-result["prefill_free_bytes"])}
        yield Note(tone="fail", title=_("The weights do not fit a prefill replica"), text=text % said)
    if result["cache_copies"] > 1:
        text = _(
            "The cache is cut by key-value heads only, and the latent of MLA has none: each accelerator of the tensor "
            "group keeps all of it. The largest batch and context count every copy. Engines that spread requests "
            "instead of heads keep one: that is a tensor size of 1."
        )
        said = {"copies": f"{result['cache_copies']:g}"}
        yield Note(
            tone="warn", title=_("A decode replica keeps %(copies)s copies of the cache") % said, text=text
        )
    if values["decode_tp"] > values["domain_size"]:
        yield Note(
            tone="warn",
            title=_("A decode replica leaves its domain"),
            text=_("Its collectives cross the network."),
        )


def _sweep_chart(sweep: list[list[float]]) -> Iterator[Chart]:
    if len(sweep) < 2:
        return
    layout = axes(_("requests at once"), _("ms per output token"), log_x=True)
    layout["yaxis2"] = {
        "title": {"text": _("tokens per second and card")},
        "rangemode": "tozero",
        "showgrid": False,
        "overlaying": "y",
        "side": "right",
    }
    batches = [row[0] for row in sweep]
    rate = line(_("tokens per second and card"), batches, [row[2] for row in sweep], dash="dash") | {
        "yaxis": "y2"
    }
    yield Chart(
        id="sweep",
        title=_("What a larger batch buys"),
        summary=_("A larger batch gives more tokens per card, and each request waits longer for its own."),
        figure={
            "data": [line(_("per output token"), batches, [1e3 * row[1] for row in sweep]), rate],
            "layout": layout,
        },
        columns=[_("Requests"), _("Per output token"), _("Tokens per second and card")],
        rows=[
            [count_shown(batch), show_seconds(step), f"{per_card:,.1f}"] for batch, step, per_card in sweep
        ],
    )


def _phase_table(first: Result, token: Result) -> Table:
    names = {
        "compute_s": _("compute"),
        "memory_s": _("reading weights and cache"),
        "collectives_s": _("collectives"),
        "total_s": _("lower bound"),
    }
    rows = [[word, show_seconds(first[key]), show_seconds(token[key])] for key, word in names.items()]
    return Table(
        title=_("What binds both phases"),
        subtitle=_("Compute and memory run side by side, collectives come on top."),
        columns=["", _("First token"), _("Each further token")],
        rows=rows,
    )


def _pool_table(values: Values, result: Result) -> Iterator[Table]:
    if pools := result["pools"]:
        yield Table(
            title=_("Separate pools for this traffic"),
            columns=["", _("Replicas"), _("Accelerators")],
            rows=[
                [_("prefill"), pools["prefill_replicas"], count_shown(pools["prefill_cards"])],
                [_("decode"), pools["decode_replicas"], count_shown(pools["decode_cards"])],
                [_("moving the cache of a prompt"), show_seconds(pools["kv_transfer_s"]), ""],
            ],
            icon="sitemap",
        )
    pool = result["large_pool"]
    said = {"params": f"{values['pool_params_trillion']:g}"}
    yield Table(
        title=_("A pool for %(params)s trillion parameters") % said,
        columns=["", _("Value")],
        rows=[
            [_("weights"), f"{pool['weights_bytes'] / TB:,.4g} TB"],
            [_("accelerators without any reserve"), count_shown(pool["cards_without_reserve"])],
            [_("accelerators in whole domains, with reserve"), count_shown(pool["cards"])],
            [_("domains"), count_shown(pool["domains"])],
            [_("left for the cache"), show_bytes(pool["free_bytes"])],
        ],
        icon="database",
    )


def _figures(result: Result) -> Iterator[Figure]:
    token, request = result["kv_bytes_per_token"], result["kv_bytes_per_request"]
    yield Figure(key="inference.weights", name=_("Weights"), value=show_bytes(result["weights_bytes"]))
    yield Figure(key="inference.kv_token", name=_("Cache of a token"), value=show_bytes(token))
    yield Figure(key="inference.kv_request", name=_("Cache of a request"), value=show_bytes(request))
    yield Figure(key="inference.batch", name=_("Largest batch"), value=count_shown(result["largest_batch"]))
    first, each = result["first_token"]["total_s"], result["output_token"]["total_s"]
    yield Figure(key="inference.first_token", name=_("First token"), value=show_seconds(first))
    yield Figure(key="inference.output_token", name=_("Each further token"), value=show_seconds(each))
    balanced = count_shown(result["balanced_batch"])
    yield Figure(key="inference.balanced", name=_("Compute meets memory at a batch of"), value=balanced)
    pool = count_shown(result["large_pool"]["cards_without_reserve"])
    yield Figure(key="inference.pool", name=_("Accelerators that hold the large model"), value=pool)
