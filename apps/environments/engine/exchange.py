"""Matrices as files: YAML and CSV out and in again, with every fault named by row and column."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterable, Mapping, Sequence

import yaml

from apps.catalogue.engine.components import RuleKind, component
from apps.catalogue.engine.versions import Scheme
from apps.core import safe_yaml
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.environments.engine.rules import MatrixEntry

COLUMNS = ("component", "rule", "values", "scheme", "branch_depth")
LIMIT_ROWS = 2000
LIMIT_TEXT = 300
Place = int | str  # row of a CSV file, or beginning of a pointer
# A spreadsheet takes a cell that begins so for a formula; a quote in front makes it text.
_FORMULA = ("=", "+", "-", "@", "\t", "\r", "'")


def is_component_id(text: str) -> bool:
    """Whether a text can name a component: small letters, digits and _, at most 60."""
    return re.fullmatch(r"[a-z][a-z0-9_]{0,59}", text) is not None


def to_csv(entries: Iterable[MatrixEntry]) -> str:
    """One row for each entry under the header `COLUMNS`; several versions are joined with ` | `."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for entry in entries:
        depth = "" if entry.branch_depth is None else str(entry.branch_depth)
        joined = " | ".join(_escape(value) for value in entry.values)
        writer.writerow([_guard(cell) for cell in (entry.component, entry.rule, joined, entry.scheme, depth)])
    return out.getvalue()


def to_yaml(entries: Iterable[MatrixEntry]) -> str:
    """A map with a list `entries`; versions are always quoted, so that 12.10 keeps its zero."""
    rows = [
        {
            "component": entry.component,
            "rule": str(entry.rule),
            "values": [_Quoted(value) for value in entry.values],
            "scheme": str(entry.scheme),
            "branch_depth": entry.branch_depth,
        }
        for entry in entries
    ]
    return yaml.dump({"entries": rows}, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=1000)


def from_csv(text: str) -> tuple[MatrixEntry, ...]:
    """The entries of a CSV file. Only component is required; rule, scheme and depth come from the catalogue.

    Raises Invalid with one error for each fault: pointer `row 3, column rule` (rows as in the file).
    """
    # Lines are cut by the reader itself, which keeps line ends inside quotes.
    reader = csv.reader(io.StringIO(text.lstrip("﻿"), newline=""), strict=True)
    try:
        rows = [(reader.line_num, row) for row in reader]
    except csv.Error as fault:
        raise Invalid(
            say("row %(line_num)s: this is no CSV: %(fault)s", line_num=reader.line_num, fault=fault),
            code="bad_csv",
            errors=[FieldError(pointer=say("row %(row)s", row=reader.line_num), message=str(fault))],
        ) from fault
    header = [name.strip().casefold() for name in rows[0][1]] if rows else []
    _check_header(header)
    named: list[tuple[Place, Mapping[str, object]]] = []
    errors: list[FieldError] = []
    for number, row in rows[1:]:
        if not any(cell.strip() for cell in row):
            continue
        if len(row) > len(header):
            errors.append(
                FieldError(
                    pointer=say("row %(row)s", row=number),
                    message=say(
                        "%(count)s cells; right would be %(columns)s", count=len(row), columns=len(header)
                    ),
                )
            )
            continue
        cells = {name: _unguard(cell.strip()) for name, cell in zip(header, row, strict=False)}
        named.append(
            (
                number,
                {**cells, "values": _split(cells.get("values", ""))},
            )
        )
    return _entries(named, errors)


def from_yaml(text: str) -> tuple[MatrixEntry, ...]:
    """The entries of a YAML file as `to_yaml` writes it; pointers are /entries/3/rule.

    Raises Invalid as `from_csv` does, and UnsafeYaml for text that is not plain YAML.
    """
    document = safe_yaml.load(text)
    rows = document.get("entries") if isinstance(document, dict) else None
    if not isinstance(rows, list):
        raise _invalid(
            [FieldError(pointer="/entries", message=say("right would be a map with a list `entries`"))]
        )
    named: list[tuple[Place, Mapping[str, object]]] = []
    errors: list[FieldError] = []
    for index, row in enumerate(rows):
        if isinstance(row, dict):
            named.append((f"/entries/{index}/", row))
        else:
            errors.append(FieldError(pointer=f"/entries/{index}", message=say("right would be a map")))
    return _entries(named, errors)


def _check_header(header: Sequence[str]) -> None:
    errors = [
        FieldError(
            pointer=_at(1, name or say("(blank)")),
            message=say("unknown column; known are %(columns)s", columns=", ".join(COLUMNS)),
            code="unknown_column",
        )
        for name in header
        if name not in COLUMNS
    ]
    errors += [
        FieldError(
            pointer=_at(1, name),
            message=say("the column stands there twice"),
            code="duplicate",
        )
        for name in sorted({name for name in header if header.count(name) > 1})
    ]
    if "component" not in header:
        errors.append(
            FieldError(pointer=_at(1, "component"), message=say("the column is missing"), code="required")
        )
    if errors:
        raise _invalid(errors)


