"""How tests act as somebody: as an actor at a service, as a browser, over REST."""

from __future__ import annotations

from datetime import datetime
from typing import Any

from django.test import Client
from rest_framework.test import APIClient

from apps.accounts import queries
from apps.accounts.middleware import AUTHENTICATED_AT
from apps.accounts.models import Person
from apps.core import clock
from apps.core.actor import Actor, Via


def actor_for(person: Person, **fields: Any) -> Actor:
    """The actor that a browser session of this person gives, password just given."""
    values: dict[str, Any] = {
        "via": Via.SESSION,
        "label": person.name,
        "person_id": person.pk,
        "rights": queries.rights_of(person),
        "authenticated_at": clock.now(),
        "ip": "192.0.2.1",
        "request_id": "test-request",
    }
    return Actor(**values | fields)


def client_of(person: Person | None, *, authenticated_at: datetime | None = None) -> Client:
    """A browser in which this person is signed in (None: nobody), the password given just now or then."""
    return _signed_in(Client(), person, authenticated_at)


def api(caller: Person | str | None, *, authenticated_at: datetime | None = None) -> APIClient:
    """A REST client: by bearer text for a str (see factories.bearer), by session for a person, or nobody."""
    if isinstance(caller, str):
        return APIClient(headers={"Authorization": f"Bearer {caller}"})
    return _signed_in(APIClient(), caller, authenticated_at)


def _signed_in(client: Any, person: Person | None, authenticated_at: datetime | None) -> Any:
    if person is not None:
        client.force_login(person)
        session = client.session
        session[AUTHENTICATED_AT] = (authenticated_at or clock.now()).timestamp()
        session.save()
    return client
