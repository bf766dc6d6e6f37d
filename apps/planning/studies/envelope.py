"""On the back of an envelope: training memory, an all-reduce and a bubble, to check figures that others state."""

from __future__ import annotations

from collections.abc import Iterator
from math import ceil
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.texts import say
from apps.core.units import GB, show_bytes, show_seconds, show_share
from apps.planning.engine.collectives import ring_all_reduce_s
from apps.planning.engine.pipeline import bubble_overhead, bubble_share
from apps.planning.engine.states import bytes_per_param
from apps.planning.studies import fields as f
from apps.planning.studies.base import Result, Study, Values
from apps.planning.studies.blocks import (
    Assumed,
    Assumptions,
    Block,
    Figure,
    Figures,
    Note,
    Stat,
    Stats,
    Table,
    count_shown,
)

GRADIENTS = {"16": 2.0, "32": 4.0}


class EnvelopeForm(f.StudyForm):
    """Parameters and cards, a message and its ranks, stages and micro-batches."""

    start = {
        "params_billion": 70, "gradient_bits": "16", "zero": 0, "data_ranks": 1, "card_memory_gb": 80, "cards": 144,
        "message_gb": 140, "ranks": 144, "link_gb_s": 900, "both_ways": True, "pp": 9, "micro_batches": 72, "vpp": 1,
    }  # fmt: skip
    groups = (
        (_l("Memory"), ("params_billion", "gradient_bits", "zero", "data_ranks", "card_memory_gb", "cards")),
        (_l("All-reduce"), ("message_gb", "ranks", "link_gb_s", "both_ways")),
        (_l("Pipeline"), ("pp", "micro_batches", "vpp")),
    )

    params_billion = f.number(_l("Parameters, billions"), least=1e-6, most=1e9)
    gradient_bits = forms.ChoiceField(
        choices=[("16", "16 bit"), ("32", "fp32")], label=_l("Gradients kept in")
    )
    zero = f.whole("ZeRO", least=0, most=3)
    data_ranks = f.whole(_l("Ranks that share the state"))
    card_memory_gb = f.number(_l("Memory of an accelerator"), least=1, most=1e5, unit="GB")
    cards = f.whole(_l("Accelerators"))
    message_gb = f.number(_l("Buffer on each rank"), least=1e-9, most=1e9, unit="GB")
    ranks = f.whole(_l("Ranks"), least=2)
    link_gb_s = f.number(_l("Bandwidth of an accelerator"), least=1e-3, most=1e6, unit="GB/s")
    both_ways = f.flag(_l("That is the sum of both directions, as vendors state it"))
    pp, micro_batches = f.whole(_l("Pipeline (PP)"), most=100_000), f.whole(_l("Micro-batches of a replica"))
    vpp = f.whole(_l("Virtual stages (VPP)"), most=10_000)


def compute(values: Values) -> Result:
    """Memory in bytes, times in seconds, shares from 0 to 1, as JSON values."""
    params = values["params_billion"] * 1e9
    per_param = bytes_per_param(
        zero=values["zero"],
        data_ranks=values["data_ranks"],
        gradient_bytes=GRADIENTS[values["gradient_bits"]],
    )
    total = params * bytes_per_param(zero=0, data_ranks=1, gradient_bytes=GRADIENTS[values["gradient_bits"]])
    one_way = values["link_gb_s"] * GB / (2.0 if values["both_ways"] else 1.0)
    size, ranks = values["message_gb"] * GB, values["ranks"]
    pipeline = {"stages": values["pp"], "micro_batches": values["micro_batches"], "chunks": values["vpp"]}
    return {
        "memory": {
            "bytes_per_parameter": per_param,
            "total_bytes": total,
            "cards_needed": ceil(total / (values["card_memory_gb"] * GB) - 1e-9),
            "per_card_bytes": total / values["cards"],
            "weights_bytes": 2.0 * params,
        },
        "all_reduce": {
            "one_way_bytes_per_s": one_way,
            "ring_s": ring_all_reduce_s(size_bytes=size, ranks=ranks, bandwidth_bytes_per_s=one_way),
            "naive_s": size / one_way,
            "sum_of_ranks": ranks * (ranks - 1) // 2,
        },
        "bubble": {"share": bubble_share(**pipeline), "overhead": bubble_overhead(**pipeline)},
        "assumptions": _assumptions(),
    }


