"""The form of a compatibility rule: plain data, read and checked, never executed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from pathlib import Path
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.core.safe_yaml import load_all
from apps.core.texts import say
from apps.core.verdicts import Verdict
from apps.environments.engine.compat.tables import LOOK_UPS

_DATA = Path(__file__).resolve().parents[2] / "data" / "compatibility.yaml"


class Relation(StrEnum):
    """What a clause says of a component."""

    PRESENT = "present"
    ABSENT = "absent"
    CONTAINS = "contains"
    LACKS = "lacks"
    EQUAL = "equal"
    SAME_BRANCH = "same_branch"
    OTHER_BRANCH = "other_branch"
    AT_LEAST = "at_least"
    BELOW = "below"


_WITHOUT_OPERAND = frozenset({Relation.PRESENT, Relation.ABSENT})
_TEXT_ONLY = frozenset({Relation.CONTAINS, Relation.LACKS})


@dataclass(frozen=True, slots=True, kw_only=True)
class Clause:
    """One statement: a component, a relation, and what it is held against.

    Exactly one of `values` (literals), `of` (another component) and `table` (a lookup, `by` a component) is
    set, and none of them for present and absent.
    """

    component: str
    relation: Relation
    values: tuple[str, ...] = ()
    of: str = ""
    table: str = ""
    by: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class CompatibilityRule:
    """Where all of `when` hold, all of `then` must; severity: the verdict of a broken rule, fail or warn.

    skips_unlisted: where a lookup knows nothing of the version, the rule does not apply (else it is unknown).
    """

    id: str
    title: str
    when: tuple[Clause, ...]
    then: tuple[Clause, ...]
    severity: Verdict = Verdict.FAIL
    skips_unlisted: bool = False
    why: str = ""
    remedy: str = ""
    source: str = ""
    confidence: str = ""


@cache
def built_in_rules() -> tuple[CompatibilityRule, ...]:
    """The rules that come with the portal."""
    return read_rules(list(shipped_rows().values()))


@cache
def shipped_rows() -> dict[str, dict[str, Any]]:
    """The same as plain data, by id; callers must not change them."""
    (document,) = load_all(_DATA.read_text(encoding="utf-8"))
    return {row["id"]: row for row in document.value["rules"]}


def read_rules(rows: object) -> tuple[CompatibilityRule, ...]:
    """Rules from plain data (a list of maps, as YAML or JSON give it).

    Raises Invalid with one error for each thing wrong: pointer such as /3/then/0/is, what stands there,
    and what would be right.
    """
    errors: list[FieldError] = []
    rules = [
        _rule(row, f"/{index}", errors) for index, row in enumerate(_list(rows, "", errors, of_what="rules"))
    ]
    found = [rule for rule in rules if rule is not None]
    for index, rule in enumerate(found):
        if any(other.id == rule.id for other in found[:index]):
            errors.append(
                FieldError(
                    pointer=f"/{index}/id",
                    message=say("%(id)s is used twice", id=f"{rule.id!r}"),
                    code="duplicate",
                )
            )
    if errors:
        raise Invalid(say("the compatibility rules are not valid"), code="bad_rules", errors=errors)
    return tuple(found)


_RULE_KEYS = ("id", "title", "when", "then", "severity", "unlisted", "why", "remedy", "source", "confidence")
_CLAUSE_KEYS = ("component", "is", "value", "of", "table", "by")


def _rule(row: object, pointer: str, errors: list[FieldError]) -> CompatibilityRule | None:
    before = len(errors)
    fields = _map(row, pointer, errors, _RULE_KEYS)
    texts = {key: _text(fields, key, pointer, errors) for key in ("id", "title", "why", "remedy")}
    texts |= {key: _text(fields, key, pointer, errors) for key in ("source", "confidence")}
    severity = _text(fields, "severity", pointer, errors) or Verdict.FAIL.value
    if severity not in (Verdict.FAIL, Verdict.WARN):
        errors.append(_wrong(f"{pointer}/severity", severity, say("fail or warn")))
    unlisted = _text(fields, "unlisted", pointer, errors) or "unknown"
    if unlisted not in ("unknown", "skip"):
        errors.append(_wrong(f"{pointer}/unlisted", unlisted, say("unknown or skip")))
    if not texts["id"]:
        errors.append(FieldError(pointer=f"{pointer}/id", message=say("a rule needs an id"), code="required"))
    when = _clauses(fields.get("when", []), f"{pointer}/when", errors)
    then = _clauses(fields.get("then", []), f"{pointer}/then", errors)
    if not then and len(errors) == before:
        errors.append(
            FieldError(
                pointer=f"{pointer}/then",
                message=say("a rule needs something that must hold"),
                code="required",
            )
        )
    if len(errors) > before:
        return None
    return CompatibilityRule(
        id=texts["id"],
        title=texts["title"] or texts["id"],
        when=when,
        then=then,
        severity=Verdict(severity),
        skips_unlisted=unlisted == "skip",
        why=texts["why"],
        remedy=texts["remedy"],
        source=texts["source"],
        confidence=texts["confidence"],
    )


def _clauses(rows: object, pointer: str, errors: list[FieldError]) -> tuple[Clause, ...]:
    found = [
        _clause(row, f"{pointer}/{index}", errors)
        for index, row in enumerate(_list(rows, pointer, errors, of_what="clauses"))
    ]
    return tuple(clause for clause in found if clause is not None)


def _clause(row: object, pointer: str, errors: list[FieldError]) -> Clause | None:
    before = len(errors)
    fields = _map(row, pointer, errors, _CLAUSE_KEYS)
    relation = _text(fields, "is", pointer, errors)
    if relation not in list(Relation):
        errors.append(_wrong(f"{pointer}/is", relation, ", ".join(Relation)))
    component = _text(fields, "component", pointer, errors)
    if not component:
        errors.append(
            FieldError(pointer=f"{pointer}/component", message=say("name a component"), code="required")
        )
    if len(errors) > before:
        return None
    clause = Clause(
        component=component,
        relation=Relation(relation),
        values=_values(fields.get("value"), f"{pointer}/value", errors),
        of=_text(fields, "of", pointer, errors),
        table=_text(fields, "table", pointer, errors),
        by=_text(fields, "by", pointer, errors),
    )
    _check_operand(clause, pointer, errors)
    return clause if len(errors) == before else None


def _check_operand(clause: Clause, pointer: str, errors: list[FieldError]) -> None:
    operands = sum((bool(clause.values), bool(clause.of), bool(clause.table)))
    if clause.relation in _WITHOUT_OPERAND:
        if operands:
            errors.append(
                _wrong(pointer, say("an operand"), say("none for %(relation)s", relation=clause.relation))
            )
        return
    if operands != 1:
        errors.append(
            _wrong(
                pointer,
                say("%(operands)s of value, of and table", operands=operands),
                say("exactly one of them"),
            )
        )
    elif clause.relation in _TEXT_ONLY and not clause.values:
        errors.append(
            _wrong(pointer, say("no value"), say("a value for %(relation)s", relation=clause.relation))
        )
    elif clause.table and clause.table not in LOOK_UPS:
        errors.append(_wrong(f"{pointer}/table", clause.table, ", ".join(LOOK_UPS)))
    elif clause.table and not clause.by:
        errors.append(_wrong(f"{pointer}/by", "", say("the component to look up by")))


def _values(held: object, pointer: str, errors: list[FieldError]) -> tuple[str, ...]:
    """Literals as text. A bare 12.10 is a number that has lost its zero, so numbers with a dot are refused."""
    if held is None:
        return ()
    values = held if isinstance(held, list | tuple) else (held,)
    for value in values:
        if isinstance(value, bool) or not isinstance(value, str | int):
            errors.append(_wrong(pointer, str(value), say("a text in quotes")))
    return tuple(str(value) for value in values)


def _list(held: object, pointer: str, errors: list[FieldError], *, of_what: str) -> Sequence[object]:
    if isinstance(held, list | tuple):
        return held
    errors.append(_wrong(pointer, type(held).__name__, say("a list of %(of_what)s", of_what=of_what)))
    return ()


def _map(held: object, pointer: str, errors: list[FieldError], keys: Sequence[str]) -> Mapping[str, Any]:
    if not isinstance(held, Mapping):
        errors.append(_wrong(pointer, type(held).__name__, say("a map of %(keys)s", keys=", ".join(keys))))
        return {}
    errors += [_wrong(f"{pointer}/{key}", str(key), ", ".join(keys)) for key in held if key not in keys]
    return held


def _text(fields: Mapping[str, Any], key: str, pointer: str, errors: list[FieldError]) -> str:
    value = fields.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        errors.append(_wrong(f"{pointer}/{key}", str(value), say("a text")))
        return ""
    return value.strip()


def _wrong(pointer: str, found: str, right: str) -> FieldError:
    seen = f"{found!r}" if found else say("nothing")
    message = say("found %(found)s; right would be %(right)s", found=seen, right=right)
    return FieldError(pointer=pointer, message=message)
