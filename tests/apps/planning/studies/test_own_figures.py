"""Own figures of an accelerator in studies: those of the cluster chosen, and of the plan that is asked about."""

from __future__ import annotations

import pytest

from apps.catalogue.engine.overlays import Confidence, Kind
from apps.catalogue.services import set_figure
from apps.jobs.models import Job
from apps.planning.services import create_plan
from apps.planning.studies import STUDIES
from tests import factories
from tests.apps.planning.documents import small
from tests.callers import actor_for

pytestmark = pytest.mark.django_db
WITH_CARDS = sorted(key for key, study in STUDIES.items() if "accelerator" in study.form.base_fields)
SHORT = [key for key in WITH_CARDS if not STUDIES[key].is_long]
LONG = [key for key in WITH_CARDS if STUDIES[key].is_long]
CARD = "nvidia-h100-sxm5-80gb"


@pytest.fixture
def own(cluster, bo):
    def figure(value, *, path="dense_tflops.bf16", entry=CARD):
        return set_figure(
            actor=actor_for(bo),
            scope_id=cluster.scope_id,
            kind=Kind.ACCELERATOR,
            entry=entry,
            path=path,
            value=value,
            source="measured on n01",
            confidence=Confidence.MEASURED,
        )

    return figure


@pytest.fixture
def ask(bo, api):
    def asked(key, person=bo, **body):
        answer = api(factories.bearer(person, "read")).post(f"/api/v1/planning/{key}/", body, format="json")
        assert answer.status_code == 200, answer.json()
        return answer.json()

    return asked


@pytest.mark.parametrize("key", SHORT)
def test_the_only_teams_figures_count_and_are_named(key, own, ask):
    before = ask(key, accelerator=CARD, precision="bf16")
    own(500)
    after = ask(key, accelerator=CARD, precision="bf16")
    assert after["input"]["catalogue"] == "hall-1"
    assert before["result"] != after["result"]
    named = {row["name"]: row for row in after["result"]["assumptions"]}["dense_tflops.bf16"]
    assert (named["value"], named["confidence"]) == (500, "measured")
    assert named["source"].startswith("measured on n01")


@pytest.mark.parametrize("key", SHORT)
def test_everybodys_figures_can_be_asked_for_instead(key, own, ask):
    before = ask(key, accelerator=CARD, precision="bf16")
    own(500)
    after = ask(key, accelerator=CARD, precision="bf16", catalogue="")
    assert after["result"] == before["result"]


def test_figures_of_a_cluster_that_one_may_not_see_cannot_be_asked_for(own, eve, api):
    own(500)
    answer = api(factories.bearer(eve, "read")).post(
        "/api/v1/planning/sensitivity/", {"catalogue": "hall-1"}, format="json"
    )
    assert answer.status_code == 400
    assert [error["pointer"] for error in answer.json()["errors"]] == ["/catalogue"]


def test_others_do_not_see_them(own, ask, eve):
    own(500)
    assert ask("sensitivity", person=eve)["input"]["figures"] == {}


@pytest.mark.parametrize("key", LONG)
def test_a_long_study_takes_them_along_to_its_worker(key, own, bo, api):
    own(500)
    asked = {"accelerator": CARD}
    answer = api(factories.bearer(bo, "plan:write")).post(f"/api/v1/planning/{key}/", asked, format="json")
    values = Job.objects.get(pk=answer.json()["id"]).arguments["values"]
    assert values["figures"]["dense_tflops.bf16"]["value"] == 500


def test_a_study_of_a_plan_computes_with_the_plans_figures(own, ask, bo, cluster):
    own(100, path="memory_gb", entry="nvidia-gb200")
    version = create_plan(actor=actor_for(bo), scope_id=cluster.scope_id, name="before", document=small())
    own(120, path="memory_gb", entry="nvidia-gb200")
    body = ask("sensitivity", plan=f"{version.plan_id}.{version.number}")
    assert body["input"]["figures"]["memory_gb"]["value"] == 100
    assert body["input"]["catalogue"] == "hall-1"


def test_an_accelerator_that_only_the_team_knows_can_be_studied(own, ask):
    for path, value in {"memory_gb": 64, "memory_bandwidth_gb_s": 1600, "dense_tflops.bf16": 400}.items():
        own(value, path=path, entry="house-npu")
    body = ask("claims", accelerator="house-npu", precision="bf16", run_mfu_percent=40, run_days=None)
    assert body["result"]["run"]["implied_time_s"] > 0


def test_the_page_offers_the_clusters_and_starts_from_the_only_one_with_figures(own, bo, client_of):
    own(500)
    text = client_of(bo).get("/plans/studies/inference/").content.decode()
    assert '<option value="hall-1" selected>' in text and "everybody&#x27;s" in text


def test_a_long_study_is_seen_only_where_the_figures_it_rests_on_are(
    ada, cluster, other_cluster, api, run_jobs
):
    def caller(*clusters):
        return api(factories.bearer(ada, "read", "plan:write", clusters=[one.scope for one in clusters]))

    body = {"sizes": [64], "accelerator": CARD}
    asked = caller(cluster).post(
        "/api/v1/planning/scaling/", body | {"catalogue": cluster.slug}, format="json"
    )
    run_jobs("planning.study")
    answers = [caller(one).get(asked["Location"]).status_code for one in (cluster, other_cluster)]
    assert answers == [200, 404]


def test_a_plan_and_the_figures_of_another_cluster_are_not_put_together(ada, cluster, other_cluster, api):
    plan = create_plan(actor=actor_for(ada), scope_id=cluster.scope_id, name="own", document=small()).plan
    body = {"plan": f"{plan.pk}.1", "catalogue": other_cluster.slug}
    answer = api(ada).post("/api/v1/planning/sensitivity/", body, format="json")
    assert (answer.status_code, answer.json()["errors"][0]["pointer"]) == (400, "/catalogue")