def _assumptions() -> list[dict[str, Any]]:
    assumed = Assumed()
    assumed.add("optimizer_bytes_per_parameter", 12, say("Adam: fp32 weights, momentum, variance"), "derived")
    assumed.add("activations", say("none"), say("come on top, and buffers and a reserve of 10 %"), "stated")
    assumed.add("latency", 0.0, say("left out; it rules small messages"), "stated")
    return assumed.rows


def show(values: Values, result: Result) -> list[Block]:
    """Stats, the traps, and the figures with their formulas."""
    memory, reduce_, bubble = result["memory"], result["all_reduce"], result["bubble"]
    stats = [
        Stat(label=_("Static training memory"), value=show_bytes(memory["total_bytes"]),
             note=_("without any sharding")),
        Stat(label=_("Accelerators that hold it"), value=count_shown(memory["cards_needed"])),
        Stat(label=_("Ring all-reduce"), value=show_seconds(reduce_["ring_s"])),
        Stat(label=_("Pipeline bubble"), value=show_share(bubble["share"]), note=_("of the step")),
    ]  # fmt: skip
    return [
        Stats(stats=stats),
        *_notes(values, result),
        _check_table(result),
        Figures(title=_("How it is computed"), figures=list(_figures(values, result))),
        Assumptions(rows=result["assumptions"]),
    ]


def _notes(values: Values, result: Result) -> Iterator[Note]:
    if values["both_ways"]:
        text = _(
            "A ring uses one direction, %(half)s GB/s, and moves nearly twice the buffer: 2(n−1)/n of it."
        )
        said = {"half": f"{values['link_gb_s'] / 2:g}"}
        yield Note(tone="neutral", title=_("Vendors state the sum of both directions"), text=text % said)
    if result["bubble"]["share"] > 0.2:
        text = _("More micro-batches, fewer stages or interleaving make it smaller.")
        yield Note(tone="warn", title=_("More than a fifth of the step is bubble"), text=text)


def _check_table(result: Result) -> Table:
    reduce_ = result["all_reduce"]
    return Table(
        title=_("To check a run by"),
        columns=["", _("Value")],
        rows=[
            [
                _("sum of the ranks' numbers, what an all-reduce of them must give"),
                count_shown(reduce_["sum_of_ranks"]),
            ],
            [_("buffer over bandwidth, which a ring cannot reach"), show_seconds(reduce_["naive_s"])],
            [_("weights alone, 2 bytes each"), show_bytes(result["memory"]["weights_bytes"])],
        ],
        icon="ruler-measure",
    )


def _figures(values: Values, result: Result) -> Iterator[Figure]:
    memory, bubble = result["memory"], result["bubble"]
    per_param = f"{memory['bytes_per_parameter']:.4g} B"
    yield Figure(key="envelope.per_param", name=_("State of a parameter on a rank"), value=per_param)
    yield Figure(
        key="envelope.total", name=_("Static training memory"), value=show_bytes(memory["total_bytes"])
    )
    shown = f"{memory['per_card_bytes'] / GB:.2f} GB"
    name = _("Share of each of %(cards)s accelerators") % {"cards": count_shown(values["cards"])}
    yield Figure(key="envelope.per_card", name=name, value=shown)
    ring = f"{result['all_reduce']['ring_s']:.4f} s"
    yield Figure(key="envelope.ring", name=_("Ring all-reduce"), value=ring)
    yield Figure(
        key="envelope.bubble", name=_("Bubble, share of the step"), value=f"{100 * bubble['share']:.2f} %"
    )
    overhead = f"{100 * bubble['overhead']:.2f} %"
    yield Figure(key="envelope.overhead", name=_("Bubble, over the ideal step"), value=overhead)


STUDY = Study(
    key="envelope",
    title=_l("Back of an envelope"),
    question=_l(
        "How much memory does a model need, how long does an all-reduce take, how large is the bubble?"
    ),
    icon="edit",
    form=EnvelopeForm,
    compute=compute,
    show=show,
)
