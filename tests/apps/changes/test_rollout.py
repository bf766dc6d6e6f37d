"""Carrying a change out: snapshot, holds, stages and what their gates ask."""

from __future__ import annotations

from datetime import timedelta

import pytest

from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.changes import queries, services
from apps.changes.models import Snapshot
from apps.core import clock
from apps.core.errors import Conflict, Invalid, Stale
from apps.environments.models import NodeReport
from apps.evidence.models import Evidence
from apps.fleet import services as fleet
from apps.fleet.models import Hold, HoldKind
from tests import factories
from tests.apps.changes.conftest import NEW, OLD
from tests.callers import actor_for


def report_new(*nodes) -> None:
    for node in nodes:
        factories.report(node, gpu_driver="570.86.15", nccl=NEW)
    services.consider_reports(node_ids=[node.pk for node in nodes])


def pass_stage(change, person):
    change.refresh_from_db()
    return services.pass_stage(actor=actor_for(person), change_id=change.pk, expected_version=change.version)


def waits(change) -> list[str]:
    stage = change.stages.get(state="running")
    return [wait.code for wait in queries.gate_of(stage, now=clock.now())]


def test_the_start_records_what_every_node_ran_and_holds_them(started, nodes):
    change = started()
    snapshot = Snapshot.objects.get(change=change)
    versions = queries.snapshot_versions(snapshot)
    assert versions["sn-03"] == {"gpu_driver": ["570.86.15"], "nccl": [OLD]}
    assert sorted(versions) == [node.name for node in nodes]
    assert Hold.objects.filter(owner=change.owner, released_at__isnull=True).count() == 6


def test_what_a_snapshot_rests_on_is_kept_for_good(started, nodes):
    reports = set(NodeReport.objects.values_list("sha256", flat=True))
    for sha256 in {*reports, "f" * 64}:
        Evidence.objects.create(sha256=sha256, size_bytes=1, stored_at=clock.now())
    started()
    assert set(Evidence.objects.filter(pinned=True).values_list("sha256", flat=True)) == reports


def test_two_changes_do_not_touch_the_same_nodes_at_once(started, approved, bo, nodes):
    started([nodes[0].pk])
    other, apart = approved([nodes[0].pk, nodes[1].pk]), approved([nodes[2].pk])
    start = {"actor": actor_for(bo)}
    with pytest.raises(Conflict) as refused:
        services.start_change(**start, change_id=other.pk, expected_version=other.version)
    assert refused.value.code == "held"
    assert not Snapshot.objects.filter(change=other).exists()
    assert (
        services.start_change(**start, change_id=apart.pk, expected_version=apart.version).state == "running"
    )


def test_while_a_training_job_runs_anywhere_on_the_domain_no_change_starts(approved, bo, nodes):
    change = approved([nodes[0].pk])
    train = {"actor": actor_for(bo), "owner": "launches.launch:1", "reason": "Llama"}
    fleet.take_holds(node_ids=[nodes[5].pk], kind=HoldKind.TRAINING, **train)
    start = {"actor": actor_for(bo), "change_id": change.pk, "expected_version": change.version}
    with pytest.raises(Conflict) as refused:
        services.start_change(**start)
    assert refused.value.code == "domain_in_training"
    assert refused.value.message == f"training runs on the domain: Llama ({nodes[5].name})"
    assert refused.value.fields["nodes"] == [nodes[5].name]
    fleet.release_holds(actor=actor_for(bo), owner="launches.launch:1", reason="over")
    assert services.start_change(**start).state == "running"


def test_each_stage_waits_until_its_own_nodes_report(started, nodes, bo):
    change = started()
    assert waits(change) == ["not_reported"]
    report_new(nodes[1])
    with pytest.raises(Conflict) as refused:
        pass_stage(change, bo)
    assert refused.value.fields["waits"] == ["not_reported"]
    report_new(nodes[0])
    assert pass_stage(change, bo).state == "running"
    assert change.stages.get(state="running").number == 2


def test_what_a_node_reported_before_its_stage_began_counts(started, nodes, bo):
    change = started()
    report_new(*nodes)
    assert [pass_stage(change, bo).state for _ in range(3)] == ["running", "running", "verifying"]


def test_the_soak_time_runs_from_the_last_report(started, nodes):
    change = started(soak_s=(3600, 0))
    report_new(nodes[0])
    stage = change.stages.get(number=1)
    assert [one.code for one in queries.gate_of(stage, now=stage.reached_at + timedelta(seconds=3599))] == [
        "soak"
    ]
    assert queries.gate_of(stage, now=stage.reached_at + timedelta(seconds=3600)) == []


def test_a_node_that_falls_back_shuts_the_gate_again(started, nodes):
    change = started()
    report_new(nodes[0])
    assert waits(change) == []
    factories.report(nodes[0], gpu_driver="570.86.15", nccl=OLD)
    assert waits(change) == ["not_reported"]


