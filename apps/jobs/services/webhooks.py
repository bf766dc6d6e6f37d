"""Where the team's own automation is told of events: endpoints, their secrets, and announcing."""

from __future__ import annotations

import fnmatch
import re
import secrets
import uuid
from collections.abc import Sequence
from datetime import timedelta
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings

from apps.audit.services import decision, record
from apps.core import clock, digest
from apps.core.actor import Actor, system
from apps.core.errors import FieldError, Invalid, Stale
from apps.core.rights import Right
from apps.core.texts import say
from apps.jobs import queries
from apps.jobs.engine import addresses, signing
from apps.jobs.models import WebhookDelivery, WebhookEndpoint
from apps.jobs.services.work import enqueue

DELIVER = "jobs.deliver_webhook"
TEST_EVENT = "webhook.test"
BOTH_SECRETS_FOR = timedelta(days=1)
_PRINTABLE = re.compile(r"[!-~]+")
_PATTERN = re.compile(r"\*|[a-z_]+(\.[a-z_]+)*(\.\*)?")


@decision
def create_endpoint(
    *, name: str, url: str, events: Sequence[str], scope_id: int | None, actor: Actor
) -> WebhookEndpoint:
    """Add an address; its secret is on the object, to be shown this once.

    events: patterns such as "change.*". scope_id None: told of events of every scope.
    Raises NotAllowed (role), Missing for a scope that the actor does not see, Invalid (url, events).
    """
    actor.require(Right.ADMIN, scope_id)
    _check(url, events)
    endpoint = WebhookEndpoint.objects.create(
        name=name, url=url, events=sorted(set(events)), scope_id=scope_id, secret=_new_secret()
    )
    record(actor=actor, action="webhook.created", on=endpoint, scope_id=scope_id, after=_facts(endpoint))
    return endpoint


@decision
def change_endpoint(
    *,
    endpoint_id: int,
    expected_version: int,
    name: str,
    url: str,
    events: Sequence[str],
    enabled: bool,
    actor: Actor,
) -> WebhookEndpoint:
    """Change an address. Raises Missing, NotAllowed (role), Invalid (url, events) and Stale."""
    endpoint = queries.endpoint(endpoint_id, actor=actor)
    _check(url, events)
    before = _facts(endpoint)
    _move(
        endpoint,
        expected_version,
        name=name,
        url=url,
        events=sorted(set(events)),
        enabled=enabled,
    )
    if before != (after := _facts(endpoint)):
        record(
            actor=actor,
            action="webhook.changed",
            on=endpoint,
            scope_id=endpoint.scope_id,
            before=before,
            after=after,
        )
    return endpoint


@decision
def rotate_secret(*, endpoint_id: int, expected_version: int, actor: Actor) -> WebhookEndpoint:
    """Give a new secret, shown this once; for a day messages are signed with the old one too.

    Raises Missing, NotAllowed (role) and Stale.
    """
    endpoint = queries.endpoint(endpoint_id, actor=actor)
    _move(
        endpoint,
        expected_version,
        previous_secret=endpoint.secret,
        secret=_new_secret(),
        rotated_at=clock.now(),
    )
    record(actor=actor, action="webhook.secret_rotated", on=endpoint, scope_id=endpoint.scope_id)
    return endpoint


@decision
def remove_endpoint(*, endpoint_id: int, actor: Actor) -> None:
    """Remove an address with its deliveries. Raises Missing and NotAllowed (role)."""
    endpoint = queries.endpoint(endpoint_id, actor=actor)
    record(
        actor=actor,
        action="webhook.removed",
        on=endpoint,
        scope_id=endpoint.scope_id,
        before=_facts(endpoint),
    )
    endpoint.delete()


def announce(event: str, payload: dict[str, Any], scope_id: int | None) -> int:
    """Tell the endpoints that want to know; gives how many. Inside of the caller's transaction.

    payload: JSON values. Each message gets an id that stays the same through all attempts.
    """
    endpoints = [
        endpoint
        for endpoint in WebhookEndpoint.objects.filter(enabled=True)
        if endpoint.scope_id in (None, scope_id)
        and any(fnmatch.fnmatchcase(event, pattern) for pattern in endpoint.events)
    ]
    for endpoint in endpoints:
        queue(endpoint, event, payload)
    return len(endpoints)


@decision
def send_test(*, endpoint_id: int, actor: Actor) -> WebhookDelivery:
    """Send a message of the kind webhook.test on the ordinary way. Raises Missing and NotAllowed (role)."""
    endpoint = queries.endpoint(endpoint_id, actor=actor)
    delivery = queue(endpoint, TEST_EVENT, {"endpoint": endpoint.name})
    record(actor=actor, action="webhook.tested", on=endpoint, scope_id=endpoint.scope_id)
    return delivery


def queue(endpoint: WebhookEndpoint, event: str, payload: dict[str, Any]) -> WebhookDelivery:
    """Write a delivery that is due at once, and ask for it to be sent."""
    message_id, now = uuid.uuid4(), clock.now()
    delivery = WebhookDelivery.objects.create(
        endpoint=endpoint,
        message_id=message_id,
        event=event,
        payload=digest.canonical(
            {
                "id": f"msg_{message_id.hex}",
                "type": event,
                "timestamp": now.isoformat(),
                "data": payload,
            }
        ),
        next_attempt_at=now,
    )
    enqueue(DELIVER, actor=system("webhooks"), scope_id=endpoint.scope_id, delivery_id=delivery.pk)
    return delivery


def allowed_addresses() -> addresses.AllowList:
    """What the operator has allowed to call."""
    return addresses.allow_list(settings.WEBHOOK_ALLOW)


def _check(url: str, events: Sequence[str]) -> None:
    errors = []
    if not is_callable(url):
        message = say(
            "an https address without user and password; http only for hosts in PORTAL_WEBHOOK_ALLOW"
        )
        errors.append(FieldError(pointer="/url", code="url", message=message))
    if not events or not all(_PATTERN.fullmatch(pattern) for pattern in events):
        message = say("patterns such as change.*, or * for every event")
        errors.append(FieldError(pointer="/events", code="events", message=message))
    if errors:
        raise Invalid(say("the endpoint is not valid"), code=errors[0].code, errors=errors)


def is_callable(url: str) -> bool:
    """Whether the address has a form that can be called: https (or an allowed http host), and a port there is."""
    if not _PRINTABLE.fullmatch(url):
        return False
    try:
        parts = urlsplit(url)
        port = parts.port
    except ValueError:  # brackets that do not match, or a port beyond 65535
        return False
    plain = parts.scheme == "http" and allowed_addresses().names(parts.hostname or "")
    return (
        (parts.scheme == "https" or plain)
        and addresses.is_host(parts.hostname or "")
        and "@" not in parts.netloc
        and port != 0
    )


def _move(endpoint: WebhookEndpoint, expected_version: int, **values: Any) -> None:
    """Change the row if it is still at the version. Raises Stale."""
    rows = WebhookEndpoint.objects.filter(pk=endpoint.pk, version=expected_version)
    if not rows.update(**values, version=expected_version + 1):
        raise Stale()
    endpoint.refresh_from_db()


def _facts(endpoint: WebhookEndpoint) -> dict[str, Any]:
    return {
        "name": endpoint.name,
        "url": endpoint.url,
        "events": endpoint.events,
        "enabled": endpoint.enabled,
    }


def _new_secret() -> str:
    return signing.secret_text(secrets.token_bytes(32))
