"""Limits of attempts, with rows and without Redis; and with Redis where it is there."""

from __future__ import annotations

import os
import threading
from datetime import UTC, datetime, timedelta

import pytest
from django.db import connection

from apps.accounts.models import RateWindow
from apps.accounts.services import limits
from apps.core import clock
from apps.core.errors import TooMany
from tests import factories

NOON = datetime(2026, 1, 1, 12, 0, 10, tzinfo=UTC)


@pytest.fixture(autouse=True)
def _stopped_clock(monkeypatch):
    monkeypatch.setattr(clock, "now", lambda: NOON)
    monkeypatch.setattr(limits, "_own", {})


@pytest.mark.django_db
def test_the_try_after_the_last_is_refused_until_the_window_ends(monkeypatch):
    for _try in range(3):
        limits.take("test", limit=3, window_s=60)
    with pytest.raises(TooMany) as refused:
        limits.take("test", limit=3, window_s=60)
    assert refused.value.fields["retry_after_s"] == 50
    limits.take("other", limit=3, window_s=60)
    monkeypatch.setattr(clock, "now", lambda: NOON + timedelta(seconds=50))
    limits.take("test", limit=3, window_s=60)


@pytest.mark.django_db
def test_old_windows_are_forgotten(monkeypatch):
    limits.take("test", limit=3, window_s=60)
    assert limits.forget_old_windows() == 0
    monkeypatch.setattr(clock, "now", lambda: NOON + timedelta(days=2))
    assert limits.forget_old_windows() == 1


def test_many_at_once_never_get_more_than_the_limit(committed_database):
    taken, ready = [], threading.Barrier(8)

    def take() -> None:
        ready.wait(timeout=30)
        try:
            limits.take("test", limit=5, window_s=60)
            taken.append(1)
        except TooMany:
            pass
        finally:
            connection.close()

    threads = [threading.Thread(target=take) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(taken) == 5
    assert RateWindow.objects.get().count == 5


@pytest.mark.services
@pytest.mark.django_db
def test_redis_counts_where_it_is_there(settings):
    settings.REDIS_URL = os.environ["TEST_REDIS_URL"]
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": settings.REDIS_URL,
        }
    }
    for _try in range(3):
        limits.take("redis-test", limit=3, window_s=60)
    with pytest.raises(TooMany):
        limits.take("redis-test", limit=3, window_s=60)
    assert not RateWindow.objects.exists()


@pytest.mark.django_db
def test_where_redis_is_away_the_row_counts(settings):
    settings.REDIS_URL = "redis://127.0.0.1:1/0"
    settings.CACHES = {
        "default": {
            "BACKEND": "django.core.cache.backends.redis.RedisCache",
            "LOCATION": settings.REDIS_URL,
        }
    }
    limits.take("redis-away", limit=1, window_s=60)
    with pytest.raises(TooMany):
        limits.take("redis-away", limit=1, window_s=60)


@pytest.mark.django_db
def test_readers_of_the_api_do_not_write_until_they_ask_a_lot(count_queries):
    def take() -> None:
        limits.take_api("somebody", bucket="api", limit=100)

    assert [count_queries(take) for _request in range(4)] == [0, 0, 0, 0]
    assert count_queries(take) > 0
    assert RateWindow.objects.get().count == 5


@pytest.mark.django_db
def test_a_caller_whose_minute_is_full_is_refused_with_every_request():
    served = 0
    for _request in range(150):
        try:
            limits.take_api("somebody", bucket="api", limit=100)
            served += 1
        except TooMany:
            pass
    assert 100 <= served <= 105
    limits.take_api("somebody else", bucket="api", limit=100)
    limits.take_api("somebody", bucket="gate", limit=100)


@pytest.mark.django_db
def test_the_api_says_429_and_when_to_come_again(bo, api, settings):
    settings.API_RATE_PER_MINUTE = 10
    caller = api(factories.bearer(bo))
    answers = [caller.get("/api/v1/auth-check/") for _request in range(14)]
    assert answers[0].status_code == 200
    last = answers[-1]
    assert (last.status_code, last.json()["code"], last["Retry-After"]) == (429, "too_many", "50")
    assert last["Content-Type"] == "application/problem+json"


@pytest.mark.django_db
def test_guessing_passwords_is_limited_for_an_account_and_the_page_says_when_to_come_again(bo, client_of):
    form = {"username": "BO@example.com", "password": "wrong"}
    browser = client_of(None)
    answers = [browser.post("/sign-in/", form) for _try in range(limits.SIGN_INS_OF_ADDRESS + 1)]
    assert answers[0].status_code == 200
    assert answers[-1].status_code == 429
    assert answers[-1]["Retry-After"]
    right = {"username": "bo@example.com", "password": factories.PASSWORD}
    assert browser.post("/sign-in/", right).status_code == 429


@pytest.mark.django_db
def test_a_stranger_who_guesses_shuts_nobody_out(bo, client_of):
    stranger, owner, signed_in = client_of(None), client_of(None), client_of(bo)
    guess = {"username": "bo@example.com", "password": "wrong"}
    for _try in range(limits.SIGN_INS_OF_ADDRESS + 1):
        refused = stranger.post("/sign-in/", guess, REMOTE_ADDR="203.0.113.9")
    assert refused.status_code == 429
    assert signed_in.post("/confirm-password/", {"password": factories.PASSWORD}).status_code == 302
    right = guess | {"password": factories.PASSWORD}
    assert owner.post("/sign-in/", right, REMOTE_ADDR="198.51.100.7").status_code == 302


@pytest.mark.django_db
def test_guessing_from_many_places_is_limited_too(bo):
    with pytest.raises(TooMany):
        for place in range(limits.SIGN_INS_OF_ADDRESS_ANYWHERE + 1):
            limits.take_sign_in(email="bo@example.com", ip=f"203.0.113.{place}")


@pytest.mark.django_db
def test_guessing_the_password_within_a_session_is_limited(bo, client_of):
    browser = client_of(bo)
    for path, form in (
        ("/confirm-password/", {"password": "wrong"}),
        ("/preferences/password/", {"current": "wrong", "password": "x", "again": "x"}),
    ):
        answers = [browser.post(path, form) for _try in range(limits.SIGN_INS_OF_ADDRESS + 1)]
        assert answers[-1].status_code == 429
