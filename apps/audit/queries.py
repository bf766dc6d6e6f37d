"""Questions to the audit trail: who may see which events, and whether the chain holds."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import QuerySet

from apps.audit import directory, links, words
from apps.audit.engine import chain, diff
from apps.audit.models import AuditEvent, AuditHead
from apps.core.actor import Actor
from apps.core.errors import Conflict, Missing
from apps.core.rights import Right
from apps.core.texts import of_row, say

_COLUMNS = (
    "at",
    "action",
    "actor_id",
    "actor_label",
    "via",
    "object_type",
    "object_id",
    "object_label",
    "scope_id",
    "request_id",
)
CHUNK = 2000  # rows in memory at a time
Report = Callable[[int, int], None]  # how many are done, of how many
VERIFIED = "audit.verified"  # the action under which a verification notes what it found
FAULT_KEPT = "fault_kept"  # beside the English fault: what says it again in another language


@dataclass(frozen=True, slots=True, kw_only=True)
class ShownEvent:
    """An event as a page shows it: names and words beside ids and codes, and the text taken apart.

    outcome: what a decision of the gate came to. url: the object's page, where there is one. fault: what is wrong
    with the event by itself, empty where it is as it was written.
    """

    row: AuditEvent
    actor: str
    word: str
    outcome: str
    object: str
    url: str
    scope: str
    body: Mapping[str, Any]
    changes: list[diff.KeyChange]
    fault: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """What the newest verification found. first_bad_seq is None where a checkpoint was changed, or nothing.

    is_there: whether there is an event of that number, which may be what is missing.
    """

    at: datetime
    intact: bool
    first_bad_seq: int | None
    is_there: bool
    fault: str
    checkpoints: int


def events_visible_to(actor: Actor) -> QuerySet[AuditEvent]:
    """Events of the scopes in which the actor may audit; those of no scope need the right everywhere.

    Raises NotAllowed (role) for who may audit nowhere.
    """
    actor.require_anywhere(Right.AUDIT)
    events, scope_ids = AuditEvent.objects.all(), actor.scope_ids(Right.AUDIT)
    return events if scope_ids is None else events.filter(scope_id__in=scope_ids)


def event(seq: int, *, actor: Actor) -> ShownEvent:
    """One event with its facts. Raises Missing."""
    row = events_visible_to(actor).filter(seq=seq).first()
    if row is None:
        raise Missing()
    return shown([row])[0]


def shown(rows: Iterable[AuditEvent]) -> list[ShownEvent]:
    """Events with the names of today beside the ids of the trail."""
    rows = list(rows)
    known = directory.known()
    objects = {
        int(row.object_id)
        for row in rows
        if row.object_type == known.person_model and row.object_id.isdecimal()
    }
    people = known.people(objects | {row.actor_id for row in rows if row.actor_id is not None})
    scopes = known.scopes({row.scope_id for row in rows if row.scope_id is not None})
    pages = links.pages_of(rows)
    return [_shown(row, people, scopes, pages) for row in rows]


def _shown(
    row: AuditEvent,
    people: Mapping[int, str],
    scopes: Mapping[int, str],
    pages: Mapping[tuple[str, str], str],
) -> ShownEvent:
    body = _body_of(row)
    is_person = row.object_type == directory.known().person_model and row.object_id.isdecimal()
    name = people.get(row.actor_id, "") if row.actor_id is not None else ""
    label = people.get(int(row.object_id), row.object_label) if is_person else row.object_label
    return ShownEvent(
        row=row,
        actor=words.actor_of_event(name, row.actor_label, row.via),
        word=words.word_of(row.action),
        outcome=words.outcome_of(row.action, body.get("after")),
        object=words.object_of_event(row.object_type, label),
        url=pages.get((row.object_type, row.object_id), ""),
        fault=chain.own_fault(_link(row)),
        scope=scopes.get(row.scope_id, str(row.scope_id)) if row.scope_id is not None else "",
        body=body,
        changes=diff.key_changes(body.get("before"), body.get("after")),
    )


def _body_of(row: AuditEvent) -> Mapping[str, Any]:
    """The event's text taken apart; nothing where somebody forged it into what is no map."""
    try:
        body = json.loads(row.body)
    except ValueError:
        return {}
    return body if isinstance(body, dict) else {}


