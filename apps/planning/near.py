"""How near a search came that found nothing, as its page shows it: the nearest layouts, and what would help."""

from __future__ import annotations

from collections.abc import Mapping
from math import ceil, floor
from typing import Any

from django.utils.translation import gettext as _

from apps.core.units import GB, show_bytes, show_share
from apps.planning.documents import configuration_words
from apps.planning.input_words import shown_value
from apps.planning.words import MEMORY


def near_context(result: Mapping[str, Any]) -> dict[str, Any]:
    """The nearest layouts and the remedies; both empty where something fits, or nothing runs at all."""
    nearest = [_near_row(near) for near in result.get("nearest", ())]
    return {
        "nearest_rows": nearest,
        "remedy_rows": [
            {**_near_row(one), "words": _remedy_words(one), "fits": one["fits"]}
            for one in result.get("remedies", ())
        ],
    }


def _near_row(near: Mapping[str, Any]) -> dict[str, Any]:
    layout, stage = configuration_words(near["configuration"]), near["stage"]
    part = f"{near['largest_part']}_bytes"
    return {
        "accelerators": near["accelerators"],
        "layout": _sizes(layout),
        "micro_batch": layout["micro_batch"],
        "zero": layout["zero"],
        "recompute": shown_value("recompute", layout["recompute"]),
        "stage": _("%(stage)s of %(stages)s") % {"stage": stage["stage"] + 1, "stages": layout["pp"]},
        "part": _("%(part)s, %(size)s") % {"part": MEMORY[part], "size": show_bytes(stage[part])},
        "peak_bytes": near["peak_bytes"],
        "over_bytes": near["over_bytes"],
    }


def _sizes(layout: Mapping[str, Any]) -> str:
    """The sizes that say something, such as TP8 PP18 VPP2 DP1."""
    always = {"tp", "pp", "dp"}
    names = ("tp", "pp", "vpp", "dp", "cp", "ep")
    return " ".join(f"{name.upper()}{layout[name]}" for name in names if name in always or layout[name] > 1)


def _remedy_words(remedy: Mapping[str, Any]) -> str:
    """The change in words; its figures are rounded to the side on which it still fits."""
    value = remedy["value"]
    if remedy["code"] == "recompute":
        return _("Recompute whole layers")
    if remedy["code"] == "zero":
        return _("Shard up to ZeRO %(stage)s") % {"stage": value}
    if remedy["code"] == "cp":
        return _("Cut sequences by context parallelism, up to CP %(size)s") % {"size": value}
    if remedy["code"] == "accelerators":
        return _("%(count)s accelerators; multiples of yours were tried, fewer may do") % {
            "count": f"{value:,}"
        }
    if remedy["code"] == "reserve_share":
        return _("Keep no more than %(share)s of the memory free") % {
            "share": show_share(floor(value * 1000) / 1000)
        }
    return _("Accelerators with at least %(size)s of memory") % {"size": show_bytes(ceil(value / GB) * GB)}
