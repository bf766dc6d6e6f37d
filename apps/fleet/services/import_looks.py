"""What a file of rows would do to the fleet as it stands: read, judged and worded before any transaction is open.

Of an import of 10,000 nodes this is the longer part of the work; what is left to do while nobody else may write
is to see that the fleet is still the same, and to write.
"""

from __future__ import annotations

import gzip
import json
from collections import defaultdict
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, TypeAlias

from apps.core.errors import FieldError, Invalid, PortalError
from apps.core.texts import kept, say
from apps.fleet.engine.decoding import Decoded, Form, decode
from apps.fleet.engine.importing import ImportPlan, Mode, Told, plan_import, silent
from apps.fleet.engine.outcomes import counts_of, digest_of, outcomes_of
from apps.fleet.engine.tables import Table
from apps.fleet.models import BulkImport, Cluster, Hold, ImportState
from apps.fleet.queries.rows import Current, current_rows

MAX_ERRORS = 200  # that a problem document carries; the import itself keeps all


@dataclass(frozen=True, slots=True, kw_only=True)
class Before:
    """The fleet that a file was compared with. held: node → kinds of its active holds."""

    rows: Current
    held: Mapping[str, frozenset[str]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Prepared:
    """A plan, the fleet that it was made for, and what is written down of it: columns of the import's row."""

    before: Before
    plan: ImportPlan
    notes: Mapping[str, Any]


Look: TypeAlias = Prepared | PortalError


def before_of(cluster: Cluster) -> Before:
    """The fleet as it stands."""
    held: dict[str, set[str]] = defaultdict(set)
    active = Hold.objects.filter(node__cluster=cluster, released_at__isnull=True)
    for node, kind in active.values_list("node__name", "kind"):
        held[node].add(kind)
    return Before(rows=current_rows(cluster), held={node: frozenset(kinds) for node, kinds in held.items()})


def prepare(row: BulkImport, before: Before | None = None, told: Told = silent) -> Prepared:
    """What the file would do. before: the fleet, read here where it is not given. Raises as reading and `told` do."""
    decoded = decode(
        gzip.decompress(bytes(row.content)),
        form=Form(row.form) if row.form else None,
        table=Table(row.table) if row.table else None,
    )
    _check_columns(row.columns)
    told(0)
    before = before or before_of(row.cluster)
    plan = plan_import(
        decoded.rows,
        current=before.rows,
        mode=Mode(row.mode),
        columns=dict.fromkeys(decoded.rows, row.columns) if row.columns is not None else None,
        held=before.held,
        told=told,
        lines=decoded.lines,
    )
    return Prepared(before=before, plan=plan, notes=_notes(decoded, plan))


def look(row: BulkImport, told: Told = silent) -> Look:
    """What the file would do, or the error that tells why it cannot be read. told: gets how many rows were read."""
    try:
        return prepare(row, told=told)
    except PortalError as error:
        return error


def note(row: BulkImport, found: Look) -> None:
    """Write down what a look found; a file that cannot be read is refused."""
    if isinstance(found, Prepared):
        for name, value in found.notes.items():
            setattr(row, name, value)
        row.state, row.problem = ImportState.PLANNED, None
    else:
        row.state = ImportState.REFUSED
        errors = [
            {"pointer": one.pointer, "message": str(one.message), **kept(one.message)}
            for one in found.errors[:MAX_ERRORS]
        ]
        row.problem = {
            "code": found.code,
            "detail": str(found.message),
            **kept(found.message),
            "errors": errors,
        }
    row.save()


def _notes(decoded: Decoded, plan: ImportPlan) -> dict[str, Any]:
    outcome = json.dumps(outcomes_of(plan), ensure_ascii=False, separators=(",", ":"))
    return {
        "form": decoded.form.value,
        "head": list(decoded.columns),
        "row_count": decoded.row_count,
        "table": next(iter(decoded.rows)).value if decoded.form is Form.CSV else "",
        "counts": counts_of(plan),
        "plan_digest": digest_of(plan),
        "outcome": gzip.compress(outcome.encode(), compresslevel=1),
    }


def _check_columns(columns: dict[str, str] | None) -> None:
    ours = [name for name in (columns or {}).values() if name]
    twice = sorted({name for name in ours if ours.count(name) > 1})
    if twice:
        message = say("two columns of the file are mapped to %(twice)s", twice=", ".join(twice))
        raise Invalid(message, code="columns", errors=[FieldError(pointer="/columns", message=message)])
