"""Writing the audit trail: events are collected while a decision runs, and appended just before it commits."""

from __future__ import annotations

import functools
import json
import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, ParamSpec, TypeVar

from django.db import IntegrityError, models, transaction

from apps.audit.engine import chain
from apps.audit.models import AuditEvent, AuditHead
from apps.core import clock, digest
from apps.core.actor import Actor, Via
from apps.core.errors import PortalError
from apps.core.texts import Text, say

log = logging.getLogger(__name__)
P = ParamSpec("P")
R = TypeVar("R")


class TrailBroken(PortalError):
    """The trail was changed past the portal, so that nothing can be added at its end.

    No Conflict: what is handed in is not to be refused for good because of it.
    """

    status = 409
    default_code = "audit_broken"
    default_text: Text = say(
        "the audit trail was changed past the portal, so nothing can be decided and nothing was written; "
        "manage.py audit_verify says where"
    )


class _Collected(threading.local):
    """The bodies noted so far by the decision that this thread is in, and how deeply decisions are nested."""

    depth = 0

    def __init__(self) -> None:
        self.bodies: list[dict[str, Any]] = []


_collected = _Collected()


@contextmanager
def deciding() -> Iterator[None]:
    """One transaction in which decisions are made; the outermost one appends the collected events at its end.

    An inner one is a savepoint: where it fails, its events go with it. A plain `transaction.atomic()` that is
    rolled back and survived inside of a decision would leave its events behind, so use this one there too.
    The chain's head is locked last, so that long work does not keep others from deciding. Raises TrailBroken where
    the head is gone, or somebody added an event past it.
    """
    start = len(_collected.bodies)
    _collected.depth += 1
    try:
        with transaction.atomic():
            yield
            if _collected.depth == 1:
                _append(_collected.bodies)
    except BaseException:
        del _collected.bodies[start:]
        raise
    else:
        if _collected.depth == 1:
            _collected.bodies.clear()
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

    Must be called inside of a decision, and before the object is deleted. Everything is taken as it is now.
    Values must be JSON; names of people do not belong into them. Raises RuntimeError outside of a decision and
    for an object that was never saved, TypeError and ValueError for what is no JSON.
    """
    if _collected.depth == 0:
        raise RuntimeError("audit.record outside of a decision: nothing would be written")
    if on.pk is None:
        raise RuntimeError(
            "audit.record of an object without id: record before it is deleted, after it is saved"
        )
    body = {
        "action": action,
        "actor": _actor(actor),
        "object": {"type": on._meta.label_lower, "id": str(on.pk), "label": _label(on)},
        "scope_id": scope_id,
        "request_id": actor.request_id,
        "before": before,
        "after": after,
        "reason": reason,
        "details": details,
    }
    _collected.bodies.append(json.loads(digest.canonical(body).encode()))


def _append(bodies: list[dict[str, Any]]) -> None:
    if not bodies:
        return
    # Writing the head takes its lock on both engines; what is read after it is the newest committed head.
    AuditHead.objects.filter(pk=1).update(seq=models.F("seq"))
    head = AuditHead.objects.filter(pk=1).first()
    if head is None:
        raise _broken("its head is missing")
    seq, prev, at = head.seq, head.hash, clock.now().isoformat()
    rows = []
    for noted in bodies:
        seq += 1
        body = digest.canonical({"at": at, **noted})
        columns = chain.columns_of(json.loads(body))
        rows.append(
            AuditEvent(
                seq=seq,
                body=body,
                prev_hash=prev,
                hash=chain.event_hash(seq=seq, prev_hash=prev, body=body),
                **columns,
            )
        )
        prev = rows[-1].hash
    try:
        AuditEvent.objects.bulk_create(rows)
    except IntegrityError as error:
        raise _broken(f"an event that the head does not know stands behind event {head.seq}") from error
    AuditHead.objects.filter(pk=1).update(seq=seq, hash=prev)


def _broken(what: str) -> TrailBroken:
    log.error("the audit trail was changed past the portal: %s; nothing was written", what)
    return TrailBroken()


def _actor(actor: Actor) -> dict[str, Any]:
    """Who did it, as an id: the name lives in accounts, where it can be erased."""
    return {
        "id": actor.person_id,
        "label": _actor_label(actor),
        "via": actor.via.value,
        "token_key": actor.token_key,
        "token_scopes": sorted(actor.token_scopes) if actor.token_scopes is not None else None,
        "ip": actor.ip,
        "user_agent": _storable(actor.user_agent, 200),
    }


def _actor_label(actor: Actor) -> str:
    if actor.via is Via.SESSION:
        return f"person {actor.person_id}"
    if actor.via is Via.TOKEN:
        return f"token {actor.token_key}"
    return _storable(actor.label, 200)


def _label(on: models.Model) -> str:
    """The object's name at the time; a model whose name must stay erasable gives `audit_label` instead."""
    return _storable(str(getattr(on, "audit_label", on)), 200)


def _storable(text: str, length: int) -> str:
    """Cut to length, without what PostgreSQL or UTF-8 cannot hold."""
    return text.replace("\x00", "").encode("utf-8", "replace").decode()[:length]
