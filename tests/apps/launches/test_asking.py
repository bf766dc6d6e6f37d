"""Asking for an evaluation takes no signature back; only who operates has one made anew."""

from __future__ import annotations

from datetime import timedelta

import pytest

from apps.core import clock
from apps.core.errors import NotAllowed
from apps.core.rights import TokenScope
from apps.environments.models import NodeReport
from apps.fleet.models import Accelerator, Node
from apps.jobs.models import Job, JobState
from apps.launches import services
from apps.launches.models import Evaluation
from apps.launches.queries import decision_of
from apps.launches.words import found_in
from tests import factories
from tests.apps.launches.conftest import items_of
from tests.apps.launches.test_gate import drift, sign, standing
from tests.callers import actor_for


def ask(launch, person, *, anew=False, **fields):
    return services.request_evaluation(actor=actor_for(person, **fields), launch_id=launch.pk, anew=anew)


@pytest.mark.parametrize("go", [True, False])
def test_who_reads_takes_no_signature_back_by_asking(go, answered, evaluated, sun, vic, run_jobs):
    launch = answered()
    evaluation = evaluated(launch)
    sign(evaluation, sun, go=go, comment="because")
    before = standing(launch)
    assert ask(launch, vic) == evaluation
    run_jobs("launches.evaluate")
    assert (standing(launch), before) == (("go",) * 2 if go else ("no_go",) * 2)


def test_a_token_that_asks_the_gate_takes_no_signature_back(answered, evaluated, sun, bo, api):
    launch = answered()
    evaluation = evaluated(launch)
    sign(evaluation, sun)
    caller = api(factories.bearer(bo, TokenScope.GATE_EVALUATE))
    path = f"/api/v1/launches/{launch.pk}/evaluations/"
    answer = caller.post(path, {}, format="json")
    assert (answer.status_code, answer.json()["id"]) == (200, str(evaluation.pk))
    assert caller.post(path, {"anew": True}, format="json").status_code == 403
    assert standing(launch) == "go"


def test_who_operates_has_one_made_anew_and_it_is_signed_anew(answered, evaluated, sun, vic):
    launch = answered()
    sign(evaluated(launch), sun)
    with pytest.raises(NotAllowed):
        ask(launch, vic, anew=True)
    second = evaluated(launch, anew=True)
    assert standing(launch) == "needs_signoff"
    sign(second, sun)
    assert standing(launch) == "go"


def test_evaluate_again_on_the_page_is_anew_for_who_operates(answered, evaluated, sun, bo, vic, client_of):
    launch = answered()
    sign(evaluated(launch), sun)
    for person, stands in ((vic, "go"), (sun, "go"), (bo, "pending")):
        client_of(person).post(f"/launches/{launch.pk}/evaluate/")
        assert standing(launch) == stands


def test_one_under_way_is_the_same_one_until_who_operates_asks_anew(opened, bo, vic):
    launch = opened()
    first = ask(launch, bo)
    Job.objects.update(state=JobState.RUNNING)
    assert ask(launch, vic) == first
    assert ask(launch, bo, anew=True) != first


def test_what_no_longer_stands_or_stops_the_launch_is_evaluated_again_whoever_asks(
    answered, evaluated, sun, vic, nodes
):
    launch = answered()
    signed = evaluated(launch)
    sign(signed, sun)
    drift(nodes)
    assert ask(launch, vic) != signed
    stopping = evaluated(launch)
    assert stopping.verdict == "fail"
    assert ask(launch, vic) != stopping


def test_an_evaluation_ends_when_the_first_report_it_rests_on_is_stale(
    answered, evaluated, nodes, sun, settings, matrix
):
    settings.STALE_AFTER_S = 7200
    oldest = clock.now() - timedelta(minutes=100)
    NodeReport.objects.filter(node=nodes[1]).update(reported_at=oldest)
    evaluation = evaluated(answered())
    assert evaluation.valid_until == oldest + timedelta(seconds=7200)
    assert evaluation.verdict == "pass"


def test_an_evaluation_ends_when_the_benchmark_is_old(answered, evaluated, benchmark):
    benchmark.received_at = clock.now() - timedelta(days=14) + timedelta(minutes=5)
    benchmark.save()
    assert evaluated(answered()).valid_until == benchmark.received_at + timedelta(days=14)


def test_a_node_that_reports_fewer_accelerators_than_are_on_record_fails_by_name(answered, evaluated, nodes):
    launch = answered()
    Accelerator.objects.create(node=nodes[1], sub_domain=nodes[1].accelerators.get().sub_domain, index=1)
    factories.report(nodes[1], gpu_driver="570.86.15", nccl="2.20.5", gpu_count="1")
    evaluation = evaluated(launch)
    assert items_of(evaluation)["nodes_healthy"] == ("fail", "accelerators_missing")
    row = next(item for item in evaluation.items if item["key"] == "nodes_healthy")
    assert (row["nodes"], found_in(row)) == (
        ["sn-02"],
        "Fewer accelerators are reported than are on record: sn-02 (1/2)",
    )
    assert standing(launch) == "no_go"


def test_accelerators_that_come_on_record_after_a_go_shut_the_gate(answered, evaluated, nodes, sun):
    launch = answered()
    sign(evaluated(launch), sun)
    Accelerator.objects.create(node=nodes[1], sub_domain=nodes[1].accelerators.get().sub_domain, index=1)
    assert "nodes" in decision_of(launch).changed


def test_what_ails_a_faulty_node_goes_before_a_count_that_is_unclear(answered, evaluated, nodes):
    launch = answered()
    factories.report(nodes[1], gpu_driver="570.86.15", nccl="2.20.5", gpu_count="2")
    factories.report(nodes[1], kind="npu_smi", gpu_count="1")
    Node.objects.filter(pk=nodes[0].pk).update(health="faulty")
    assert items_of(evaluated(launch))["nodes_healthy"] == ("fail", "faulty")


def test_nothing_is_kept_of_an_evaluation_that_was_only_asked_for(opened, bo):
    first = ask(opened(), bo)
    assert Evaluation.objects.get(pk=first.pk).valid_until is None


def test_a_node_that_reports_another_model_than_is_on_record_fails_by_name(answered, evaluated, nodes, sun):
    launch = answered()
    factories.report(nodes[1], gpu_driver="570.86.15", nccl="2.20.5", gpu_model="NVIDIA H100 80GB HBM3")
    sign(evaluated(launch), sun)
    Accelerator.objects.filter(node=nodes[1]).update(model="nvidia-gb200")
    assert "nodes" in decision_of(launch).changed
    evaluation = evaluated(launch)
    row = next(item for item in evaluation.items if item["key"] == "nodes_healthy")
    assert (row["verdict"], row["nodes"], found_in(row)) == (
        "fail",
        ["sn-02"],
        "Other accelerators are reported than are on record: "
        "sn-02 (NVIDIA H100 80GB HBM3 ≠ GB200 (per GPU, NVL72))",
    )
    assert standing(launch) == "no_go"
