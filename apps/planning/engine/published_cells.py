"""Published runs, the cells: what a row of a table says in each column, checked before anything follows from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from math import isfinite

from apps.core.texts import say

MLA = "MLA"  # in the column of key-value heads
SIZES = (
    *("layers", "hidden", "ffn_hidden", "heads", "kv_heads", "vocab", "experts", "topk", "seq_len", "gpus"),
    *("tp", "pp", "vpp", "dp", "cp", "ep", "micro_batch", "global_batch"),
)
STEP_COLUMNS = ("iteration_time_s", "iteration_time_derived_s")
TIME_COLUMNS = (*STEP_COLUMNS, "tokens_per_s_gpu")
MEASURED = (*TIME_COLUMNS, "tflops_per_gpu")
WORDS = {"recompute": ("none", "selective", "full"), "sequence_parallel": ("yes", "no")}
SHARDING = re.compile(r"zero[0-3]\b|(?!zero)", re.IGNORECASE)
NEEDED = ("id", "source", "model", "gpu", "gpus", "tp", "pp", "seq_len", "global_batch")  # columns of a table
COLUMNS = (*NEEDED, *SIZES, *WORDS, *MEASURED, "precision", "zero_distopt", "tflops_definition", "notes")
MAY_BE_ZERO = ("ffn_hidden", "kv_heads", "experts", "topk")
LARGEST, MOST_LAYERS = 10**9, 10_000
TINY, HUGE = 1e-9, 1e12  # measured seconds, tokens/s and TFLOP/s lie between


def plain_cells(row: Mapping[str, str]) -> dict[str, str]:
    """The row with every column that is read: one that the table lacks is empty, 8.0 is 8, Full is full."""
    cells = {name: row.get(name, "").strip() for name in COLUMNS}
    for name in SIZES:
        number = _number(cells[name])
        if number is not None and number == int(number):
            cells[name] = str(int(number))
    return cells | {name: cells[name].lower() for name in (*WORDS, "precision", "zero_distopt")}


def wrong_cells(cells: Mapping[str, str]) -> Iterator[str]:
    """What is wrong with cells of a row, one sentence each; an empty one is not wrong."""
    for name in SIZES:
        text, least = cells[name], 0 if name in MAY_BE_ZERO else 1
        most = MOST_LAYERS if name == "layers" else LARGEST
        is_size = text.isdecimal() and least <= int(text) <= most
        if text and not is_size and not (name == "kv_heads" and text == MLA):
            said = {"name": name, "least": least, "most": most, "text": f"{text!r}"}
            yield say("%(name)s must be a whole number from %(least)s to %(most)s, not %(text)s", **said)
    for name in MEASURED:
        number = _number(cells[name])
        if cells[name] and (number is None or not TINY <= number <= HUGE):
            said = {"key": name, "least": f"{TINY:g}", "most": f"{HUGE:g}", "value": f"{cells[name]!r}"}
            yield say("%(key)s must lie between %(least)s and %(most)s, not %(value)s", **said)
    for name, words in WORDS.items():
        if cells[name] and cells[name] not in words:
            said = {"key": name, "choices": ", ".join(words), "value": f"{cells[name]!r}"}
            yield say("%(key)s must be one of %(choices)s, not %(value)s", **said)
    if not SHARDING.match(cells["zero_distopt"]):
        yield say("zero_distopt names no ZeRO stage: %(text)s", text=f"{cells['zero_distopt']!r}")


def _number(text: str) -> float | None:
    """The finite number that a cell holds; None where it holds none."""
    try:
        number = float(text)
    except ValueError:
        return None
    return number if isfinite(number) else None
