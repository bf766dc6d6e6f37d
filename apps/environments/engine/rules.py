"""How one node's versions of one component are held against what a matrix asks for."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from apps.catalogue.engine.components import Component, RuleKind
from apps.catalogue.engine.versions import ParsedVersion, Scheme, at_least, identical, parse, same_branch
from apps.core.verdicts import Verdict


class Outcome(StrEnum):
    """What a comparison came to."""

    MATCH = "match"
    DRIFT = "drift"
    MISSING = "missing"
    EXTRA = "extra"
    UNKNOWN_FORM = "unknown_form"
    STALE = "stale"
    NOT_EVALUATED = "not_evaluated"


_VERDICTS = {
    Outcome.MATCH: Verdict.PASS,
    Outcome.DRIFT: Verdict.FAIL,
    Outcome.MISSING: Verdict.FAIL,
    Outcome.EXTRA: Verdict.WARN,
    Outcome.UNKNOWN_FORM: Verdict.UNKNOWN,
    Outcome.STALE: Verdict.UNKNOWN,
    Outcome.NOT_EVALUATED: Verdict.UNKNOWN,
}


def verdict_of(outcome: Outcome) -> Verdict:
    """The verdict that an outcome stands for; what could not be judged is unknown, never pass."""
    return _VERDICTS[outcome]


@dataclass(frozen=True, slots=True, kw_only=True)
class MatrixEntry:
    """What a matrix asks for of one component.

    values: one version, several for one_of, none for uniform and not_checked.
    branch_depth: how many leading numbers name a branch; None for the default of the scheme.
    """

    component: str
    rule: RuleKind
    values: tuple[str, ...] = ()
    scheme: Scheme = Scheme.OPAQUE
    branch_depth: int | None = None

    @property
    def expected(self) -> str:
        """The versions asked for, as one text."""
        return " | ".join(self.values)


def entry_for(component: Component, *values: str, rule: RuleKind | None = None) -> MatrixEntry:
    """An entry with the scheme and, unless given, the rule that the catalogue has for the component."""
    return MatrixEntry(
        component=component.id,
        rule=rule or component.rule,
        values=values,
        scheme=component.scheme,
        branch_depth=component.branch_depth,
    )


class Reason(StrEnum):
    """Why an outcome is what it is; a code that pages translate."""

    AS_ASKED = "as_asked"
    OTHER_VERSION = "other_version"
    OTHER_BRANCH = "other_branch"
    TOO_OLD = "too_old"
    NOT_IN_LIST = "not_in_list"
    UNITS_DIFFER = "units_differ"
    NOT_THE_MAJORITY = "not_the_majority"
    NO_MAJORITY = "no_majority"
    NOT_REPORTED = "not_reported"
    NOT_IN_MATRIX = "not_in_matrix"
    FORM_NOT_UNDERSTOOD = "form_not_understood"
    INTENT_NOT_UNDERSTOOD = "intent_not_understood"
    NOT_COMPARABLE = "not_comparable"
    NOTHING_ASKED = "nothing_asked"
    REPORT_TOO_OLD = "report_too_old"


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """An outcome and why."""

    outcome: Outcome
    reason: Reason


def judge(entry: MatrixEntry, values: Sequence[str]) -> Judgement:
    """Hold the versions that one node reports against an entry; every one of them must fit.

    values: raw versions, several where units differ (GPUs with two VBIOS). For `uniform` only what one node
    can tell is judged here: whether its own units agree.
    """
    if entry.rule is RuleKind.NOT_CHECKED:
        return Judgement(outcome=Outcome.NOT_EVALUATED, reason=Reason.NOTHING_ASKED)
    if not values:
        return Judgement(outcome=Outcome.MISSING, reason=Reason.NOT_REPORTED)
    reported = [parse(value, entry.scheme) for value in values]
    if not all(version.is_known for version in reported):
        return Judgement(outcome=Outcome.UNKNOWN_FORM, reason=Reason.FORM_NOT_UNDERSTOOD)
    if entry.rule is RuleKind.UNIFORM:
        return _judge_units(reported)
    asked = [parse(value, entry.scheme) for value in entry.values if value.strip()]
    if not asked:
        return Judgement(outcome=Outcome.NOT_EVALUATED, reason=Reason.NOTHING_ASKED)
    if not all(version.is_known for version in asked):
        return Judgement(outcome=Outcome.UNKNOWN_FORM, reason=Reason.INTENT_NOT_UNDERSTOOD)
    return _worst([_judge_one(entry, version, asked) for version in reported])


def sameness(version: ParsedVersion) -> tuple[object, ...]:
    """What two versions must share to count as one within a domain; stricter than `identical`.

    A CUDA tag or a build that only one of them states sets them apart: uniform has to be shown.
    """
    order = (version.key, version.flavour, version.detail) if version.is_ordered else (version.canonical,)
    return (version.family, *order, tuple(sorted(version.qualifiers.items())))


def _judge_units(reported: Sequence[ParsedVersion]) -> Judgement:
    if len({sameness(version) for version in reported}) > 1:
        return Judgement(outcome=Outcome.DRIFT, reason=Reason.UNITS_DIFFER)
    return Judgement(outcome=Outcome.MATCH, reason=Reason.AS_ASKED)


def _judge_one(entry: MatrixEntry, version: ParsedVersion, asked: Sequence[ParsedVersion]) -> Judgement:
    if entry.rule is RuleKind.SAME_BRANCH:
        fits = [same_branch(version, wanted, entry.branch_depth) for wanted in asked]
    elif entry.rule is RuleKind.AT_LEAST:
        fits = [at_least(version, floor) for floor in asked]
    else:
        fits = [identical(version, wanted) for wanted in asked]
    if any(fit is True for fit in fits):
        return Judgement(outcome=Outcome.MATCH, reason=Reason.AS_ASKED)
    if any(fit is None for fit in fits):
        return Judgement(outcome=Outcome.UNKNOWN_FORM, reason=Reason.NOT_COMPARABLE)
    return Judgement(outcome=Outcome.DRIFT, reason=_DRIFT_REASONS[entry.rule])


_DRIFT_REASONS = {
    RuleKind.EXACT: Reason.OTHER_VERSION,
    RuleKind.SAME_BRANCH: Reason.OTHER_BRANCH,
    RuleKind.AT_LEAST: Reason.TOO_OLD,
    RuleKind.ONE_OF: Reason.NOT_IN_LIST,
}


def _worst(judgements: Sequence[Judgement]) -> Judgement:
    for outcome in (Outcome.DRIFT, Outcome.UNKNOWN_FORM):
        for judgement in judgements:
            if judgement.outcome is outcome:
                return judgement
    return judgements[0]
