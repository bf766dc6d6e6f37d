"""Units: conversion at the border, and how quantities are shown to people.

Inside the portal sizes are bytes, spans are seconds, work is FLOPs. GB is 10^9 bytes; GiB says GiB.
What rounds to zero is shown as zero, never as minus zero: `z` in a format takes the sign away. People read a true
minus sign (U+2212); files and the API hold numbers, not these texts.
"""

from __future__ import annotations

GB = 10**9
TB = 10**12


def gb(value: float) -> float:
    """Bytes in `value` gigabytes (10^9)."""
    return value * GB


MINUS = "\N{MINUS SIGN}"
_DECIMAL = ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


def with_minus(figure: str) -> str:
    """A formatted figure with a true minus sign in place of a leading hyphen."""
    return f"{MINUS}{figure[1:]}" if figure.startswith("-") else figure


def as_typed(value: float | None) -> str:
    """A figure as people type it into a field: 10 for 10.0, and 7 for 7.000000000000001. Nothing for None."""
    return "" if value is None else f"{value:.10g}"


def show_bytes(size_bytes: float | None) -> str:
    """A size for people in decimal units, three significant digits; '?' where it is unknown."""
    if size_bytes is None:
        return "?"
    for factor, unit in _DECIMAL:
        if abs(size_bytes) >= factor:
            return f"{_three_digits(size_bytes / factor)} {unit}"
    return with_minus(f"{size_bytes:z.0f} B")


def show_binary_bytes(size_bytes: int | None) -> str:
    """A size for people in binary units, as tools step the sizes of messages: 1 KiB, 64 MiB, 16 GiB."""
    if size_bytes is None:
        return "?"
    value, unit = float(size_bytes), "B"
    for larger in ("KiB", "MiB", "GiB", "TiB"):
        if value < 1024:
            break
        value, unit = value / 1024, larger
    return f"{value:.0f} {unit}" if value.is_integer() else f"{value:.1f} {unit}"


def show_bandwidth(bandwidth_bytes_per_s: float | None) -> str:
    """A bandwidth for people, decimal units per second; '?' where it is unknown."""
    return "?" if bandwidth_bytes_per_s is None else f"{show_bytes(bandwidth_bytes_per_s)}/s"


def show_seconds(span_s: float | None) -> str:
    """A span for people, from microseconds to days, a whole figure without decimals; '?' where it is unknown."""
    if span_s is None:
        return "?"
    if span_s == 0:
        return "0 s"
    for limit, factor, unit in ((1e-3, 1e6, "µs"), (1.0, 1e3, "ms"), (120.0, 1.0, "s")):
        if abs(span_s) < limit:
            return f"{_whole_or_three_digits(span_s * factor)} {unit}"
    for limit, factor, unit in ((7200.0, 60.0, "min"), (172800.0, 3600.0, "h")):
        if abs(span_s) < limit:
            return f"{_whole_or_three_digits(span_s / factor)} {unit}"
    return f"{_whole_or_three_digits(span_s / 86400)} d"


def show_share(share: float | None) -> str:
    """A share (0 to 1) for people as percent; '?' where it is unknown."""
    return "?" if share is None else with_minus(f"{share * 100:z.1f} %")


def show_change(share: float, digits: int = 1) -> str:
    """A relative change (0.02 for 2 % more) for people as percent with its sign; none has no sign."""
    shown = f"{share * 100:+z.{digits}f} %"
    return with_minus(shown) if shown.strip("+0. %") else shown.removeprefix("+")


def _whole_or_three_digits(value: float) -> str:
    return with_minus(f"{value:z.0f}") if float(value).is_integer() else _three_digits(value)


def _three_digits(value: float) -> str:
    digits = 0 if abs(value) >= 100 else 1 if abs(value) >= 10 else 2
    return with_minus(f"{value:z.{digits}f}")
