"""Pages of plans: the wizard, the ledger, the comparison, and what a reader may do there."""

from __future__ import annotations

import json
import re

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile

from apps.planning.models import Plan, PlanVersion
from tests import factories
from tests.apps.benchmarks.runs import domain_of
from tests.apps.planning.documents import LARGE_SHAPE, SEARCH, small, too_large

pytestmark = pytest.mark.django_db

LLAMA_3_8B = {
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


def page(client_of, person, address, **data):
    answer = client_of(person).get(address, data)
    assert answer.status_code == 200, answer.content[:500]
    return answer.content.decode()


def test_an_empty_list_says_what_a_plan_is(vic, client_of):
    assert "No plans yet" in page(client_of, vic, "/plans/")


def test_the_list_shows_what_came_out_of_the_newest_version(make, vic, client_of, run_jobs):
    make(too_large())
    run_jobs()
    text = page(client_of, vic, "/plans/")
    assert "does not fit" in text and "2 × NVIDIA GB200" in text


def test_the_system_of_a_plan_has_room_beside_the_other_columns(make, vic, client_of):
    make(too_large())
    text = page(client_of, vic, "/plans/")
    assert re.search(r'<td[^>]* class="phrase"[^>]*>2 × NVIDIA GB200', text)
    assert re.search(r"<time [^>]*title=[^>]*>now</time>", text)  # the time itself is in the title


def test_plans_of_other_clusters_are_not_there(make, eve, client_of):
    version = make()
    assert "No plans yet" in page(client_of, eve, "/plans/")
    for address in ("", "revise/", "versions/1/", "versions/1/export.json"):
        assert client_of(eve).get(f"/plans/{version.plan_id}/{address}").status_code == 404


def test_the_list_asks_as_many_questions_for_many_plans(make, vic, client_of, assert_constant_queries):
    make()
    browser = client_of(vic)
    assert_constant_queries(
        lambda: browser.get("/plans/"), lambda: [make(name=f"plan {number}") for number in range(12)]
    )


def test_the_wizard_makes_a_plan_from_the_catalogue(wizard, bo, client_of, run_jobs):
    answer = client_of(bo).post("/plans/new/", wizard())
    version = PlanVersion.objects.get()
    assert (answer.status_code, answer["Location"]) == (302, f"/plans/{version.plan_id}/versions/1/")
    assert version.input["parallel"]["dp"] == 4, "an empty size takes what the others leave"
    run_jobs()
    version.refresh_from_db()
    assert version.fits is True


def test_the_wizard_reads_a_pasted_configuration(wizard, bo, client_of):
    client_of(bo).post("/plans/new/", wizard(model_source="config", config=json.dumps(LLAMA_3_8B)))
    model = PlanVersion.objects.get().input["model"]
    assert (model["layers"], model["kv_heads"], model["gated_mlp"]) == (32, 8, True)


@pytest.mark.parametrize(
    ("config", "said"),
    [
        ("{", "config.json, line 1"),
        ("{}", "hidden_size is missing"),
        ("[]", "JSON object"),
        ("[" * 5000, "nested too deeply"),
        ('{"hidden_size": ' + "9" * 5000 + "}", "config.json, line 1: Exceeds the limit"),
    ],
)
def test_a_configuration_that_cannot_be_read_says_where(wizard, bo, client_of, config, said):
    answer = client_of(bo).post("/plans/new/", wizard(model_source="config", config=config))
    assert said in answer.content.decode() and not Plan.objects.exists()


@pytest.mark.parametrize("encoding", ["utf-8", "utf-8-sig"])
def test_the_wizard_reads_a_configuration_from_a_file(wizard, bo, client_of, encoding):
    file = SimpleUploadedFile("config.json", json.dumps(LLAMA_3_8B).encode(encoding))
    client_of(bo).post("/plans/new/", wizard(model_source="config", config_file=file))
    assert PlanVersion.objects.get().input["model"]["layers"] == 32


def test_a_file_that_cannot_be_read_is_said_at_the_configuration_and_stays_to_be_mended(
    wizard, bo, client_of
):
    file = SimpleUploadedFile("config.json", b'{"hidden_size": \xff')
    answer = client_of(bo).post("/plans/new/", wizard(model_source="config", config_file=file))
    form = answer.context["form"]
    assert "line 1" in form.errors["config"][0] and '"hidden_size"' in form["config"].value()


def test_the_wizard_takes_a_shape_by_hand(wizard, bo, client_of):
    by_hand = {"model_source": "shape", "gated_mlp": "on", **LARGE_SHAPE}
    client_of(bo).post("/plans/new/", wizard(**by_hand))
    assert PlanVersion.objects.get().input["model"]["layers"] == 80


def test_the_wizard_plans_for_a_domain_of_the_fleet(wizard, cluster, bo, client_of):
    domain = domain_of(cluster)
    client_of(bo).post(
        "/plans/new/",
        wizard(domain=domain.pk, cluster=None, accelerator=None, accelerators=None, tp=8, global_batch=144),
    )
    version = PlanVersion.objects.get()
    assert version.plan.domain == domain
    assert version.input["system"]["accelerators"] == 144 and version.input["parallel"]["dp"] == 18


def test_what_the_engine_refuses_stands_at_its_field(wizard, bo, client_of):
    answer = client_of(bo).post("/plans/new/", wizard(tp=5))
    text = answer.content.decode()
    assert "tp must divide the attention heads" in text and 'href="#id_tp"' in text


def test_hypothetical_hardware_needs_somebody_who_may_read_it(wizard, bo, client_of):
    answer = client_of(bo).post("/plans/new/", wizard(cluster=None))
    assert "choose a domain" in answer.content.decode()


def test_a_taken_name_is_said_at_the_name(make, wizard, bo, client_of):
    make(name="taken")
    assert "there is a plan" in client_of(bo).post("/plans/new/", wizard(name="taken")).content.decode()


def test_a_viewer_is_offered_no_cluster_to_plan_for(wizard, vic, client_of):
    answer = client_of(vic).post("/plans/new/", wizard())
    assert answer.status_code == 200 and not Plan.objects.exists()


def test_a_version_shows_progress_until_it_is_computed(make, vic, client_of, run_jobs):
    version = make()
    address = f"/plans/{version.plan_id}/versions/1/"
    assert f'data-poll="{address}"' in page(client_of, vic, address)
    asking = client_of(vic)
    assert asking.get(address, headers={"HX-Request": "true"}).status_code == 200
    run_jobs()
    assert asking.get(address, headers={"HX-Request": "true"}).status_code == 286
    assert f'data-poll="{address}"' not in page(client_of, vic, address)


def test_a_version_shows_ledger_time_and_assumptions(make, bo, client_of, run_jobs):
    version = make()
    run_jobs()
    text = page(client_of, bo, f"/plans/{version.plan_id}/versions/1/")
    for said in (
        "fullest, decides",
        "Time of a step",
        "Assumptions",
        "theoretical",
        "torchrun",
        "Use as launch plan",
    ):
        assert said in text


def test_a_version_that_does_not_fit_names_the_stage_and_what_is_missing(make, bo, client_of, run_jobs):
    version = make(too_large())
    run_jobs()
    text = page(client_of, bo, f"/plans/{version.plan_id}/versions/1/")
    assert "Stage 1 decides" in text and "Use as launch plan" not in text


def test_a_search_lists_layouts_and_why_others_fail(make, bo, client_of, run_jobs):
    version = make(SEARCH)
    run_jobs()
    address = f"/plans/{version.plan_id}/versions/1/"
    text = page(client_of, bo, address)
    assert "Why the others fail" in text and "wrong_card_count" in text
    answer = client_of(bo).post(f"{address}take/", {"place": "1"})
    assert answer["Location"] == f"/plans/{version.plan_id}/versions/2/"


def test_a_viewer_takes_no_layout(make, vic, client_of, run_jobs):
    version = make(SEARCH)
    run_jobs()
    address = f"/plans/{version.plan_id}/versions/1/"
    assert "Plan it" not in page(client_of, vic, address)
    assert client_of(vic).post(f"{address}take/", {"place": "1"}).status_code == 403


def test_revising_starts_from_what_was_asked(make, bo, client_of):
    version = make(small(tp=4, dp=1))
    text = page(client_of, bo, f"/plans/{version.plan_id}/revise/")
    assert 'name="tp" value="4"' in text and 'name="layers" value="8"' in text


def test_a_version_is_used_for_launches_from_its_page(make, bo, client_of, run_jobs):
    version = make()
    run_jobs()
    assert client_of(bo).post(f"/plans/{version.plan_id}/versions/1/use/").status_code == 302
    assert "launch plan" in page(client_of, bo, f"/plans/{version.plan_id}/")


def test_versions_are_compared_with_the_best_said_in_words(make, vic, client_of, run_jobs):
    first, second = make(name="one"), make(small(tp=1, dp=4), name="two")
    run_jobs()
    chosen = [f"{version.plan_id}.1" for version in (first, second)]
    text = page(client_of, vic, "/plans/compare/", v=chosen)
    assert "best" in text and "tensor (TP)" in text and ">sequence length<" not in text
    assert ">sequence length<" in page(client_of, vic, "/plans/compare/", v=chosen, all="1")


def test_only_like_is_called_better_than_like(make, vic, client_of, run_jobs):
    larger = small(global_batch=2 * small()["parallel"]["global_batch"])
    other = small()
    other["model"] |= {"layers": 2 * other["model"]["layers"]}
    made = [make(document, name=str(place)) for place, document in enumerate((small(), larger, other))]
    run_jobs()
    steps, models = (
        page(client_of, vic, "/plans/compare/", v=[f"{made[0].plan_id}.1", f"{made[place].plan_id}.1"])
        for place in (1, 2)
    )
    assert "best" in row_of(steps, "tokens per second") and "best" not in row_of(steps, "time of a step")
    assert "best" not in row_of(models, "tokens per second")


def row_of(text, name):
    return text.partition(f">{name}</th>")[2].partition("</tr>")[0]


@pytest.mark.parametrize("wanted", [["1"], ["a.b"], ["1.1", "1.2", "1.3", "1.4", "1.5"]])
def test_a_comparison_that_cannot_be_made_is_refused(vic, client_of, wanted):
    assert client_of(vic).get("/plans/compare/", {"v": wanted}).status_code == 400


def test_a_version_is_exported_whole_and_as_a_ledger(make, vic, client_of, run_jobs):
    version = make()
    address = f"/plans/{version.plan_id}/versions/1/export"
    assert client_of(vic).get(f"{address}.csv").status_code == 404
    run_jobs()
    whole = json.loads(client_of(vic).get(f"{address}.json").content)
    assert whole["input"] == small() and whole["result"]["memory"]["fits"] is True
    lines = client_of(vic).get(f"{address}.csv").content.decode().splitlines()
    assert lines[0].startswith("stage,layers,weights_bytes") and len(lines) == 3


def test_whoever_may_read_sees_how_far_to_trust_the_planner(vic, client_of):
    text = page(client_of, vic, "/plans/validation/")
    assert "Korthikanti et al. 2022 Table 5" in text and "Furthest off" in text


def test_somebody_without_any_role_sees_no_validation(client_of, database):
    assert client_of(factories.person("Nobody")).get("/plans/validation/").status_code == 403
