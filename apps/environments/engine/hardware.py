"""Does a node report the accelerators that are on record for it: as many of them, that model, that much memory?"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.catalogue.engine.accelerators import Accelerator
from apps.catalogue.engine.designations import means_another
from apps.core.units import show_bytes
from apps.core.verdicts import Verdict

_MEMORY = re.compile(r"([0-9]+) ?(MiB|MB|GiB|GB)")
_BYTES = {"MiB": 2**20, "MB": 1e6, "GiB": 2**30, "GB": 1e9}
# What tools call 80 GB is between a little less (kept for error correction) and 80 GiB.
_LEAST, _MOST = 0.9, 1.15


class AtOdds(StrEnum):
    """What does not hold. MISSING and OTHER are certain; UNCLEAR are counts that cannot both be right."""

    MISSING = "accelerators_missing"
    OTHER = "accelerators_other"
    UNCLEAR = "accelerators_unclear"


@dataclass(frozen=True, slots=True, kw_only=True)
class HardwareFault:
    """What a node reports (found) against what it is held against: two counts, two models, or two sizes of memory."""

    code: AtOdds
    found: str
    held_against: str

    @property
    def verdict(self) -> Verdict:
        return Verdict.UNKNOWN if self.code is AtOdds.UNCLEAR else Verdict.FAIL

    @property
    def said(self) -> str:
        """Both, briefly: `1/8`, or `NVIDIA H100 80GB HBM3 ≠ GB200`."""
        return f"{self.found}{' ≠ ' if self.code is AtOdds.OTHER else '/'}{self.held_against}"


@dataclass(frozen=True, slots=True, kw_only=True)
class CardsSaid:
    """What the reports of a node say of its accelerators, as texts of the tools.

    loaded: counts that its driver states. declared: counts of what runs above the driver, which a container may hold
    down.
    """

    loaded: Sequence[str] = ()
    declared: Sequence[str] = ()
    models: Sequence[str] = ()
    memories: Sequence[str] = ()


def fault_in(
    said: CardsSaid, *, on_record: Mapping[str, int], parts: Mapping[str, Accelerator], known: Collection[str]
) -> HardwareFault | None:
    """What is wrong with the accelerators that a node reports; None where nothing is, or where it reports none.

    on_record: accelerators of the node in the inventory, by model. parts: the catalogue by model; a model that is not
    in it is not judged. known: designations of the catalogue. Fewer than on record by the driver are missing; fewer by
    the declared count alone, two counts that differ, and more than on record are unclear. Twice as many are the dies
    of packages.
    """
    count, driver, above = sum(on_record.values()), _least(said.loaded), _least(said.declared)
    if driver is not None and driver < count:
        return _counts(AtOdds.MISSING, driver, count)
    dies = 2 if driver == 2 * count else 1
    models = [parts[model] for model in on_record if model in parts]
    other = _other_model(said.models, models, known) or _other_memory(said.memories, models, dies)
    if models and other:
        return other
    if driver is not None and above is not None and driver != above:
        return _counts(AtOdds.UNCLEAR, driver, above)
    if driver is None and above is not None and above < count:
        return _counts(AtOdds.UNCLEAR, above, count)
    if driver is not None and count and driver > count and dies == 1:
        return _counts(AtOdds.UNCLEAR, driver, count)
    return None


def _other_model(
    reported: Sequence[str], models: Sequence[Accelerator], known: Collection[str]
) -> HardwareFault | None:
    for name in reported:
        if all(means_another(name, part.name, known) for part in models):
            return _other(name, " / ".join(part.name for part in models))
    return None


def _other_memory(reported: Sequence[str], models: Sequence[Accelerator], dies: int) -> HardwareFault | None:
    """The memory of one accelerator, or of one die of it, where the catalogue knows that of each model on record."""
    sizes = [part.memory_bytes / dies for part in models if part.memory_bytes]
    if len(sizes) < len(models):
        return None
    for text in reported:
        match = _MEMORY.fullmatch(text.strip())
        if match is None:
            continue
        found = int(match[1]) * _BYTES[match[2]]
        if not any(_LEAST * size <= found <= _MOST * size for size in sizes):
            return _other(text, " / ".join(show_bytes(size) for size in sizes))
    return None


def _other(found: str, held_against: str) -> HardwareFault:
    return HardwareFault(code=AtOdds.OTHER, found=found, held_against=held_against)


def _counts(code: AtOdds, found: int, held_against: int) -> HardwareFault:
    return HardwareFault(code=code, found=str(found), held_against=str(held_against))


def _least(counts: Sequence[str]) -> int | None:
    """The smallest of the counts; a text that is no number counts nothing."""
    return min((int(text) for text in counts if text.isascii() and text.isdigit()), default=None)