def test_drift_in_what_the_change_does_not_touch_shuts_the_gate(started, nodes, domain):
    factories.locked_matrix(domain, gpu_driver="570.86.15", nccl=OLD)
    change = started()
    report_new(nodes[0])
    assert waits(change) == []  # NCCL differs from the matrix, and that is what the change is for
    factories.report(nodes[0], gpu_driver="535.161.08", nccl=NEW)
    assert waits(change) == ["drift"]
    (wait,) = queries.gate_of(change.stages.get(state="running"), now=clock.now())
    assert wait.message.endswith(": GPU driver")


def test_where_there_is_a_baseline_the_nodes_are_measured_again(started, nodes, domain):
    earlier = run(domain, nodes, at=clock.now() - timedelta(days=1))
    Baseline.objects.create(domain=domain, collective="all_reduce", run=earlier, set_at=clock.now())
    change = started()
    report_new(nodes[0])
    assert waits(change) == ["no_benchmark"]
    run(domain, nodes[1:], at=clock.now())
    assert waits(change) == ["no_benchmark"]
    run(domain, nodes[:1], at=clock.now(), busbw_bytes_per_s=100e9)
    assert waits(change) == ["benchmark"]
    run(domain, nodes[:1], at=clock.now())
    assert waits(change) == []


def test_the_gate_says_what_an_all_reduce_needs_and_what_was_found(started, nodes, domain):
    earlier = run(domain, nodes, at=clock.now() - timedelta(days=1))
    Baseline.objects.create(domain=domain, collective="all_reduce", run=earlier, set_at=clock.now())
    change = started()
    report_new(nodes[0])
    assert "at least 1 GiB and 80 % of the theoretical bandwidth" in messages(change)
    run(domain, nodes[:1], at=clock.now(), busbw_bytes_per_s=90e9)
    assert "90.0 GB/s (10.0 % of theory); needed: at least 1 GiB and 80 %" in messages(change)
    run(domain, nodes[:1], at=clock.now(), max_size_bytes=1 << 28)
    assert "Found: 256 MiB" in messages(change)


def messages(change) -> str:
    stage = change.stages.get(state="running")
    return " ".join(wait.message for wait in queries.gate_of(stage, now=clock.now()))


def run(domain, nodes, *, at, busbw_bytes_per_s=850e9, max_size_bytes=8 << 30) -> BenchmarkRun:
    domain.unidirectional_bytes_per_s = 900e9
    domain.save()
    made = BenchmarkRun.objects.create(
        cluster=domain.cluster,
        domain=domain,
        sha256=f"{BenchmarkRun.objects.count():064x}",
        tool="nccl-tests",
        collective="all_reduce",
        ranks=8,
        status="complete",
        max_size_bytes=max_size_bytes,
        busbw_bytes_per_s=busbw_bytes_per_s,
        wrong_total=0,
        received_at=at,
    )
    made.nodes.set(nodes)
    return made


def test_done_only_while_every_node_reports_it_and_then_the_nodes_are_free(started, nodes, bo):
    change = started()
    report_new(*nodes)
    for _ in range(3):
        change = pass_stage(change, bo)
    factories.report(nodes[4], nccl=OLD)
    finish = {"actor": actor_for(bo), "change_id": change.pk, "expected_version": change.version}
    with pytest.raises(Conflict) as refused:
        services.finish_change(**finish)
    assert refused.value.fields["nodes"] == ["sn-05"]
    factories.report(nodes[4], nccl=NEW)
    assert services.finish_change(**finish).state == "done"
    assert not Hold.objects.filter(owner=change.owner, released_at__isnull=True).exists()


def test_a_failed_change_says_why_and_keeps_its_nodes(started, bo):
    change = started()
    fail = {"actor": actor_for(bo), "change_id": change.pk, "expected_version": change.version}
    with pytest.raises(Invalid):
        services.fail_change(**fail, reason="")
    assert services.fail_change(**fail, reason="the first node hangs").state == "failed"
    assert Hold.objects.filter(owner=change.owner, released_at__isnull=True).count() == 6


def test_a_stage_is_passed_by_the_version_that_was_seen(started, nodes, bo):
    change = started()
    report_new(*nodes)
    services.pass_stage(actor=actor_for(bo), change_id=change.pk, expected_version=change.version)
    with pytest.raises(Stale):
        services.pass_stage(actor=actor_for(bo), change_id=change.pk, expected_version=change.version)
    assert change.stages.get(state="running").number == 2


def test_reports_of_nodes_without_a_change_cost_one_query(domain, nodes, count_queries):
    assert count_queries(lambda: services.consider_reports(node_ids=[nodes[0].pk])) <= 3


def test_reports_are_considered_in_as_many_queries_for_one_node_as_for_five(started, nodes, count_queries):
    started()
    factories.report(nodes[0], nccl=NEW)
    one = count_queries(lambda: services.consider_reports(node_ids=[nodes[0].pk]))
    for node in nodes:
        factories.report(node, nccl=NEW)
    more = count_queries(lambda: services.consider_reports(node_ids=[node.pk for node in nodes]))
    assert more <= one


def test_the_inventory_names_each_stage_with_what_its_hosts_are_to_run(started):
    text = queries.inventory_of(started())
    assert "stage_1:" in text
    assert f"nccl: {NEW}" in text
