"""Small helpers that several version schemes share: numbers, trimming, and words that say nothing."""

from __future__ import annotations

import re

# What tools print where they have no version to give; an image tag `latest` names no build either.
_PLACEHOLDERS = frozenset(
    {
        "",
        "-",
        "--",
        "?",
        "n/a",
        "na",
        "nil",
        "none",
        "null",
        "unknown",
        "unavailable",
        "latest",
        "not available",
        "not supported",
        "could not collect",
        "unknown error",
        "requested functionality has been deprecated",
    }
)
_LONGEST_NUMBER = 18


def trim(raw: str) -> str:
    """The text without outer blanks and with single blanks inside."""
    return " ".join(raw.split())


def says_nothing(text: str) -> bool:
    """Whether the text stands for a missing value (`N/A`, `[Unknown Error]`, `latest`)."""
    return text.strip("[]()<> ").casefold() in _PLACEHOLDERS or text.casefold().endswith(":latest")


def numbers_of(text: str) -> tuple[int, ...]:
    """All decimal numbers in the text, in order: `5.15.0-1064` gives 5, 15, 0, 1064.

    Only ASCII digits count. A run above 18 digits is no version number and gives an empty tuple.
    """
    found = re.findall(r"[0-9]+", text)
    if any(len(run) > _LONGEST_NUMBER for run in found):
        return ()
    return tuple(int(run) for run in found)


def without_trailing_zeros(numbers: tuple[int, ...]) -> tuple[int, ...]:
    """The numbers as they order: 12.8 and 12.8.0 are one version; at least one number stays."""
    end = len(numbers)
    while end > 1 and numbers[end - 1] == 0:
        end -= 1
    return numbers[:end]


def dotted(numbers: tuple[int, ...]) -> str:
    """Numbers joined with dots."""
    return ".".join(str(number) for number in numbers)
