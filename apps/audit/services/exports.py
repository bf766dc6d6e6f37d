"""Handing the trail out: JSON lines that can be verified without the portal, and a table for people."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Iterator
from itertools import islice
from typing import Any

from django.db.models import QuerySet

from apps.audit import queries
from apps.audit.engine import chain
from apps.audit.engine.checkpoint import Checkpoint
from apps.audit.models import AuditEvent
from apps.audit.services import checkpoints
from apps.audit.services.trail import decision, record
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.rights import Right

FORMAT = "supernode-portal-audit/1"
_CSV_COLUMNS = ("seq", "at", "action", "actor", "via", "object_type", "object_id", "object_label")
_CSV_MORE = ("scope", "request_id", "reason")


@decision
def begin_export(*, actor: Actor, form: str, filters: dict[str, str]) -> int:
    """Note that the trail is handed out; gives the sequence number up to which, the note itself left out."""
    queries.events_visible_to(actor)
    head = queries.head()
    record(actor=actor, action="audit.exported", on=head, form=form, filters=filters, to_seq=head.seq)
    return head.seq


def json_lines(events: QuerySet[AuditEvent], *, up_to_seq: int, complete: bool) -> Iterator[str]:
    """Header, events oldest first, and for a complete export the checkpoint of its end; one JSON object a line.

    complete: nothing was filtered out, so that the chain can be followed from its beginning.
    """
    rows = events.filter(seq__lte=up_to_seq).order_by("seq")
    header = {"type": "header", "format": FORMAT, "complete": complete, "to_seq": up_to_seq}
    yield digest.canonical({**header, "exported_at": clock.now().isoformat()}) + "\n"
    count, head_hash = 0, chain.GENESIS
    for row in rows.iterator(chunk_size=queries.CHUNK):
        count, head_hash = count + 1, row.hash
        line = {
            "type": "event",
            "seq": row.seq,
            "prev_hash": row.prev_hash,
            "hash": row.hash,
            "body": row.body,
        }
        yield digest.canonical(line) + "\n"
    if complete:
        made = Checkpoint(seq=up_to_seq, count=count, head_hash=head_hash, at=clock.now().isoformat())
        yield digest.canonical({"type": "checkpoint", **checkpoints.seal(made).document()}) + "\n"


def is_complete(actor: Actor, filters: dict[str, str]) -> bool:
    """Whether an export with these filters would hold every event."""
    return not filters and actor.scope_ids(Right.AUDIT) is None


def csv_rows(events: QuerySet[AuditEvent], *, up_to_seq: int) -> Iterator[str]:
    """The events as a table, newest first, each cell safe to open in a spreadsheet."""
    yield _csv_line([*_CSV_COLUMNS, *_CSV_MORE])
    rows = events.filter(seq__lte=up_to_seq).order_by("-seq").iterator(chunk_size=queries.CHUNK)
    while chunk := list(islice(rows, 500)):
        for item in queries.shown(chunk):
            yield _csv_line(_cells(item))


def _cells(item: queries.ShownEvent) -> Iterable[Any]:
    row = item.row
    yield from (row.seq, row.at.isoformat(), row.action, item.actor, row.via, row.object_type, row.object_id)
    yield from (row.object_label, item.scope, row.request_id, item.body.get("reason", ""))


def _csv_line(cells: Iterable[Any]) -> str:
    out = io.StringIO()
    csv.writer(out).writerow([guarded(str(cell)) for cell in cells])
    return out.getvalue()


def guarded(cell: str) -> str:
    """The cell with an apostrophe before what a spreadsheet would take for a formula."""
    return f"'{cell}" if cell[:1] in ("=", "+", "-", "@", "\t", "\r") else cell
