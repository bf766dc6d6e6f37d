"""Does a node report the accelerators that are on record for it?"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from apps.core.verdicts import Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class CountFault:
    """A count that does not hold. found: how many are reported; held_against: how many there should be."""

    verdict: Verdict
    found: int
    held_against: int


def fault_in(*, on_record: int, loaded: Sequence[str], declared: Sequence[str]) -> CountFault | None:
    """What is wrong with the counts that a node reports; None where nothing is, or where it reports none.

    on_record: accelerators of the node in the inventory. loaded: counts that its driver states. declared: counts
    of what runs above the driver, which a container may hold down. Fewer than on record by the driver is a fail;
    fewer by the declared count alone, or two counts that differ, is unknown.
    """
    driver, above = _least(loaded), _least(declared)
    if driver is not None and driver < on_record:
        return CountFault(verdict=Verdict.FAIL, found=driver, held_against=on_record)
    if driver is not None and above is not None and driver != above:
        return CountFault(verdict=Verdict.UNKNOWN, found=driver, held_against=above)
    if driver is None and above is not None and above < on_record:
        return CountFault(verdict=Verdict.UNKNOWN, found=above, held_against=on_record)
    return None


def _least(counts: Sequence[str]) -> int | None:
    """The smallest of the counts; a text that is no number counts nothing."""
    return min((int(text) for text in counts if text.isascii() and text.isdigit()), default=None)
