"""Where the pages of a new portal lead: every link of a page may be followed by whoever sees it."""

from __future__ import annotations

import re
from html import unescape
from typing import Any
from urllib.parse import parse_qsl, urlsplit

import pytest
from django.test import Client
from django.urls import resolve

pytestmark = pytest.mark.django_db

_LINK = re.compile(r'<a\b[^>]*?\bhref="(/[^"#]*)"')
_ELSEWHERE = ("/api/", "/static/")


def dead_ends(client: Client) -> tuple[list[str], int]:
    """Links that are refused or lead nowhere, each with its page, and how many were followed: one of each kind."""
    waiting, seen, pages = [("/", "")], {("portal:overview",)}, 0
    found = []
    while waiting:
        address, origin = waiting.pop()
        answer = client.get(address, follow=True)
        pages += 1
        if answer.status_code >= 400:
            found.append(f"{address} on {origin}: {answer.status_code}")
        if answer.streaming or "text/html" not in answer.headers["Content-Type"]:
            continue
        for link in map(unescape, _LINK.findall(answer.content.decode())):
            if link.startswith(_ELSEWHERE):
                continue
            parts = urlsplit(link)
            view = (resolve(parts.path).view_name, *sorted(dict(parse_qsl(parts.query))))
            if view not in seen:
                seen.add(view)
                waiting.append((link, address))
    return found, pages


@pytest.mark.parametrize("name", ["vic", "bo"])
def test_no_link_of_a_page_is_refused_to_whoever_sees_it(
    request: pytest.FixtureRequest, client_of: Any, cluster: Any, name: str
) -> None:
    found, pages = dead_ends(client_of(request.getfixturevalue(name)))
    assert found == []
    assert pages > 20