def _entries(
    named: Sequence[tuple[Place, Mapping[str, object]]], errors: list[FieldError]
) -> tuple[MatrixEntry, ...]:
    if len(named) > LIMIT_ROWS:
        raise _invalid(
            [
                FieldError(
                    pointer="",
                    message=say(
                        "%(count)s rows; at most %(limit_rows)s", count=len(named), limit_rows=LIMIT_ROWS
                    ),
                    code="too_many",
                )
            ]
        )
    entries: dict[str, MatrixEntry] = {}
    for place, row in named:
        entry = _entry(place, row, errors)
        if entry is not None and entry.component in entries:
            errors.append(
                FieldError(
                    pointer=_at(place, "component"),
                    message=say("%(component)s stands there twice", component=f"{entry.component!r}"),
                    code="duplicate",
                )
            )
        elif entry is not None:
            entries[entry.component] = entry
    if errors:
        raise _invalid(errors)
    return tuple(entries.values())


def _entry(place: Place, row: Mapping[str, object], errors: list[FieldError]) -> MatrixEntry | None:
    before = len(errors)
    errors += [
        FieldError(
            pointer=_at(place, name),
            message=say("unknown; known are %(columns)s", columns=", ".join(COLUMNS)),
            code="unknown_column",
        )
        for name in row
        if name not in COLUMNS
    ]
    name = _text(place, row, "component", errors)
    if not is_component_id(name):
        message = say(
            "found %(name)s; right would be small letters, digits and _, such as gpu_driver", name=f"{name!r}"
        )
        errors.append(FieldError(pointer=_at(place, "component"), message=message))
    known = component(name)
    rule = _word(place, row, "rule", RuleKind, known.rule, errors)
    scheme = _word(place, row, "scheme", Scheme, known.scheme, errors)
    depth = _depth(place, row, known.branch_depth, errors)
    values = _versions(place, row, rule, errors)
    if len(errors) > before:
        return None
    return MatrixEntry(
        component=name, rule=RuleKind(rule), values=values, scheme=Scheme(scheme), branch_depth=depth
    )


def _text(place: Place, row: Mapping[str, object], key: str, errors: list[FieldError]) -> str:
    value = row.get(key)
    if value is None or isinstance(value, str):
        return (value or "").strip()
    errors.append(
        FieldError(
            pointer=_at(place, key), message=say("found %(value)s; right would be a text", value=f"{value!r}")
        )
    )
    return ""


def _word(
    place: Place,
    row: Mapping[str, object],
    key: str,
    allowed: type[RuleKind] | type[Scheme],
    default: str,
    errors: list[FieldError],
) -> str:
    word = _text(place, row, key, errors) or default
    if word not in list(allowed):
        message = say(
            "found %(word)s; right would be one of %(allowed)s", word=f"{word!r}", allowed=", ".join(allowed)
        )
        errors.append(FieldError(pointer=_at(place, key), message=message))
        return default
    return word


def _depth(
    place: Place, row: Mapping[str, object], default: int | None, errors: list[FieldError]
) -> int | None:
    held = row.get("branch_depth")
    if held is None or held == "":
        return default
    text = str(held)
    if isinstance(held, bool) or not re.fullmatch(r"[1-6]", text):
        errors.append(
            FieldError(
                pointer=_at(place, "branch_depth"),
                message=say("found %(text)s; right would be 1 to 6", text=f"{text!r}"),
            )
        )
        return default
    return int(text)


def _versions(
    place: Place, row: Mapping[str, object], rule: str, errors: list[FieldError]
) -> tuple[str, ...]:
    held = row.get("values") or []
    given = held if isinstance(held, list) else [held]
    values: list[str] = []
    for value in given:
        if not isinstance(value, str) or not value.strip() or len(value) > LIMIT_TEXT:
            message = say(
                "found %(value)s; right would be a text in quotes, up to %(limit_text)s characters",
                value=f"{str(value)[:80]!r}",
                limit_text=LIMIT_TEXT,
            )
            errors.append(FieldError(pointer=_at(place, "values"), message=message))
        else:
            values.append(value.strip())
    if rule in (RuleKind.EXACT, RuleKind.SAME_BRANCH, RuleKind.AT_LEAST) and len(values) > 1:
        message = say(
            "%(count)s versions; the rule %(rule)s takes one (one_of takes several)",
            count=len(values),
            rule=rule,
        )
        errors.append(FieldError(pointer=_at(place, "values"), message=message))
    return tuple(values)


def _escape(value: str) -> str:
    return value.replace("\\", "\\\\").replace("|", "\\|")


def _split(cell: str) -> list[str]:
    parts = re.findall(r"((?:[^\\|]|\\.)+)", cell)
    return [re.sub(r"\\(.)", r"\1", part).strip() for part in parts if part.strip()]


def _guard(cell: str) -> str:
    return f"'{cell}" if cell.startswith(_FORMULA) else cell


def _unguard(cell: str) -> str:
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_FORMULA) else cell


def _at(place: Place, key: str) -> str:
    """Where a field stands: `row 3, column rule`, or /entries/2/rule."""
    if isinstance(place, int):
        return say("row %(row)s, column %(column)s", row=place, column=key)
    return f"{place}{key}"


def _invalid(errors: Sequence[FieldError]) -> Invalid:
    first = errors[0]
    message = say("%(where)s: %(what)s", where=first.pointer, what=first.message)
    if len(errors) > 1:
        message = say("%(first)s (and %(count)s more)", first=message, count=len(errors) - 1)
    return Invalid(message, code="bad_matrix_file", errors=errors)


class _Quoted(str):
    """A version, written in quotes."""


class _Dumper(yaml.SafeDumper):
    """The safe writer, which also quotes versions."""


def _represent_quoted(dumper: yaml.SafeDumper, value: _Quoted) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", str(value), style='"')


_Dumper.add_representer(_Quoted, _represent_quoted)
