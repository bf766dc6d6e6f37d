"""What the API's description says, who calls it, and with which objects."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import schemathesis
from django.conf import settings

from apps.accounts.models import Person
from apps.core.rights import TokenScope
from apps.evidence.models import Evidence
from apps.launches.models import Evaluation, Launch
from apps.portal.services import demo
from supernode_portal.wsgi import application
from tests import callers, factories

DESCRIBED = schemathesis.openapi.from_wsgi("/api/v1/schema/", application)
SMALL = 20  # ids up to this one exist for most kinds of object
_CSRF = "c" * 32


@dataclass(frozen=True)
class Fleet:
    """The demonstration fleet, who may ask about it (headers and cookies, by name), and what is in it."""

    callers: dict[str, dict[str, dict[str, str]]]
    named: dict[str, list[str]] = field(default_factory=dict)

    def lead_to_something(self, name: str, value: Any) -> Any:
        """The generated value of a field or parameter, most times turned into one that names an object.

        Only the value decides, so that an example can be played again.
        """
        if isinstance(value, bool) or value is None:
            return value
        if isinstance(value, int) and (name in ("id", "number", "seq") or name.endswith("_id")):
            return value if value % 4 == 3 else abs(value) % SMALL + 1
        existing = self.named.get(name)
        if isinstance(value, str) and existing:
            return value if len(value) % 4 == 3 else existing[sum(map(ord, value)) % len(existing)]
        return value

    def lead_on(self, values: Any) -> Any:
        """The same for every value of a body or a query, however deep."""
        if isinstance(values, list):
            return [self.lead_on(value) for value in values]
        if isinstance(values, dict):
            return {name: self.lead_to_something(name, self.lead_on(value)) for name, value in values.items()}
        return values


def fleet_with_callers() -> Fleet:
    """The demonstration fleet that is loaded, and callers of every role."""
    people = {one.name: one for one in Person.objects.filter(email__endswith="@demo.example")}
    everybody: dict[str, dict[str, dict[str, str]]] = {"nobody": {}}
    everybody |= {f"{name} by session": _session(person) for name, person in sorted(people.items())}
    everybody["Ada by token"] = _token(people["Ada"], *TokenScope)
    everybody["Bo by token"] = _token(people["Bo"], *TokenScope)
    everybody["Vic by a reading token"] = _token(people["Vic"], TokenScope.READ)
    named = {
        "slug": [demo.SLUG],
        "cluster": [demo.SLUG],
        "launch_id": _texts(Launch, "pk"),
        "evaluation_id": _texts(Evaluation, "pk"),
        "sha256": _texts(Evidence, "sha256"),
        "email": sorted(person.email for person in people.values()),
    }
    return Fleet(everybody, named)


def _texts(model: Any, name: str) -> list[str]:
    return [str(value) for value in model._base_manager.order_by(name).values_list(name, flat=True)[:SMALL]]


def _token(person: Person, *scopes: TokenScope) -> dict[str, dict[str, str]]:
    return {"headers": {"Authorization": f"Bearer {factories.bearer(person, *scopes)}"}}


def _session(person: Person) -> dict[str, dict[str, str]]:
    """The cookies of a browser in which this person is signed in, and the header that its scripts send."""
    session = callers.client_of(person).cookies[settings.SESSION_COOKIE_NAME].value
    cookies = {settings.SESSION_COOKIE_NAME: session, settings.CSRF_COOKIE_NAME: _CSRF}
    return {"headers": {"X-CSRFToken": _CSRF}, "cookies": cookies}
