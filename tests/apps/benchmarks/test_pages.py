"""Pages of benchmarks: what they say, who may do what, and how many questions they ask the database."""

from __future__ import annotations

import pytest

from apps.benchmarks import services
from apps.benchmarks.models import Baseline, BenchmarkRun
from tests.apps.benchmarks.runs import ONE_RACK, accepted, domain_of, recorded
from tests.callers import actor_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def domain(cluster):
    return domain_of(cluster)


def page(client_of, person, address="/benchmarks/", **data):
    answer = client_of(person).get(address, data)
    assert answer.status_code == 200, answer.content[:500]
    return answer.content.decode()


def test_an_empty_list_says_what_belongs_here(vic, client_of):
    assert "No runs yet" in page(client_of, vic)


def test_the_list_shows_verdict_share_and_the_ladder(domain, vic, client_of):
    recorded(domain, ONE_RACK, collective="all_reduce")
    accepted(domain)
    text = page(client_of, vic)
    assert "90.0 %" in text and "144 ranks" in text and "aggregate × 1.94" in text


def test_a_filter_that_finds_nothing_offers_to_clear_it(domain, vic, client_of):
    accepted(domain)
    text = page(client_of, vic, ranks="7")
    assert "No run fits these filters" in text and "Clear the filters" in text


def test_an_unknown_filter_is_refused(vic, client_of):
    assert client_of(vic).get("/benchmarks/", {"rank": "7"}).status_code == 400


def test_runs_of_other_clusters_are_not_there(domain, eve, client_of):
    run = accepted(domain)
    assert "No runs yet" in page(client_of, eve)
    assert client_of(eve).get(f"/benchmarks/{run.pk}/").status_code == 404


def test_a_run_says_why_it_was_accepted_and_shows_theory(domain, vic, client_of):
    text = page(client_of, vic, f"/benchmarks/{accepted(domain).pk}/")
    assert "at least 80 % of the interconnect&#x27;s theory" in text
    assert '"theory"' in text and '"80 % of theory"' in text and '"type": "log"' in text


def test_figures_in_doubt_say_so_on_the_page(domain, vic, client_of):
    run = accepted(domain)
    BenchmarkRun.objects.filter(pk=run.pk).update(doubts=[{"code": "cpu_time", "message": "the times are"}])
    text = page(client_of, vic, f"/benchmarks/{run.pk}/")
    assert "These figures are in doubt" in text and "Times are those of the CPU" in text


def test_an_operator_states_the_collective_from_what_the_figures_allow(domain, bo, client_of):
    (run,) = recorded(domain)
    text = page(client_of, bo, f"/benchmarks/{run.pk}/")
    assert 'value="all_reduce"' in text and 'value="broadcast"' not in text
    answer = client_of(bo).post(f"/benchmarks/{run.pk}/collective/", {"collective": "all_reduce"})
    assert answer.status_code == 302
    run.refresh_from_db()
    assert run.collective == "all_reduce"


def test_a_viewer_is_offered_no_decision_and_can_make_none(domain, vic, client_of):
    (run,) = recorded(domain)
    assert "State it" not in page(client_of, vic, f"/benchmarks/{run.pk}/")
    answer = client_of(vic).post(f"/benchmarks/{run.pk}/collective/", {"collective": "all_reduce"})
    assert answer.status_code == 403


def test_an_operator_makes_a_run_the_baseline_with_a_reason(domain, bo, client_of):
    run = accepted(domain)
    nothing_said = client_of(bo).post(f"/benchmarks/{run.pk}/baseline/", {"reason": ""})
    assert nothing_said.status_code == 200 and not Baseline.objects.exists()
    assert client_of(bo).post(f"/benchmarks/{run.pk}/baseline/", {"reason": "first"}).status_code == 302
    assert "in force" in page(client_of, bo, f"/benchmarks/{run.pk}/")


def test_a_refused_baseline_says_why_on_the_page(domain, bo, client_of):
    (run,) = recorded(domain)
    answer = client_of(bo).post(f"/benchmarks/{run.pk}/baseline/", {"reason": "x"})
    assert "only an accepted run can be a baseline" in answer.content.decode()


def test_a_run_is_laid_beside_the_baseline_and_beside_any_other(domain, bo, client_of):
    baseline = accepted(domain)
    services.set_baseline(actor=actor_for(bo), run_id=baseline.pk, reason="x")
    later = recorded(domain, collective="all_reduce", gpu_model="other")[0]
    third = recorded(domain, ONE_RACK, collective="all_reduce")[0]
    assert f"Beside run #{baseline.pk}" in page(client_of, bo, f"/benchmarks/{later.pk}/")
    assert f"Beside run #{third.pk}" in page(client_of, bo, f"/benchmarks/{later.pk}/", beside=third.pk)


def test_the_rows_are_there_as_csv(domain, vic, client_of):
    run = accepted(domain)
    answer = client_of(vic).get(f"/benchmarks/{run.pk}/points.csv")
    lines = answer.content.decode().splitlines()
    assert lines[0].startswith("size_bytes,dtype") and len(lines) == 1 + len(run.points)


def test_the_list_asks_as_many_questions_for_many_runs(domain, vic, client_of, assert_constant_queries):
    accepted(domain)
    browser = client_of(vic)

    def more():
        for number in range(20):
            recorded(domain, collective="all_reduce", gpu_model=f"part {number}", **{f"x{number}": 1})

    assert_constant_queries(lambda: browser.get("/benchmarks/"), more)
