"""What a parser is given and what it gives back."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from apps.core.errors import Invalid

# Warnings after which what a file lists may be less, or more, than what is there: no count follows from it.
_NOT_WHOLE = frozenset(
    {
        "chips_missing",
        "count_differs",
        "cut_line",
        "cut_off",
        "device_rows",
        "gpu_repeated",
        "gpus_missing",
        "no_count",
        "no_devices",
        "no_end",
        "not_well_formed",
        "ports_missing",
        "repeated_device",
    }
)


@dataclass(frozen=True, slots=True, kw_only=True)
class ReadingWarning:
    """One thing in the file that the parser could not make sense of, or that looks wrong.

    line: 1-based line in the file as it arrived, None where it concerns the whole file.
    text: the text found, cut to 200 characters. code: stable, snake_case.
    """

    code: str
    message: str
    line: int | None = None
    text: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Reading:
    """What was read from one piece of evidence.

    kind: the format, one of `registry.KINDS`. facts: JSON-able; None means that the file does not say
    it, never a default. parser_version goes up when the same bytes read differently.
    """

    kind: str
    facts: dict[str, Any]
    warnings: tuple[ReadingWarning, ...] = field(default=())
    parser_version: int = 1

    @property
    def lists_all(self) -> bool:
        """Whether what it lists may be counted: nothing in it says that the file was cut or leaves something out."""
        return not any(warning.code in _NOT_WHOLE for warning in self.warnings)


class Unreadable(Invalid):
    """The file could not be read as any format, or not as the one asked for."""

    default_code = "unreadable"
