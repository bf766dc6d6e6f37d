"""Sending what was announced: at least once, later and later, until it is taken or given up."""

from __future__ import annotations

import logging
import time
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

import httpx
from django.conf import settings
from django.db.models import F

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor, system
from apps.core.errors import Conflict, Missing
from apps.core.texts import say
from apps.jobs import guarded_http, queries
from apps.jobs.engine import retries, signing
from apps.jobs.models import WebhookDelivery, WebhookEndpoint
from apps.jobs.services import webhooks
from apps.jobs.services.work import enqueue

log = logging.getLogger(__name__)
WITHIN_S = 10.0  # of the whole exchange
UNDER_WAY = timedelta(seconds=60)  # after this a worker that took the delivery counts as lost
_LOG_LENGTH = 20
_AT_ONCE = 200


@dataclass(frozen=True, slots=True, kw_only=True)
class Attempt:
    """What became of one attempt. status None: there was no answer, and error says why."""

    status: int | None
    error: str
    duration_s: float

    @property
    def taken(self) -> bool:
        return self.status is not None and 200 <= self.status < 300


def ask_for_due_deliveries() -> int:
    """Ask for the deliveries whose time has come; gives how many."""
    due = list(queries.due_deliveries(clock.now()).values_list("pk", "endpoint__scope_id")[:_AT_ONCE])
    for delivery_id, scope_id in due:
        enqueue(webhooks.DELIVER, actor=system("webhooks"), scope_id=scope_id, delivery_id=delivery_id)
    return len(due)


def deliver(*, delivery_id: int) -> Attempt | None:
    """Make one attempt, if one is due; None where there is nothing to do.

    The row is taken for a minute first, so that two workers do not send at once, and one that dies is replaced.
    """
    now = clock.now()
    taken = WebhookDelivery.objects.filter(
        pk=delivery_id, delivered_at__isnull=True, dead_at__isnull=True, next_attempt_at__lte=now
    ).update(attempt=F("attempt") + 1, next_attempt_at=now + UNDER_WAY)
    if not taken:
        return None
    delivery = WebhookDelivery.objects.select_related("endpoint").get(pk=delivery_id)
    if not delivery.endpoint.enabled:
        made = Attempt(status=None, error=say("the endpoint is disabled"), duration_s=0.0)
        _note(delivery, made, give_up=True)
        return made
    made = _attempt(delivery)
    _note(delivery, made, give_up=False)
    return made


@decision
def redeliver(*, delivery_id: int, actor: Actor) -> WebhookDelivery:
    """Send a message again, with the same id and a full set of attempts.

    Raises Missing, NotAllowed (role), and Conflict (delivery_state) while it is still being sent.
    """
    delivery = queries.deliveries_visible_to(actor).filter(pk=delivery_id).first()
    if delivery is None:
        raise Missing()
    over = WebhookDelivery.objects.filter(pk=delivery_id, next_attempt_at__isnull=True)
    if not over.update(attempt=0, delivered_at=None, dead_at=None, next_attempt_at=clock.now()):
        raise Conflict(say("the message is still being sent"), code="delivery_state")
    delivery.refresh_from_db()
    endpoint = delivery.endpoint
    record(
        actor=actor,
        action="webhook.redelivered",
        on=endpoint,
        scope_id=endpoint.scope_id,
        delivery_id=delivery_id,
    )
    enqueue(webhooks.DELIVER, actor=actor, scope_id=endpoint.scope_id, delivery_id=delivery_id)
    return delivery


def _attempt(delivery: WebhookDelivery) -> Attempt:
    begun = time.monotonic()
    status, error = None, ""
    try:
        answer = guarded_http.post(
            delivery.endpoint.url,
            body=delivery.payload,
            headers=_headers(delivery),
            allowed=webhooks.allowed_addresses(),
            within_s=WITHIN_S,
        )
        status = answer.status_code
    except (httpx.TransportError, httpx.InvalidURL) as fault:
        error = str(fault) or type(fault).__name__
    return Attempt(status=status, error=error[:300], duration_s=round(time.monotonic() - begun, 3))


def _headers(delivery: WebhookDelivery) -> dict[str, str]:
    signed = signing.headers(
        secrets=_secrets(delivery.endpoint),
        message_id=f"msg_{delivery.message_id.hex}",
        timestamp_s=int(clock.now().timestamp()),
        body=delivery.payload,
    )
    return {
        "content-type": "application/json",
        "user-agent": f"supernode-portal/{settings.VERSION}",
        **signed,
    }


def _secrets(endpoint: WebhookEndpoint) -> list[str]:
    old_holds = (
        endpoint.rotated_at is not None and clock.now() - endpoint.rotated_at < webhooks.BOTH_SECRETS_FOR
    )
    return [endpoint.secret, *([endpoint.previous_secret] if old_holds and endpoint.previous_secret else [])]


def _note(delivery: WebhookDelivery, made: Attempt, *, give_up: bool) -> None:
    """Write what became of the attempt and when the next one is due."""
    now = clock.now()
    wait_s = None if give_up or made.taken else retries.wait_s(delivery.attempt)
    entry: dict[str, Any] = {
        "at": now.isoformat(),
        "status": made.status,
        "error": made.error,
        "duration_s": made.duration_s,
    }
    WebhookDelivery.objects.filter(pk=delivery.pk, attempt=delivery.attempt).update(
        last_status=made.status,
        last_error=made.error,
        delivered_at=now if made.taken else None,
        dead_at=now if not made.taken and wait_s is None else None,
        next_attempt_at=now + timedelta(seconds=wait_s) if wait_s is not None else None,
        log=[*delivery.log, entry][-_LOG_LENGTH:],
    )
    if not made.taken:
        log.warning(
            "webhook %s to endpoint %s: %s", delivery, delivery.endpoint_id, made.error or made.status
        )
