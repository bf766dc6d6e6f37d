"""Runs: recorded once, judged by their domain, stated by people, compared with a baseline."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from apps.audit.models import AuditEvent
from apps.benchmarks import queries, services
from apps.benchmarks.models import Baseline, BenchmarkRun
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.core.verdicts import Verdict
from apps.fleet.models import LifeCycle, Node
from tests import factories
from tests.apps.benchmarks.runs import ONE_RACK, TWENTY_RACKS, accepted, domain_of, recorded
from tests.callers import actor_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def domain(cluster):
    return domain_of(cluster)


def test_a_real_run_is_recorded_with_its_points_nodes_and_size(domain):
    (run,) = recorded(domain)
    assert (run.ranks, run.status, run.wrong_total, run.domain_accelerators) == (144, "complete", 0, 144)
    assert run.busbw_bytes_per_s == pytest.approx(810.41e9)
    assert run.nodes.count() == 18
    assert run.points[-1]["size_bytes"] == run.max_size_bytes


def test_a_whole_domain_run_that_one_node_hands_in_is_bound_to_all_nodes(domain):
    head = [Node.objects.get(name="sn-00")]
    assert recorded(domain, nodes=head)[0].nodes.count() == 18
    assert list(recorded(domain, ONE_RACK, nodes=head)[0].nodes.all()) == head


def test_the_same_file_twice_is_one_run(domain):
    first, second = recorded(domain), recorded(domain)
    assert [run.pk for run in first] == [run.pk for run in second]


def test_a_run_that_does_not_name_its_collective_is_unknown_until_a_person_says_it(domain, bo):
    (run,) = recorded(domain)
    assert queries.acceptance_of(run).reason.value == "collective_unknown"
    stated = services.state_collective(actor=actor_for(bo), run_id=run.pk, collective="all_reduce")
    assert queries.acceptance_of(stated).verdict is Verdict.PASS
    assert stated.collective_stated_by == bo
    event = AuditEvent.objects.get(action="benchmark.collective_stated")
    assert "all_reduce" in event.body


def test_a_collective_that_the_figures_rule_out_cannot_be_stated(domain, bo):
    (run,) = recorded(domain)
    with pytest.raises(Conflict) as refused:
        services.state_collective(actor=actor_for(bo), run_id=run.pk, collective="broadcast")
    assert refused.value.code == "not_a_candidate"


def test_an_unheard_of_collective_is_invalid(domain, bo):
    (run,) = recorded(domain)
    with pytest.raises(Invalid):
        services.state_collective(actor=actor_for(bo), run_id=run.pk, collective="all_hands")


def test_what_the_output_says_cannot_be_overruled(domain, bo):
    run = accepted(domain)
    with pytest.raises(Conflict) as refused:
        services.state_collective(actor=actor_for(bo), run_id=run.pk, collective="all_gather")
    assert refused.value.code == "collective_known"


def test_stating_needs_a_person_who_is_signed_in(domain, bo):
    (run,) = recorded(domain)
    token = actor_for(bo, via="token", token_scopes=frozenset({"benchmark:write"}))
    with pytest.raises(NotAllowed) as refused:
        services.state_collective(actor=token, run_id=run.pk, collective="all_reduce")
    assert refused.value.code == "person_required"


def test_figures_in_doubt_leave_acceptance_unknown_with_their_reason(cluster):
    domain = domain_of(cluster, nodes=1, per_node=4)
    run = recorded(domain, "rccl-tests/mi300x-partitions-allreduce.log")[0]
    codes = [doubt["code"] for doubt in run.doubts]
    assert codes and queries.acceptance_of(run).reason.value == codes[0]
    assert queries.acceptance_of(run).verdict is Verdict.UNKNOWN


def test_a_run_over_more_ranks_than_the_domain_has_is_not_judged_by_its_links(domain):
    (run,) = recorded(domain, TWENTY_RACKS, collective="all_reduce")
    accepted_as = queries.acceptance_of(run)
    assert (accepted_as.verdict, accepted_as.reason.value) == (Verdict.UNKNOWN, "leaves_domain")


def test_the_whole_domain_run_is_the_newest_over_all_its_accelerators(domain):
    recorded(domain, ONE_RACK, collective="all_reduce")
    assert queries.newest_whole_domain_run(domain) is None
    run = accepted(domain)
    recorded(domain, TWENTY_RACKS, collective="all_reduce")
    assert queries.newest_whole_domain_run(domain) == run


def test_a_node_in_repair_does_not_take_the_run_away(domain):
    run = accepted(domain)
    Node.objects.filter(name="sn-03").update(life_cycle=LifeCycle.REPAIR)
    assert queries.newest_whole_domain_run(domain) == run


def test_a_domain_without_accelerators_has_no_whole_domain_run(cluster):
    assert queries.newest_whole_domain_run(factories.domain(cluster)) is None


def test_the_ladder_takes_usable_runs_only(domain):
    recorded(domain, ONE_RACK, collective="all_reduce")
    accepted(domain)
    doubtful = recorded(domain, TWENTY_RACKS, collective="all_reduce")[0]
    BenchmarkRun.objects.filter(pk=doubtful.pk).update(doubts=[{"code": "cpu_time", "message": "m"}])
    first, second = queries.ladder_of(domain)
    assert (first.ranks, second.ranks) == (72, 144)
    assert second.step is not None and second.step.efficiency == pytest.approx(0.97, abs=0.01)


def test_an_accepted_run_becomes_the_baseline_and_replaces_the_one_before(domain, bo):
    run = accepted(domain)
    first = services.set_baseline(actor=actor_for(bo), run_id=run.pk, reason="first")
    assert services.set_baseline(actor=actor_for(bo), run_id=run.pk, reason="again") == first
    later = recorded(domain, collective="all_reduce", gpu_model="other")[0]
    second = services.set_baseline(actor=actor_for(bo), run_id=later.pk, reason="after the change")
    first.refresh_from_db()
    assert first.replaced_at is not None
    assert queries.baseline_of(domain, "all_reduce") == second


@pytest.mark.parametrize("changed", [{"collective": None}, {"collective": "all_reduce", "wrong_total": 4}])
def test_a_run_that_is_not_accepted_cannot_be_a_baseline(domain, bo, changed):
    (run,) = recorded(domain, **changed)
    with pytest.raises(Conflict) as refused:
        services.set_baseline(actor=actor_for(bo), run_id=run.pk, reason="x")
    assert refused.value.code == "not_accepted"


def test_a_baseline_cannot_be_stated_to_be_another_collective(domain, bo):
    (run,) = recorded(domain)
    services.state_collective(actor=actor_for(bo), run_id=run.pk, collective="all_reduce")
    services.set_baseline(actor=actor_for(bo), run_id=run.pk, reason="x")
    BenchmarkRun.objects.filter(pk=run.pk).update(candidates=[])
    with pytest.raises(Conflict) as refused:
        services.state_collective(actor=actor_for(bo), run_id=run.pk, collective="all_gather")
    assert refused.value.code == "is_baseline"


def test_a_run_of_another_cluster_does_not_exist_for_eve(domain, eve):
    run = accepted(domain)
    with pytest.raises(Missing):
        services.set_baseline(actor=actor_for(eve), run_id=run.pk, reason="x")


def test_a_viewer_sets_no_baseline(domain, vic):
    run = accepted(domain)
    with pytest.raises(NotAllowed):
        services.set_baseline(actor=actor_for(vic), run_id=run.pk, reason="x")


def test_the_same_file_at_the_same_time_is_one_run(committed_database, cluster):
    domain = domain_of(cluster, nodes=2)

    def hand_in(_number):
        try:
            return [run.pk for run in recorded(domain)]
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as threads:
        answers = list(threads.map(hand_in, range(4)))
    assert len({tuple(pks) for pks in answers}) == 1
    run = BenchmarkRun.objects.get()
    assert run.nodes.count() == 2


def test_two_people_at_once_leave_one_baseline_in_force(committed_database, cluster, bo):
    domain = domain_of(cluster)
    runs = [accepted(domain), recorded(domain, collective="all_reduce", gpu_model="other")[0]]

    def choose(run):
        try:
            return services.set_baseline(actor=actor_for(bo), run_id=run.pk, reason="x")
        except Conflict as refused:
            return refused.code
        finally:
            connection.close()

    with ThreadPoolExecutor(2) as threads:
        list(threads.map(choose, runs))
    assert Baseline.objects.filter(replaced_at__isnull=True).count() == 1