def document(item: ShownEvent) -> dict[str, Any]:
    """An event as the API gives it."""
    row = item.row
    return {
        "seq": row.seq,
        "at": row.at,
        "action": row.action,
        "actor": {"id": row.actor_id, "name": item.actor, "via": row.via, **_origin(item.body)},
        "object": {"type": row.object_type, "id": row.object_id, "label": row.object_label},
        "scope": {"id": row.scope_id, "name": item.scope} if row.scope_id is not None else None,
        "request_id": row.request_id,
        "before": item.body.get("before"),
        "after": item.body.get("after"),
        "reason": item.body.get("reason", ""),
        "details": item.body.get("details", {}),
        "prev_hash": row.prev_hash,
        "hash": row.hash,
        "body": row.body,
    }


def _origin(body: Mapping[str, Any]) -> dict[str, Any]:
    actor = body.get("actor", {})
    return {name: actor.get(name) for name in ("token_key", "token_scopes", "ip", "user_agent")}


def details_of(item: ShownEvent) -> list[tuple[str, str]]:
    """What was noted beside before and after, as texts."""
    return [
        (name, value if isinstance(value, str) else json.dumps(value, ensure_ascii=False))
        for name, value in item.body.get("details", {}).items()
        if name != FAULT_KEPT
    ]


def last_finding() -> Finding | None:
    """What the newest verification found; None where there was none yet."""
    row = AuditEvent.objects.filter(action=VERIFIED).order_by("-seq").first()
    if row is None:
        return None
    noted = json.loads(row.body).get("details", {})
    bad = noted.get("first_bad_seq")
    return Finding(
        at=row.at,
        intact=noted.get("intact") is True,
        first_bad_seq=bad,
        is_there=bad is not None and AuditEvent.objects.filter(seq=bad).exists(),
        fault=of_row({"message": noted.get("fault", ""), **noted.get(FAULT_KEPT, {})}),
        checkpoints=noted.get("checkpoints", 0),
    )


def break_up_to(seq: int) -> Finding | None:
    """What the newest verification found, where the trail does not hold at this event or before it."""
    found = last_finding()
    if found is None or found.intact or found.first_bad_seq is None or found.first_bad_seq > seq:
        return None
    return found


def head() -> AuditHead:
    """Where the chain ends. Raises Conflict (audit_broken) where somebody has removed it."""
    found = AuditHead.objects.filter(pk=1).first()
    if found is None:
        raise Conflict(say("the head of the trail is missing"), code="audit_broken")
    return found


def stored_links(*, up_to_seq: int, report: Report | None = None) -> Iterator[chain.Link]:
    """The stored events in order, a chunk in memory at a time; report is told how far it is after each chunk."""
    rows = AuditEvent.objects.filter(seq__lte=up_to_seq).order_by("seq")
    for count, row in enumerate(rows.iterator(chunk_size=CHUNK)):
        if report is not None and count and count % CHUNK == 0:
            report(count, up_to_seq)
        yield _link(row)


def _link(row: AuditEvent) -> chain.Link:
    columns = {name: getattr(row, name) for name in _COLUMNS}
    return chain.Link(row.seq, row.prev_hash, row.body, row.hash, columns)


def verify(*, marks: Mapping[int, str] | None = None, report: Report | None = None) -> chain.Verification:
    """Walk the stored chain to its head; marks as in engine.chain.verify. Memory stays bounded."""
    # The head is read last: it stands at the newest event that was seen, or beyond it.
    newest = AuditEvent.objects.order_by("-seq").values_list("seq", flat=True).first() or 0
    end = AuditHead.objects.filter(pk=1).first()
    up_to = max(newest, end.seq if end else 0)
    found = chain.verify(stored_links(up_to_seq=up_to, report=report), marks=marks)
    if not found.intact:
        return found
    if end is None:
        reason = say("the head of the trail is missing")
    elif found.head_seq < end.seq:
        reason = say("the head says that event %(seq)s exists", seq=end.seq)
    elif (found.head_seq, found.head_hash) != (end.seq, end.hash):
        reason = say("the head does not stand at the newest event")
    else:
        return found
    return chain.Verification(found.count, found.head_seq, found.head_hash, found.head_seq + 1, reason)
