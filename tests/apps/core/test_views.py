"""Choosing the theme without a script, and the icon."""

from __future__ import annotations

import pytest
from django.test import Client, RequestFactory

from apps.core.errors import Invalid
from apps.core.views import choose_theme


def choose(**data: str):
    return choose_theme(RequestFactory().post("/theme/", data))


def test_the_theme_is_kept_and_the_page_shown_again() -> None:
    answer = choose(theme="dark", next="/nodes/?state=fail")
    assert answer.cookies["theme"].value == "dark"
    assert answer["Location"] == "/nodes/?state=fail"


def test_a_choice_does_not_lead_to_another_site() -> None:
    assert choose(theme="dark", next="https://elsewhere.example/")["Location"] == "/"


def test_a_theme_that_is_none_is_refused() -> None:
    with pytest.raises(Invalid) as refusal:
        choose(theme="pink")
    assert refusal.value.code == "theme"


def test_the_theme_is_not_changed_by_following_a_link() -> None:
    assert choose_theme(RequestFactory().get("/theme/?theme=dark")).status_code == 405


def test_a_browser_that_looks_for_the_icon_unasked_finds_it() -> None:
    answer = Client().get("/favicon.ico")
    assert answer["Location"].startswith("/static/favicon")
    assert answer["Location"].endswith(".svg")
