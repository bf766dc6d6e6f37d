"""Whether versions of several components go together: each rule passes, fails, or cannot be told."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.catalogue.engine.components import component
from apps.catalogue.engine.version_tables import VersionTables, shipped_tables
from apps.catalogue.engine.versions import at_least, compare, identical, parse, same_branch
from apps.core.verdicts import Verdict
from apps.environments.engine.compat.form import (
    Clause,
    CompatibilityRule,
    Relation,
    built_in_rules,
    read_rules,
    shipped_rows,
)
from apps.environments.engine.compat.tables import LOOK_UPS
from apps.environments.engine.rules import MatrixEntry

__all__ = [
    "Clause",
    "CompatibilityRule",
    "Relation",
    "RuleReason",
    "RuleResult",
    "built_in_rules",
    "check_versions",
    "read_rules",
    "shipped_rows",
    "versions_of",
]

Versions = Mapping[str, Sequence[str]]


class RuleReason(StrEnum):
    """Why a rule came out as it did."""

    HOLDS = "holds"
    BROKEN = "broken"
    NOT_STATED = "not_stated"
    NOT_IN_TABLE = "not_in_table"
    NOT_COMPARABLE = "not_comparable"


@dataclass(frozen=True, slots=True, kw_only=True)
class RuleResult:
    """What one rule says of a set of versions.

    rule: its id. clause: the part that decided. found: raw versions of its component. expected: what they
    were held against, raw; empty where that is not known.
    """

    rule: str
    definition: CompatibilityRule
    verdict: Verdict
    reason: RuleReason
    clause: Clause
    found: tuple[str, ...]
    expected: tuple[str, ...]

    @property
    def is_broken(self) -> bool:
        """Whether the combination is known to be bad; a warning or an unknown is not."""
        return self.verdict is Verdict.FAIL

    @property
    def is_warned(self) -> bool:
        """Whether the versions run together but should not stay so, such as a driver branch that has ended."""
        return self.verdict is Verdict.WARN

    @property
    def message(self) -> str:
        """The result as one English sentence."""
        found = f"{self.clause.component} {', '.join(self.found) or 'is not stated'}"
        needed = (
            f" ({self.clause.relation.replace('_', ' ')} {', '.join(self.expected)})" if self.expected else ""
        )
        return f"{self.definition.title}: {self.reason.replace('_', ' ')}, {found}{needed}"


def versions_of(entries: Sequence[MatrixEntry]) -> dict[str, tuple[str, ...]]:
    """The versions that a matrix asks for, by component; entries without a version are left out."""
    return {
        entry.component: entry.values for entry in entries if any(value.strip() for value in entry.values)
    }


def check_versions(
    versions: Versions,
    rules: Sequence[CompatibilityRule] | None = None,
    *,
    tables: VersionTables | None = None,
) -> tuple[RuleResult, ...]:
    """Hold versions against rules (the built-in ones unless given); rules that do not apply are left out.

    versions: component to raw versions, several where a matrix allows several or units differ: each must
    fit. tables: what lookups look into, as a team has it; the shipped ones unless given.
    """
    stated = {name: tuple(values) for name, values in versions.items() if values}
    checker = _Checker(stated, tables or shipped_tables())
    results = (checker.result(rule) for rule in (built_in_rules() if rules is None else rules))
    return tuple(result for result in results if result is not None)


class _Checker:
    """One set of versions, ready to be asked about clauses."""

    def __init__(self, stated: Mapping[str, tuple[str, ...]], tables: VersionTables) -> None:
        self._stated = stated
        self._tables = tables

    def result(self, rule: CompatibilityRule) -> RuleResult | None:
        """None where the rule does not apply: one of `when` does not hold, or it skips what is unlisted."""
        if not all(self._holds(clause)[0] is True for clause in rule.when):
            return None
        worst: RuleResult | None = None
        for clause in rule.then:
            holds, reason, expected = self._holds(clause)
            if reason is RuleReason.NOT_IN_TABLE and rule.skips_unlisted:
                continue
            verdict = {True: Verdict.PASS, False: rule.severity, None: Verdict.UNKNOWN}[holds]
            result = RuleResult(
                rule=rule.id,
                definition=rule,
                verdict=verdict,
                reason=reason,
                clause=clause,
                found=self._stated.get(clause.component, ()),
                expected=expected,
            )
            if worst is None or _rank(result) > _rank(worst):
                worst = result
        return worst

    def _holds(self, clause: Clause) -> tuple[bool | None, RuleReason, tuple[str, ...]]:
        found = self._stated.get(clause.component, ())
        if clause.relation is Relation.PRESENT:
            return _told(True) if found else (None, RuleReason.NOT_STATED, ())
        if clause.relation is Relation.ABSENT:
            return _told(not found)
        if not found:
            return None, RuleReason.NOT_STATED, ()
        if clause.relation in (Relation.CONTAINS, Relation.LACKS):
            return _told(_text_holds(clause, found), clause.values)
        expected, reason = self._operand(clause)
        if not expected:
            return None, reason, ()
        fits = [self._fits(clause, text, expected) for text in found]
        if any(fit is False for fit in fits):
            return _told(False, expected)
        return (None, RuleReason.NOT_COMPARABLE, expected) if None in fits else _told(True, expected)

    def _operand(self, clause: Clause) -> tuple[tuple[str, ...], RuleReason]:
        if clause.values:
            return clause.values, RuleReason.HOLDS
        if clause.of:
            return self._stated.get(clause.of, ()), RuleReason.NOT_STATED
        look_up = LOOK_UPS[clause.table]
        keys = self._stated.get(clause.by, ())
        if not keys:
            return (), RuleReason.NOT_STATED
        found = [look_up(key, self._tables) for key in keys]
        if any(values is None for values in found):
            return (), RuleReason.NOT_IN_TABLE
        return tuple(dict.fromkeys(value for values in found for value in values or ())), RuleReason.HOLDS

    def _fits(self, clause: Clause, text: str, expected: Sequence[str]) -> bool | None:
        known = component(clause.component)
        version = parse(text, known.scheme)
        others = [parse(value, known.scheme) for value in expected]
        if clause.relation is Relation.EQUAL:
            fits = [identical(version, other) for other in others]
        elif clause.relation is Relation.AT_LEAST:
            fits = [at_least(version, other) for other in others]
        elif clause.relation is Relation.BELOW:
            orders = [compare(version, other) for other in others]
            fits = [None if order is None else order < 0 for order in orders]
        else:
            fits = [same_branch(version, other, known.branch_depth) for other in others]
        if clause.relation is Relation.OTHER_BRANCH:
            return None if None in fits else not any(fits)
        wants_all = clause.relation in (Relation.AT_LEAST, Relation.BELOW) or bool(clause.of)
        return _all(fits) if wants_all else _any(fits)


def _text_holds(clause: Clause, found: Sequence[str]) -> bool:
    words = [word.casefold() for word in clause.values]
    holds = [any(word in text.casefold() for word in words) for text in found]
    return any(holds) if clause.relation is Relation.CONTAINS else not any(holds)


def _told(holds: bool, expected: tuple[str, ...] = ()) -> tuple[bool, RuleReason, tuple[str, ...]]:
    return holds, RuleReason.HOLDS if holds else RuleReason.BROKEN, expected


def _all(fits: Sequence[bool | None]) -> bool | None:
    if False in fits:
        return False
    return None if None in fits else True


def _any(fits: Sequence[bool | None]) -> bool | None:
    if True in fits:
        return True
    return None if None in fits else False


def _rank(result: RuleResult) -> int:
    order = (Verdict.PASS, Verdict.WAIVED, Verdict.WARN, Verdict.UNKNOWN, Verdict.FAIL)
    return order.index(result.verdict)
