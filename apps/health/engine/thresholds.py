"""Limits on health figures: rules are data, each with warn, fail and a kill switch."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from apps.core import safe_yaml
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.health.engine.actions import ActionClass, class_of
from apps.health.engine.signals import Signal

_DATA = Path(__file__).resolve().parents[1] / "data" / "rules.yaml"


class Direction(StrEnum):
    """Which side of a limit is bad."""

    ABOVE = "above"
    BELOW = "below"


@dataclass(frozen=True, slots=True, kw_only=True)
class HealthRule:
    """A limit on one signal. A figure beyond `fail` fails, beyond `warn` warns; None: no such limit.

    Limits themselves are still good: 90 with fail 90 does not fail. is_immediate: one sighting is enough for
    the worse, else two of three decide. is_conclusive: one is enough for the better too, as of a test that was
    run. is_enabled: the kill switch. action: as in the table of fault actions.
    """

    id: str
    signal: str
    direction: Direction
    warn: float | None
    fail: float | None
    unit: str
    title: str
    why: str
    action: str = "none"
    is_immediate: bool = False
    is_conclusive: bool = False
    is_enabled: bool = True

    @property
    def action_class(self) -> ActionClass:
        return class_of(self.action)


@dataclass(frozen=True, slots=True, kw_only=True)
class Observation:
    """One signal under one rule; unknown for a figure that is no number."""

    rule: HealthRule
    signal: Signal
    verdict: Verdict


@cache
def built_in_rules() -> tuple[HealthRule, ...]:
    """The rules that come with the portal."""
    return read_rules(safe_yaml.load(_DATA.read_text(encoding="utf-8"))["rules"])


def read_rules(rows: Iterable[Mapping[str, Any]]) -> tuple[HealthRule, ...]:
    """Rules from plain data. Raises Invalid with one error for each wrong rule (pointer /3/fail)."""
    errors: list[FieldError] = []
    rules = [_rule(row, f"/{index}", errors) for index, row in enumerate(rows)]
    if errors:
        raise Invalid(say("the health rules are not valid"), code="bad_rules", errors=errors)
    return tuple(rule for rule in rules if rule is not None)


def _rule(row: Mapping[str, Any], pointer: str, errors: list[FieldError]) -> HealthRule | None:
    before = len(errors)
    for key in ("id", "signal", "title"):
        if not isinstance(row.get(key), str) or not row[key].strip():
            errors.append(
                FieldError(pointer=f"{pointer}/{key}", message=say("a text is needed"), code="required")
            )
    direction = row.get("direction")
    if direction not in list(Direction):
        errors.append(
            FieldError(
                pointer=f"{pointer}/direction",
                message=say("found %(direction)s; above or below", direction=f"{direction!r}"),
            )
        )
    warn, fail = (_limit(row, key, pointer, errors) for key in ("warn", "fail"))
    if warn is None and fail is None and len(errors) == before:
        errors.append(
            FieldError(pointer=f"{pointer}/fail", message=say("a rule needs warn or fail"), code="required")
        )
    if len(errors) == before and warn is not None and fail is not None:
        is_ordered = warn <= fail if direction == Direction.ABOVE else warn >= fail
        if not is_ordered:
            errors.append(FieldError(pointer=f"{pointer}/warn", message=say("warn must come before fail")))
    if len(errors) > before:
        return None
    return HealthRule(
        id=row["id"],
        signal=row["signal"],
        direction=Direction(row["direction"]),
        warn=warn,
        fail=fail,
        unit=str(row.get("unit", "")),
        title=row["title"],
        why=str(row.get("why", "")),
        action=str(row.get("action", "none")),
        is_immediate=row.get("immediate", False) is True,
        is_conclusive=row.get("conclusive", False) is True,
        is_enabled=row.get("enabled", True) is True,
    )


def _limit(row: Mapping[str, Any], key: str, pointer: str, errors: list[FieldError]) -> float | None:
    value = row.get(key)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):
        errors.append(
            FieldError(
                pointer=f"{pointer}/{key}",
                message=say("found %(value)s; a number is needed", value=f"{value!r}"),
            )
        )
        return None
    return float(value)


def observe(signals: Iterable[Signal], rules: Iterable[HealthRule] | None = None) -> tuple[Observation, ...]:
    """Hold signals against rules (the built-in ones unless given).

    A signal without a rule gives nothing; so does a rule without a signal: silence is no pass.
    """
    by_signal: dict[str, list[HealthRule]] = {}
    for rule in built_in_rules() if rules is None else rules:
        if rule.is_enabled:
            by_signal.setdefault(rule.signal, []).append(rule)
    return tuple(
        Observation(rule=rule, signal=signal, verdict=verdict_of(rule, signal.value))
        for signal in signals
        for rule in by_signal.get(signal.name, ())
    )


def verdict_of(rule: HealthRule, value: float) -> Verdict:
    """What a rule says of one figure; unknown where it is no number."""
    if math.isnan(value):
        return Verdict.UNKNOWN
    if rule.fail is not None and _is_beyond(rule, value, rule.fail):
        return Verdict.FAIL
    if rule.warn is not None and _is_beyond(rule, value, rule.warn):
        return Verdict.WARN
    return Verdict.PASS


def _is_beyond(rule: HealthRule, value: float, limit: float) -> bool:
    return value > limit if rule.direction is Direction.ABOVE else value < limit
