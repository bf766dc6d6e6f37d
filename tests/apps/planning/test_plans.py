"""Plans: asked once, computed by a job, revised, chosen for launches."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.audit.models import AuditEvent
from apps.catalogue.engine.model_catalogue import shipped_models
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.jobs.models import Job, JobState
from apps.planning import queries, services
from apps.planning.documents import model_document
from apps.planning.models import Plan, PlanVersion
from tests import factories
from tests.apps.benchmarks.runs import accepted, domain_of
from tests.apps.planning.documents import SEARCH, small, too_large
from tests.callers import actor_for

pytestmark = pytest.mark.django_db


def test_a_plan_is_asked_with_an_event_and_a_job(make):
    version = make()
    assert (version.number, version.result, version.fits) == (1, None, None)
    assert version.job is not None and version.job.state == JobState.QUEUED
    assert AuditEvent.objects.filter(action="plan.asked").count() == 1


def test_the_job_writes_the_answer_down(make, run_jobs):
    version = make()
    (job,) = run_jobs("planning.estimate")
    version.refresh_from_db()
    assert version.fits is True and version.done_at is not None and version.engine_version
    assert (
        version.result["memory"]["stages"] and version.result["sensitivity"] and version.result["ablations"]
    )
    job.refresh_from_db()
    assert job.result_url == f"/plans/{version.plan_id}/versions/1/"


def test_a_plan_that_does_not_fit_is_computed_and_says_so(make, run_jobs):
    version = make(too_large())
    run_jobs("planning.estimate")
    version.refresh_from_db()
    assert version.fits is False


@pytest.mark.parametrize("name", ["", "   "])
def test_a_plan_has_a_name(make, name):
    with pytest.raises(Invalid) as refused:
        make(name=name)
    assert refused.value.errors[0].pointer == "/name"


def test_each_wrong_field_is_named_and_nothing_is_kept(make):
    with pytest.raises(Invalid) as refused:
        make(small(tp=3, precision="fp5"))
    assert {error.pointer for error in refused.value.errors} >= {"/parallel/precision"}
    assert not Plan.objects.exists() and not Job.objects.exists()


def test_a_name_is_taken_once_in_a_cluster(make):
    make()
    with pytest.raises(Conflict) as refused:
        make()
    assert refused.value.code == "name_taken"


def test_a_domain_of_another_cluster_does_not_exist(make, other_cluster):
    with pytest.raises(Missing):
        make(domain_id=factories.domain(other_cluster).pk)


def test_the_same_question_again_is_the_same_version(make, bo):
    version = make()
    again = services.revise_plan(actor=actor_for(bo), plan_id=version.plan_id, document=small())
    assert again == version
    other = services.revise_plan(actor=actor_for(bo), plan_id=version.plan_id, document=small(tp=4, dp=1))
    assert other.number == 2


@pytest.mark.parametrize("person", ["vic", "chen", "sun"])
def test_only_operators_plan(person, cluster, request):
    actor = actor_for(request.getfixturevalue(person))
    with pytest.raises(NotAllowed):
        services.create_plan(actor=actor, scope_id=cluster.scope_id, name="x", document=small())


def test_a_token_needs_its_scope_to_plan(cluster, bo):
    actor = actor_for(bo, via="token", token_scopes=frozenset({"read"}))
    with pytest.raises(NotAllowed) as refused:
        services.create_plan(actor=actor, scope_id=cluster.scope_id, name="x", document=small())
    assert refused.value.code == "token_scope"


def test_a_computed_version_that_fits_becomes_the_launch_plan(make, bo, run_jobs):
    version = make()
    run_jobs()
    plan = services.use_for_launch(actor=actor_for(bo), plan_id=version.plan_id, number=1)
    assert plan.launch_version == version
    assert list(queries.launch_plan_versions(scope_ids=[plan.scope_id])) == [version]
    services.use_for_launch(actor=actor_for(bo), plan_id=version.plan_id, number=1)
    assert AuditEvent.objects.filter(action="plan.chosen").count() == 1


@pytest.mark.parametrize("document", [small(), too_large(), SEARCH])
def test_what_is_not_computed_or_does_not_fit_is_no_launch_plan(make, bo, run_jobs, document):
    version = make(document)
    if document != small():
        run_jobs()
    with pytest.raises(Conflict) as refused:
        services.use_for_launch(actor=actor_for(bo), plan_id=version.plan_id, number=1)
    assert refused.value.code == "does_not_fit"


def test_a_search_finds_layouts_and_counts_why_others_fail(make, run_jobs):
    version = make(SEARCH)
    run_jobs("planning.estimate")
    version.refresh_from_db()
    best = version.result["best"]
    assert version.fits is None and best and version.result["rejected"]
    assert [one["tokens_per_s"] for one in best] == sorted(
        (one["tokens_per_s"] for one in best), reverse=True
    )
    assert any(one["pareto"] for one in best)


def test_twins_that_differ_by_the_order_of_ranks_are_listed_once(make, run_jobs):
    version = make(SEARCH)
    run_jobs()
    version.refresh_from_db()
    seen = [
        (one["iteration_time_s"], {k: v for k, v in one["configuration"].items() if k != "placement"})
        for one in version.result["best"]
    ]
    assert all(one not in seen[:place] for place, one in enumerate(seen))


def test_a_found_layout_becomes_a_version_with_the_same_answer(make, bo, run_jobs):
    version = make(SEARCH)
    run_jobs()
    version.refresh_from_db()
    taken = services.take_found(actor=actor_for(bo), plan_id=version.plan_id, number=1, place=1)
    run_jobs()
    taken.refresh_from_db()
    best = version.result["best"][0]
    assert taken.number == 2 and taken.fits is True
    assert taken.result["iteration_time_s"] == pytest.approx(best["iteration_time_s"])
    assert taken.result["memory"]["peak_bytes"] == pytest.approx(best["memory"]["peak_bytes"])


@pytest.mark.parametrize("place", [0, 99])
def test_a_place_that_the_ranking_does_not_have_is_missing(make, bo, run_jobs, place):
    version = make(SEARCH)
    run_jobs()
    with pytest.raises(Missing):
        services.take_found(actor=actor_for(bo), plan_id=version.plan_id, number=1, place=place)


def test_an_estimate_has_no_layouts_to_choose_from(make, bo, run_jobs):
    version = make()
    run_jobs()
    with pytest.raises(Conflict) as refused:
        services.take_found(actor=actor_for(bo), plan_id=version.plan_id, number=1, place=1)
    assert refused.value.code == "no_search"


def test_a_version_whose_job_failed_is_computed_again(make, bo, run_jobs):
    version = make()
    Job.objects.filter(pk=version.job_id).update(state=JobState.FAILED)
    again = services.compute_again(actor=actor_for(bo), plan_id=version.plan_id, number=1)
    assert again.job_id != version.job_id
    run_jobs()
    version.refresh_from_db()
    assert version.fits is True


def test_a_version_under_way_or_done_is_not_computed_again(make, bo, run_jobs):
    version = make()
    for _twice in range(2):
        with pytest.raises(Conflict) as refused:
            services.compute_again(actor=actor_for(bo), plan_id=version.plan_id, number=1)
        assert refused.value.code == "under_way"
        run_jobs()


def test_an_answer_once_written_stays(make, run_jobs):
    version = make()
    run_jobs()
    version.refresh_from_db()
    services.plans.keep_result(
        version_id=version.pk, result={"memory": {"fits": False}, "engine_version": "later"}
    )
    assert PlanVersion.objects.get(pk=version.pk).result == version.result


def test_two_people_at_once_add_two_versions_or_one_is_told(committed_database, cluster, bo):
    version = services.create_plan(
        actor=actor_for(bo), scope_id=cluster.scope_id, name="plan", document=small()
    )

    def revise(tp):
        try:
            document = small(tp=tp, dp=4 // tp)
            return services.revise_plan(
                actor=actor_for(bo), plan_id=version.plan_id, document=document
            ).number
        except Conflict as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        answers = list(threads.map(revise, (1, 4)))
    numbers = list(PlanVersion.objects.order_by("number").values_list("number", flat=True))
    assert numbers == list(range(1, len(numbers) + 1))
    assert sorted(map(str, answers)) in (["2", "3"], ["2", "version_added"])


def test_asking_without_a_plan_leaves_the_answer_with_the_job(cluster, bo, run_jobs):
    job = services.ask(actor=actor_for(bo), scope_id=cluster.scope_id, document=small())
    run_jobs("planning.ask")
    job.refresh_from_db()
    assert job.state == JobState.SUCCEEDED and job.result["memory"]["fits"] is True
    assert not Plan.objects.exists()


def test_a_document_may_name_the_model_and_leave_the_hardware_to_the_domain(cluster, bo, api):
    domain = domain_of(cluster, nodes=2)
    asked = {"parallel": small()["parallel"], "model": "llama-3-8b", "system": {"accelerators": 8}}
    body = {"cluster": cluster.slug, "name": "named", "domain_id": domain.pk, "document": asked}
    made = api(bo).post("/api/v1/plans/", body, format="json").json()["input"]
    assert made["model"] == model_document(shipped_models()["llama-3-8b"].spec)
    assert made["system"] == queries.system_of(domain) | {"accelerators": 8}
    address = f"/api/v1/plans/{PlanVersion.objects.get().plan_id}/versions/"
    config = {
        "model_type": "llama",
        "hidden_size": 1024,
        "intermediate_size": 4096,
        "num_attention_heads": 16,
    }
    config |= {"num_hidden_layers": 8, "vocab_size": 32000, "num_key_value_heads": 16}
    whole = {"parallel": asked["parallel"] | {"dp": 4}, "model": {"config": config}}
    revised = api(bo).post(address, {"document": whole}, format="json").json()["input"]
    assert revised["model"]["ffn_hidden"] == 4096 and revised["system"] == queries.system_of(domain)


@pytest.mark.parametrize(
    ("part", "pointer"),
    [
        ({"model": "llama-9"}, "/model"),
        ({"model": {"config": {"model_type": "llama"}}}, "/model/config/hidden_size"),
        ({"system": {"accelerators": 17}}, "/system/accelerators"),
        ({"system": 3}, "/system"),
    ],
)
def test_what_is_named_and_is_not_there_is_refused_with_its_place(cluster, bo, part, pointer):
    domain = domain_of(cluster, nodes=2)
    with pytest.raises(Invalid) as refused:
        services.create_plan(
            actor=actor_for(bo),
            scope_id=cluster.scope_id,
            name="plan",
            document=small() | part,
            domain_id=domain.pk,
        )
    assert pointer in [problem.pointer for problem in refused.value.errors]


def test_the_system_of_a_domain_is_what_the_fleet_knows(cluster):
    domain = domain_of(cluster)
    system = queries.system_of(domain)
    assert system == {
        "accelerator": "nvidia-gb200",
        "accelerators": 144,
        "domain_size": 144,
        "scale_up_gb_s": 900.0,
        "scale_out_gb_s": 50.0,
    }


def test_an_accepted_run_gives_the_measured_bandwidth_and_says_so(cluster):
    domain = domain_of(cluster)
    run = accepted(domain)
    system = queries.system_of(domain)
    assert system["measured"]["scale_up_busbw_gb_s"] == pytest.approx(810.41)
    assert f"run {run.pk}" in system["measured"]["source"]
    assert "measured" not in queries.system_of(domain, measured=False)


def test_a_layout_to_run_for_comparison_becomes_a_version(make, bo, run_jobs):
    version = make(small(tp=8, pp=1, dp=1))
    run_jobs()
    version.refresh_from_db()
    listed = version.result["ablations"]
    place = next(place for place, one in enumerate(listed, start=1) if one["parallel"])
    taken = services.take_ablation(actor=actor_for(bo), plan_id=version.plan_id, number=1, place=place)
    run_jobs()
    taken.refresh_from_db()
    assert taken.result["iteration_time_s"] == pytest.approx(listed[place - 1]["iteration_time_s"])


@pytest.mark.parametrize("place", [0, 99])
def test_a_layout_that_is_not_listed_is_missing(make, bo, run_jobs, place):
    version = make()
    run_jobs()
    with pytest.raises(Missing):
        services.take_ablation(actor=actor_for(bo), plan_id=version.plan_id, number=1, place=place)
