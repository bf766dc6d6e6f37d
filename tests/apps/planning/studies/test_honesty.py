"""What the studies say about their own answers: nothing is claimed for others, and what is unusual is said."""

from __future__ import annotations

from typing import Any

import pytest

pytestmark = pytest.mark.django_db


@pytest.fixture
def page(client_of, vic):
    """The text of a study's page for a query."""
    return lambda key, **query: client_of(vic).get(f"/plans/studies/{key}/", query).content.decode()


@pytest.fixture
def answer(api, vic):
    """The result of a study over REST."""

    def ask(key: str, **body: Any) -> dict[str, Any]:
        response = api(vic).post(f"/api/v1/planning/{key}/", body, format="json")
        assert response.status_code == 200, response.json()
        return response.json()["result"]

    return ask


@pytest.mark.parametrize(
    ("sent", "name"),
    [({"run_days": 54.2}, "mfu"), ({"run_days": None, "run_mfu_percent": 17.3}, "time_s")],
)
def test_what_nobody_claimed_is_derived_and_not_claimed(sent, name, answer):
    (judged,) = answer("claims", **sent)["run"]["judgements"]
    assert (judged["name"], judged["claimed"], judged["finding"]) == (name, None, "derived")
    assert judged["implied"] > 0


def test_a_run_of_which_nothing_is_claimed_has_nothing_to_judge(answer):
    assert answer("claims", run_days=None)["run"]["judgements"] == []


def test_the_page_shows_what_is_derived_as_such(page):
    text = page("claims")
    row = text[text.index('<th scope="row">MFU</th>') :].split("</tr>")[0]
    assert "derived: nobody claimed it" in row and ">—<" in row and "follows" not in row
    claimed = page("claims", run_mfu_percent=17.3)
    row = claimed[claimed.index('<th scope="row">MFU</th>') :].split("</tr>")[0]
    assert "17.3 %" in row and "follows" in row


def test_a_model_with_layers_that_only_train_serves_as_fast_as_without(answer):
    with_mtp, without = (answer("inference", model=name) for name in ("deepseek-v3", "deepseek-v3-no-mtp"))
    for phase in ("first_token", "output_token"):
        assert with_mtp[phase] == without[phase]


def test_copies_of_the_cache_are_said(page, answer):
    assert answer("inference")["cache_copies"] == 32
    assert "A decode replica keeps 32 copies of the cache" in page("inference")
    assert "copies of the cache" not in page("inference", decode_tp=1, batch=1)
