"""The same request sent twice counts once."""

from __future__ import annotations

import json
import threading
from datetime import timedelta

import pytest
from django.db import connection

from apps.core import clock
from apps.jobs.models import IdempotencyKey
from apps.jobs.services.tidying import tidy
from tests import factories
from tests.callers import api as api_of

ADDRESS = "/api/v1/service-accounts/"
BODY = {"name": "CI", "role": "operator", "cluster": None}
KEY = {"Idempotency-Key": "nightly-1"}


def accounts() -> int:
    return factories.Person.objects.filter(kind="service").count()


@pytest.mark.django_db
def test_a_repeated_request_gets_the_first_answer(ada, api):
    first = api(ada).post(ADDRESS, BODY, headers=KEY)
    again = api(ada).post(ADDRESS, BODY, headers=KEY)
    assert (first.status_code, again.status_code) == (201, 201)
    assert again.json() == first.json()
    assert again["Idempotent-Replayed"] == "true"
    assert accounts() == 1


@pytest.mark.django_db
def test_another_body_under_the_same_key_is_refused(ada, api):
    api(ada).post(ADDRESS, BODY, headers=KEY)
    answer = api(ada).post(ADDRESS, {**BODY, "name": "other"}, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (422, "key_reused")
    assert answer["Content-Type"] == "application/problem+json"


@pytest.mark.django_db
def test_a_refused_request_may_be_sent_again_under_its_key(ada, api):
    assert api(ada).post(ADDRESS, {**BODY, "role": "boss"}, headers=KEY).status_code == 400
    assert api(ada).post(ADDRESS, BODY, headers=KEY).status_code == 201


@pytest.mark.django_db
def test_a_request_that_is_under_way_is_not_begun_again(ada, api):
    api(ada).post(ADDRESS, BODY, headers=KEY)
    IdempotencyKey.objects.update(status=None)
    answer = api(ada).post(ADDRESS, BODY, headers=KEY)
    assert (answer.status_code, answer.json()["code"]) == (409, "in_progress")
    IdempotencyKey.objects.update(created_at=clock.now() - timedelta(minutes=11))
    assert api(ada).post(ADDRESS, BODY, headers=KEY).status_code == 201


@pytest.mark.django_db
def test_a_key_belongs_to_its_caller(ada, api):
    second = factories.person("Zoe", "admin")
    api(ada).post(ADDRESS, BODY, headers=KEY)
    assert api(second).post(ADDRESS, BODY, headers=KEY).status_code == 201
    assert accounts() == 2


@pytest.mark.django_db
@pytest.mark.parametrize("key", ["", "x" * 201, "a\tb"])
def test_an_odd_key_is_refused(ada, api, key):
    answer = api(ada).post(ADDRESS, BODY, headers={"Idempotency-Key": key})
    assert (answer.status_code, answer.json()["code"]) == (400, "idempotency_key")


@pytest.mark.django_db
@pytest.mark.parametrize("headers", [KEY, {}])
def test_a_body_above_ten_mebibytes_is_too_large(ada, api, headers):
    body = json.dumps({**BODY, "name": "x" * (10 * 2**20)})
    answer = api(ada).generic("POST", ADDRESS, body, content_type="application/json", headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (413, "too_large")
    assert not IdempotencyKey.objects.exists()


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("body", "code"),
    [
        ('{"name": "a\\u0000b"}', "unstorable"),
        ('{"name": "\\ud800"}', "unstorable"),
        ('{"name": 99999999999999999999}', "unstorable"),
        ('{"name": 1e400}', "unstorable"),
        ('{"name": NaN}', "parse_error"),
        ("[" * 100_000, "parse_error"),
        ("{", "parse_error"),
        (b'{"name": "\xff"}', "parse_error"),
    ],
)
def test_a_body_that_cannot_be_stored_is_a_problem_and_no_crash(ada, api, body, code):
    answer = api(ada).generic("POST", ADDRESS, body, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (400, code)


@pytest.mark.django_db
def test_old_keys_are_forgotten(ada, api):
    api(ada).post(ADDRESS, BODY, headers=KEY)
    assert tidy()["idempotency_keys"] == 0
    IdempotencyKey.objects.update(created_at=clock.now() - timedelta(hours=73))
    assert tidy()["idempotency_keys"] == 1


def test_two_at_once_under_one_key_count_once(committed_database, ada):
    answers = []
    ready = threading.Barrier(2)

    def ask() -> None:
        caller = api_of(ada)
        ready.wait(timeout=30)
        answers.append(caller.post(ADDRESS, BODY, headers=KEY).status_code)
        connection.close()

    threads = [threading.Thread(target=ask) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert accounts() == 1
    assert sorted(answers) in ([201, 201], [201, 409])
