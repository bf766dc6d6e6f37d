"""Growing: the search that studies of size and shape start from, and a point of it as JSON values."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.planning.engine.candidates import Limits
from apps.planning.engine.estimate import Estimate
from apps.planning.engine.reading_search import read_search
from apps.planning.engine.scaling import Growth, Point, grow
from apps.planning.engine.search import SearchInput
from apps.planning.studies.base import Values
from apps.planning.studies.hardware import system_document

MOST_TP, MOST_PP, MOST_VPP, MOST_MICRO_BATCH, MOST_EP = 16, 64, 4, 4, 64
LIMITS = {"max_tp": MOST_TP, "max_pp": MOST_PP, "max_vpp": MOST_VPP, "max_micro_batch": MOST_MICRO_BATCH}


def search_input(values: Values, *, accelerators: int, domain_size: int, **system: Any) -> SearchInput:
    """The search for the best layout on a system. Raises Invalid with pointers to the fields."""
    document = {
        "model": values["model"],
        "system": system_document(values, accelerators=accelerators, domain_size=domain_size, **system),
        "limits": LIMITS | {"max_ep": _most_ep(values)},
        **{name: values[name] for name in ("global_batch", "seq_len", "precision")},
    }
    try:
        return read_search(document)
    except Invalid as error:
        raise Invalid(
            error.message, code=error.code, errors=[_at_field(one) for one in error.errors]
        ) from error


def _at_field(error: FieldError) -> FieldError:
    return FieldError(pointer="/" + error.pointer.rpartition("/")[2], message=error.message, code=error.code)


def _most_ep(values: Values) -> int:
    return min(MOST_EP, int(values["model"].get("experts") or 1))


def growth_of(values: Values, sizes: Sequence[int], *, domain_size: int) -> Growth:
    """The best layout at each size; with growth `weak` the batch grows with the cards from the first size on."""
    wanted = search_input(values, accelerators=sizes[0], domain_size=domain_size)
    per_card = values["global_batch"] / sizes[0] if values["growth"] == "weak" else None
    limits = Limits(
        max_tp=MOST_TP,
        max_pp=MOST_PP,
        max_vpp=MOST_VPP,
        max_micro_batch=MOST_MICRO_BATCH,
        max_ep=_most_ep(values),
        max_cp=wanted.axes.cp[-1],
    )
    return grow(wanted, sizes, limits=limits, batch_per_card=per_card)


def point_json(point: Point) -> dict[str, Any]:
    """One size or shape as JSON values, its layout in words."""
    best = point.best
    return {
        "accelerators": point.accelerators,
        "shape": point.shape,
        "tokens_per_s": point.tokens_per_s,
        "efficiency": point.efficiency,
        "bottleneck": point.bottleneck,
        "iteration_time_s": best.iteration_time_s if best else None,
        "mfu": best.mfu if best else None,
        "peak_bytes": best.memory.peak_bytes if best else None,
        "layout": layout_words(best) if best else None,
    }


def layout_words(best: Estimate) -> str:
    """A layout as people write it: TP8 PP18 DP1, and what else is not one."""
    words = best.configuration
    sizes = [f"{name.upper()}{words[name]}" for name in ("tp", "pp", "dp")]
    more = [f"{name.upper()}{words[name]}" for name in ("vpp", "cp", "ep") if words[name] > 1]
    again = [] if words["recompute"] == "none" else [f"recompute={words['recompute']}"]
    return " ".join([*sizes, *more, f"ZeRO{words['zero']}", f"µB{words['micro_batch']}", *again])
