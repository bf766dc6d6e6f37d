"""Scaling what-if: 72, 144 and more cards, a domain cut and joined in different ways, and where growth ends."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django import forms
from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.core.texts import say
from apps.planning.engine.scaling import Growth, Shape, compare_shapes
from apps.planning.studies import fields as f
from apps.planning.studies.base import Progress, Result, Study, Values, silent
from apps.planning.studies.blocks import (
    Assumed,
)
from apps.planning.studies.growing import LIMITS, growth_of, point_json, search_input
from apps.planning.studies.hardware import (
    HARDWARE_START,
    HardwareFields,
    card_assumptions,
    domain_rows,
    peak_of,
    system_from,
)
from apps.planning.studies.scaling_shown import FULL, HOSTS, ORDINARY, SUPERNODE, show

RATIOS = (1.0, 2.0, 4.0)
MOST_SIZE = 16_384


class ScalingForm(HardwareFields):
    """A model, a batch, the sizes to look at, and the ways to join one of them."""

    start = HARDWARE_START | {
        "model": "llama-3-70b", "precision": "bf16", "seq_len": 4096, "global_batch": 288, "ordinary_domain": 8,
        "sizes": "72, 144, 288, 576, 1152", "growth": "strong", "joined": 72, "sub_domains": "36, 24",
    }  # fmt: skip
    groups = (
        (_l("Training"), ("model", "precision", "seq_len", "global_batch", "growth")),
        (_l("Sizes"), ("sizes", "domain_size", "ordinary_domain")),
        (_l("Ways to join"), ("joined", "sub_domains")),
        (_l("Hardware"), ("accelerator", "catalogue", "scale_up_gb_s", "scale_out_gb_s")),
    )

    model = f.ModelField(label=_l("Model"))
    precision = f.precision()
    seq_len = f.whole(_l("Sequence length, tokens"), most=131_072)
    global_batch = f.whole(_l("Global batch at the first size, sequences"), most=65_536)
    growth = forms.ChoiceField(
        choices=[("strong", _l("the batch stays")), ("weak", _l("the batch grows with the accelerators"))],
        label=_l("Growth"),
    )
    sizes = f.SizesField(label=_l("Sizes, in accelerators"), most=MOST_SIZE, many=8)
    ordinary_domain = f.whole(_l("Accelerators of a host in an ordinary cluster"), most=64)
    joined = f.whole(
        _l("Accelerators that are joined in different ways"),
        least=2,
        most=2048,
        help_text=_l("144 compares 4×36 with 6×24."),
    )
    sub_domains = f.SizesField(label=_l("Sub-domains to compare, in accelerators"), most=2048, many=4)

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        joined = data.get("joined") or 1
        if any(joined % size or size >= joined for size in data.get("sub_domains") or ()):
            self.add_error("sub_domains", _("Sub-domains divide the accelerators that are joined."))
        return data


def compute(values: Values) -> Result:
    """All of it at once."""
    return work(values, silent)


def work(values: Values, on_progress: Progress) -> Result:
    """Growth of both kinds of cluster and the shapes of one size, as JSON values."""
    peak_of(values)
    domains = {SUPERNODE: values["domain_size"], ORDINARY: values["ordinary_domain"]}
    shapes = shapes_of(values["joined"], values["sub_domains"], values["ordinary_domain"])
    total = len(domains) + len(shapes)
    growth = {}
    for done, (name, size) in enumerate(domains.items()):
        on_progress(done, total)
        growth[name] = _growth_json(growth_of(values, values["sizes"], domain_size=size))
    wanted = search_input(values, accelerators=values["joined"], domain_size=values["joined"])
    points: list[dict[str, Any]] = []
    for shape in shapes:
        on_progress(len(domains) + len(points), total)
        points += [point_json(point) for point in compare_shapes(wanted, (shape,))]
    first = next((point["tokens_per_s"] for point in points if point["tokens_per_s"]), None)
    for point in points:
        point["efficiency"] = point["tokens_per_s"] / first if first and point["tokens_per_s"] else None
    widest = max(values["domain_size"], values["joined"])
    return {
        "growth": growth,
        "shapes": points,
        "warnings": domain_rows(values, accelerators=values["joined"], domain_size=widest),
        "assumptions": _assumptions(values),
    }


def shapes_of(cards: int, sub_domains: Sequence[int], ordinary: int) -> tuple[Shape, ...]:
    """One full mesh, sub-domains with uplinks of 1:1, 2:1 and 4:1, and hosts of an ordinary cluster."""
    cut = [
        Shape(
            name=f"{cards // size}×{size} {ratio:g}:1",
            domain_size=cards,
            sub_domain_size=size,
            convergence=ratio,
        )
        for size in sorted(sub_domains, reverse=True)
        for ratio in RATIOS
    ]
    hosts = Shape(name=f"{HOSTS} {ordinary}", domain_size=ordinary)
    return (Shape(name=FULL, domain_size=cards), *cut, hosts)


def _growth_json(growth: Growth) -> Result:
    return {
        "points": [point_json(point) for point in growth.points],
        "peak_accelerators": growth.peak_accelerators,
        "turns_negative_at": growth.turns_negative_at,
    }


def _assumptions(values: Values) -> list[dict[str, Any]]:
    assumed = Assumed()
    for name, most in LIMITS.items():
        assumed.add(name, most, say("bound of the search at each size"), "stated")
    _system, from_catalogue = system_from(values, accelerators=values["joined"])
    return [*card_assumptions(values, from_catalogue), *assumed.rows]


STUDY = Study(
    key="scaling",
    title=_l("Scaling"),
    question=_l(
        "What do 72, 144 or more accelerators give, how should they be joined, and where does growth end?"
    ),
    icon="trending-up",
    form=ScalingForm,
    compute=compute,
    work=work,
    show=show,
)
