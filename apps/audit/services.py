"""Writing the audit trail: events are collected while a decision runs, and appended just before it commits."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any, ParamSpec, TypeVar

from django.db import models, transaction

from apps.audit.engine import chain
from apps.audit.models import AuditEvent, AuditHead
from apps.core import clock, digest
from apps.core.actor import Actor

P = ParamSpec("P")
R = TypeVar("R")


@dataclass(slots=True)
class _Pending:
    actor: Actor
    action: str
    on: models.Model
    scope_id: int | None
    before: dict[str, Any] | None
    after: dict[str, Any] | None
    reason: str
    details: dict[str, Any]


class _Collected(threading.local):
    depth = 0

    def __init__(self) -> None:
        self.events: list[_Pending] = []


_collected = _Collected()


@contextmanager
def deciding() -> Iterator[None]:
    """One transaction in which decisions are made; the outermost one appends the collected events at its end.

    The chain's head is locked last, so that long work does not keep others from deciding.
    """
    start = len(_collected.events)
    _collected.depth += 1
    try:
        with transaction.atomic():
            yield
            if _collected.depth == 1:
                _append(_collected.events)
    except BaseException:
        del _collected.events[start:]
        raise
    else:
        if _collected.depth == 1:
            _collected.events.clear()
    finally:
        _collected.depth -= 1


def decision(service: Callable[P, R]) -> Callable[P, R]:
    """A service is one transaction with its audit events: `@decision` instead of `@transaction.atomic`."""

    @functools.wraps(service)
    def decided(*args: P.args, **kwargs: P.kwargs) -> R:
        with deciding():
            return service(*args, **kwargs)

    return decided


def record(
    *,
    actor: Actor,
    action: str,
    on: models.Model,
    scope_id: int | None = None,
    before: dict[str, Any] | None = None,
    after: dict[str, Any] | None = None,
    reason: str = "",
    **details: Any,
) -> None:
    """Note a decision: action such as "change.approved", the object, its facts before and after, and why.

    Must be called inside of a decision. Values must be JSON; names of people do not belong into them.
    """
    if _collected.depth == 0:
        raise RuntimeError("audit.record outside of a decision: nothing would be written")
    event = _Pending(actor, action, on, scope_id, before, after, reason, details)
    digest.canonical([before, after, details])  # what cannot be written fails here, where the cause is
    _collected.events.append(event)


def _append(events: list[_Pending]) -> None:
    if not events:
        return
    AuditHead.objects.filter(pk=1).update(seq=models.F("seq") + len(events))
    head = AuditHead.objects.select_for_update().get(pk=1)
    seq, prev, at = head.seq - len(events), head.hash, clock.now()
    rows = []
    for event in events:
        seq += 1
        body = digest.canonical(_body(event, at=at.isoformat()))
        row = AuditEvent(
            seq=seq,
            at=at,
            action=event.action,
            actor_id=event.actor.person_id,
            actor_label=event.actor.label[:200],
            via=event.actor.via.value,
            object_type=event.on._meta.label_lower,
            object_id=str(event.on.pk),
            object_label=str(event.on)[:200],
            scope_id=event.scope_id,
            request_id=event.actor.request_id,
            body=body,
            prev_hash=prev,
            hash=chain.event_hash(seq=seq, prev_hash=prev, body=body),
        )
        prev = row.hash
        rows.append(row)
    AuditEvent.objects.bulk_create(rows)
    AuditHead.objects.filter(pk=1).update(hash=prev)


def _body(event: _Pending, *, at: str) -> dict[str, Any]:
    """What is hashed. The actor is an id here; the name lives in accounts, where it can be erased."""
    actor = event.actor
    return {
        "at": at,
        "action": event.action,
        "actor": {
            "id": actor.person_id,
            "via": actor.via.value,
            "token_key": actor.token_key,
            "token_scopes": sorted(actor.token_scopes) if actor.token_scopes is not None else None,
            "ip": actor.ip,
            "user_agent": actor.user_agent[:200],
        },
        "object": {"type": event.on._meta.label_lower, "id": str(event.on.pk), "label": _label(event.on)},
        "scope_id": event.scope_id,
        "request_id": actor.request_id,
        "before": event.before,
        "after": event.after,
        "reason": event.reason,
        "details": event.details,
    }


def _label(on: models.Model) -> str:
    """The object's name at the time; a model whose name must stay erasable gives `audit_label` instead."""
    return str(getattr(on, "audit_label", on))[:200]
