"""Whoever signs in can open every page that is offered to them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from html.parser import HTMLParser
from typing import Any
from urllib.parse import urljoin, urlsplit

import pytest
from django.test import Client

from apps.accounts.models import Person
from apps.portal.services import demo
from tests.tours import kind_of

SAMPLES = 1  # addresses of one kind, such as that of a node


class Links(HTMLParser):
    """The addresses of this portal that a page links to, and the ids that its elements have."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.page, self.found = page, []
        self.ids: Counter[str] = Counter()

    def handle_starttag(self, tag: str, attributes: list[tuple[str, str | None]]) -> None:
        given = dict(attributes)
        self.ids.update([given["id"]] if given.get("id") else [])
        target = given.get("href") if tag == "a" else None
        if target is not None:
            parts = urlsplit(urljoin(self.page, target))
            if not parts.netloc:
                self.found.append(parts.path + (f"?{parts.query}" if parts.query else ""))


@pytest.mark.django_db
@pytest.mark.parametrize("name", ["vic", "bo"])
def test_no_link_of_a_new_portal_is_refused_to_whoever_sees_it(
    request: pytest.FixtureRequest, client_of: Any, cluster: Any, name: str
) -> None:
    opened = list(tour(client_of(request.getfixturevalue(name))))
    assert [page for page in opened if page[1:] != (200, [])] == []
    assert len(opened) > 20


@pytest.mark.parametrize("name", [name for name, _role in demo.PEOPLE])
def test_every_page_that_is_offered_opens(demonstration: Any, client_of: Any, name: str) -> None:
    opened = list(tour(client_of(Person.objects.get(name=name))))
    assert [page for page in opened if page[1:] != (200, [])] == []
    assert len(opened) > 30


def tour(browser: Client) -> Iterator[tuple[str, int, list[str]]]:
    """Follow the links from the overview, a few of each kind; gives address, status and ids that stand twice."""
    waiting, seen = ["/"], {"/"}
    kinds: Counter[tuple[str, ...]] = Counter()
    while waiting:
        address = waiting.pop(0)
        answer = browser.get(address)
        if answer.status_code != 200 or "text/html" not in answer["Content-Type"] or answer.streaming:
            yield address, answer.status_code, []
            continue
        links = Links(address)
        links.feed(answer.content.decode())
        yield address, answer.status_code, [one for one, times in links.ids.items() if times > 1]
        for target in links.found:
            if target in seen or target.startswith("/static/"):
                continue
            seen.add(target)
            kinds[kind_of(target)] += 1
            if kinds[kind_of(target)] <= SAMPLES:
                waiting.append(target)
