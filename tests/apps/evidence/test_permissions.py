"""Role × endpoint of evidence and of the intake. An endpoint that is missing here fails the last test."""

from __future__ import annotations

from typing import Any

import pytest

from apps.evidence.api.urls import urlpatterns as evidence_urls
from apps.evidence.models import Receipt
from apps.portal.api.urls import urlpatterns as portal_urls
from apps.portal.services import intake
from tests.callers import actor_for
from tests.support import corpus

pytestmark = pytest.mark.django_db

EVERYBODY = dict.fromkeys(("vic", "bo", "chen", "sun", "dana", "ada"), 200)
OPERATES = {"vic": 403, "bo": 201, "chen": 403, "sun": 403, "dana": 403, "ada": 201, "eve": 404}
UNCHANGED = {"reports": [{"sha256": "0" * 64, "node": "sn-n01"}]}
KNOWN = {"digests": ["0" * 64]}

# name of the address, method, body, status by person; Eve knows another cluster only
TABLE: list[tuple[str, str, Any, dict[str, int]]] = [
    ("receipts", "get", None, EVERYBODY | {"eve": 200}),
    ("receipt", "get", None, EVERYBODY | {"eve": 404}),
    ("raw", "get", None, EVERYBODY | {"eve": 404}),
    ("keeping", "get", None, EVERYBODY | {"eve": 404}),
    ("keeping", "put", {"keep_days": 30}, dict.fromkeys(EVERYBODY, 403) | {"ada": 200, "eve": 404}),
    ("hand_in", "post", corpus.read(corpus.COLLECT_ENV), OPERATES),
    ("known", "post", KNOWN, OPERATES | {"bo": 200, "ada": 200}),
    ("unchanged", "post", UNCHANGED, OPERATES | {"bo": 200, "ada": 200}),
    ("assign_node", "post", {"node": "sn-n01"}, OPERATES | {"bo": 200, "ada": 200}),
    ("root", "get", None, EVERYBODY | {"eve": 200}),
    ("schema", "get", None, {"vic": 200, "eve": 200}),
]
ROUTES = {pattern.name: str(pattern.pattern) for pattern in [*evidence_urls, *portal_urls]}


@pytest.fixture
def receipt(cluster, bo) -> Receipt:
    """A delivery that names no node."""
    return intake.take_in(actor=actor_for(bo), cluster=cluster, chunks=[corpus.read(corpus.XML)])


def address_of(name: str, receipt: Receipt) -> str:
    route = ROUTES[name].replace("<slug:slug>", "hall-1").replace("<int:receipt_id>", str(receipt.pk))
    return "/api/v1/" + route.replace("(?P<sha256>[0-9a-f]{64})", receipt.sha256).strip("^$")


@pytest.mark.parametrize(("name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(name, method, body, answers, receipt, statuses_of, api):
    address = address_of(name, receipt)

    def send(person):
        if isinstance(body, bytes):
            return api(person).generic(method.upper(), address, body, content_type="text/plain")
        return getattr(api(person), method)(address, body, headers={"If-Match": '"v0"'})

    assert answers == statuses_of(answers, send)


def test_every_endpoint_stands_in_the_table():
    assert {name for name, *_rest in TABLE} == set(ROUTES)


@pytest.mark.parametrize(
    ("address", "people"),
    [
        ("/evidence/", {"vic": 200, "bo": 200, "eve": 200}),
        ("/evidence/keeping/hall-1/", {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
        ("/evidence/receipts/{pk}/", {"vic": 200, "bo": 200, "eve": 404}),
        ("/evidence/receipts/{pk}/raw/", {"vic": 200, "bo": 200, "eve": 404}),
        ("/evidence/receipts/{pk}/reading/", {"vic": 404, "bo": 404, "eve": 404}),
        ("/clusters/hall-1/hand-in/", {"vic": 403, "bo": 200, "ada": 200, "eve": 404}),
    ],
)
def test_each_role_gets_its_page(address, people, receipt, client_of, statuses_of):
    place = address.format(pk=receipt.pk)
    assert people == statuses_of(people, lambda person: client_of(person).get(place))
    answer = client_of(None).get(address.format(pk=receipt.pk))
    assert answer["Location"].startswith("/sign-in/")
