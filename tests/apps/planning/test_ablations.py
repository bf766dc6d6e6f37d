"""Ablations: the list for 144 cards with commands, a version of each, and measured beside predicted."""

from __future__ import annotations

import pytest

from apps.planning.engine.estimate import estimate
from apps.planning.engine.reading import read_plan
from apps.planning.models import PlanVersion
from apps.planning.services import create_plan, note_measured_step, revise_plan
from apps.planning.services.computing import answer_to
from tests import factories
from tests.apps.planning.engine.plans import LLAMA_70B, changed
from tests.callers import actor_for

pytestmark = pytest.mark.django_db
ON_144 = changed(LLAMA_70B, accelerators=144, domain_size=144, pp=9, dp=2, global_batch=288)


@pytest.fixture
def version(bo, cluster, run_jobs) -> PlanVersion:
    domain = factories.domain(cluster)
    made = create_plan(
        actor=actor_for(bo), scope_id=cluster.scope_id, name="On 144", document=ON_144, domain_id=domain.pk
    )
    run_jobs()
    return made


@pytest.fixture
def address(version) -> str:
    return f"/plans/{version.plan_id}/versions/{version.number}/ablations/"


def test_144_cards_have_at_least_the_three_layouts_with_commands(address, vic, api):
    rows = api(vic).get(f"/api/v1{address}").json()
    layouts = {(row["tp"], row["pp"], row["dp"]): row for row in rows}
    assert {(8, 18, 1), (16, 9, 1), (8, 9, 2)} <= set(layouts)
    commands = layouts[8, 18, 1]["commands"]
    assert "--pipeline-model-parallel-size 18" in commands["torchrun"]
    assert "--node-rank" in commands["torchrun"] and "#SBATCH" in commands["slurm"]
    assert "zero_optimization" in commands["deepspeed"] and "all_reduce_perf" in commands["all_reduce_perf"]
    assert layouts[8, 18, 1]["predicted_s"] > 0 and layouts[8, 18, 1]["measured_s"] is None


def test_an_ablation_becomes_a_version_once_and_is_measured_there(address, version, bo, client_of, api):
    browser = client_of(bo)
    page = browser.get(address).content.decode()
    assert "Make a version" in page and "not yet" in page
    take = address.replace("ablations", "take-ablation")
    assert f'action="{take}"' in page
    made = browser.post(take, {"place": 1})
    assert made["Location"] == f"/plans/{version.plan_id}/versions/2/"
    actor = actor_for(bo)
    step = note_measured_step(actor=actor, plan_id=version.plan_id, number=2, measured_s=20.0, source="job 7")
    row = api(bo).get(f"/api/v1{address}").json()[0]
    assert (row["version"], row["measured_s"], row["ratio"]) == (
        2,
        20.0,
        pytest.approx(20.0 / step.predicted_s),
    )
    assert "20 s" in browser.get(address).content.decode()


def test_versions_that_start_the_same_stand_beside_a_layout_whatever_their_documents_say(
    address, version, bo, api
):
    """The version itself is TP8 PP9 DP2; a later one states defaults, and knows of a measured bandwidth."""
    actor = actor_for(bo)
    assert [row["version"] for row in api(bo).get(f"/api/v1{address}").json()] == [None, None, 1, None]
    note_measured_step(actor=actor, plan_id=version.plan_id, number=1, measured_s=20.0, source="job 7")
    fuller = changed(ON_144, etp=1, schedule="1f1b", placement="tp-cp-dp-pp")
    fuller["system"] |= {"measured": {"scale_up_busbw_gb_s": 200, "source": "run 7"}}
    revise_plan(actor=actor, plan_id=version.plan_id, document=fuller)
    note_measured_step(actor=actor, plan_id=version.plan_id, number=2, measured_s=22.0, source="job 8")
    row = api(bo).get(f"/api/v1{address}").json()[2]
    assert (row["version"], row["measured_s"]) == (2, 21.0)
    revise_plan(actor=actor, plan_id=version.plan_id, document=changed(ON_144, recompute="full"))
    assert api(bo).get(f"/api/v1{address}").json()[2]["version"] == 2


def test_a_viewer_sees_the_list_and_is_offered_nothing(address, vic, eve, client_of):
    page = client_of(vic).get(address)
    assert page.status_code == 200 and "Make a version" not in page.content.decode()
    assert client_of(eve).get(address).status_code == 404


def test_a_search_has_no_ablations(bo, cluster, api):
    asked = {key: ON_144[key] for key in ("model", "system")} | {
        "global_batch": 288, "seq_len": 4096, "precision": "bf16"
    }  # fmt: skip
    made = create_plan(actor=actor_for(bo), scope_id=cluster.scope_id, name="Search", document=asked)
    answer = api(bo).get(f"/api/v1/plans/{made.plan_id}/versions/1/ablations/")
    assert (answer.status_code, answer.json()["code"]) == (409, "no_layout")


@pytest.mark.parametrize(
    "layout",
    [
        {"tp": 1, "pp": 1, "dp": 144, "zero": 3, "sequence_parallel": False},
        {"tp": 8, "pp": 9, "dp": 2, "zero": 0},
    ],
    ids=["sharded", "pipeline"],
)
def test_each_layout_of_the_list_can_run_and_is_predicted_as_the_version_that_it_becomes(layout):
    asked = changed(ON_144, **layout)
    rows = answer_to(asked)["ablations"]
    assert len(rows) == 4 and not any(row["problems"] for row in rows)
    for row in rows:
        made = estimate(read_plan(asked | {"parallel": row["parallel"]}))
        assert made.iteration_time_s == row["iteration_time_s"]


def test_the_list_of_an_older_engine_does_not_keep_a_layout_from_becoming_a_version(
    address, version, bo, client_of
):
    result = PlanVersion.objects.get(pk=version.pk).result
    PlanVersion.objects.filter(pk=version.pk).update(result=result | {"ablations": []})
    made = client_of(bo).post(address.replace("ablations", "take-ablation"), {"place": 1})
    assert made["Location"] == f"/plans/{version.plan_id}/versions/2/"
