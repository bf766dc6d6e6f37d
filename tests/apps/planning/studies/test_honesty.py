"""What the studies say about their own answers: nothing is claimed for others, and what is unusual is said."""

from __future__ import annotations

from typing import Any

import pytest

from apps.catalogue.engine.accelerators import accelerator
from apps.planning.engine.operations import power_source
from apps.planning.studies import STUDIES
from apps.planning.studies.hardware import HardwareFields

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


HARDWARE = sorted(key for key, study in STUDIES.items() if issubclass(study.form, HardwareFields))


@pytest.mark.parametrize("key", HARDWARE)
def test_a_study_starts_from_a_domain_that_its_accelerator_has(key):
    start = STUDIES[key].form.start
    most = accelerator(start["accelerator"]).scale_up.max_domain
    assert max(start["domain_size"], start.get("joined", 0)) <= most


@pytest.mark.parametrize("key", ["inference", "sensitivity"])
def test_a_domain_larger_than_any_that_ships_is_said(key, page, answer):
    large = {"accelerator": "nvidia-h100-sxm5-80gb", "domain_size": 144}
    assert answer(key)["warnings"] == []
    assert [one["code"] for one in answer(key, **large)["warnings"]] == ["domain_above_catalogue"]
    assert "ships in scale-up domains of up to 8 cards; one of 144 is hypothetical" in page(key, **large)


@pytest.mark.parametrize(
    ("key", "large"),
    [("scaling", {"joined": 144, "sub_domains": [72]}), ("purchase", {"domain_size": 144})],
)
def test_a_long_study_says_it_too(key, large, vic, api, run_jobs):
    caller = api(vic)
    small = (
        {"sizes": [64], "joined": 72} if key == "scaling" else {"sizes": [64], "workloads": ["llama-3-70b"]}
    )
    for sent, codes in ((small, []), (small | large, ["domain_above_catalogue"])):
        asked = caller.post(f"/api/v1/planning/{key}/", sent, format="json")
        assert asked.status_code == 202, asked.json()
        run_jobs("planning.study")
        result = caller.get(asked["Location"]).json()["result"]
        assert [one["code"] for one in result["warnings"]] == codes


def test_efficiency_beyond_the_peak_is_flat_and_said(page, answer):
    found = answer("sensitivity")
    limit, curve = found["efficiency_limit"], found["curves"]["matrix_efficiency"]
    beyond = [seconds for factor, seconds in zip(found["factors"], curve, strict=True) if factor > limit]
    assert 1 < limit < 2 and beyond
    assert beyond == [beyond[0]] * len(beyond)
    assert "Efficiency ends at the peak" in page("sensitivity")


def test_the_overhead_of_a_rack_has_its_source_until_somebody_states_another(answer):
    def overhead(**sent):
        return next(row for row in answer("power", **sent)["assumptions"] if row["name"] == "overhead_share")

    shipped, stated = overhead(), overhead(overhead_percent=82)
    assert (shipped["source"], shipped["confidence"]) == (power_source("node_overhead_share"), "derived")
    assert (stated["value"], stated["confidence"]) == (0.82, "given")
    assert "DGX" not in stated["source"]
