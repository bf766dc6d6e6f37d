"""The soak of a run from what health knows of its nodes, on the page and over REST."""

from __future__ import annotations

from datetime import timedelta

import pytest

from apps.benchmarks import queries
from apps.core.verdicts import Verdict
from apps.health.models import FaultRecord, HealthState
from tests import factories
from tests.apps.benchmarks.runs import accepted, domain_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def run(cluster):
    return accepted(domain_of(cluster))


def watch(run, *, hours, verdict=Verdict.PASS, rule="nvlink-inactive"):
    at = run.received_at + timedelta(hours=hours)
    for node in run.nodes.all():
        HealthState.objects.create(
            node=node, rule=rule, verdict=verdict, observed_at=at, since=at, sha256="0" * 64
        )


def fault(run, *, hours, kind="xid", code=74):
    at = run.received_at + timedelta(hours=hours)
    return FaultRecord.objects.create(
        node=run.nodes.first(), kind=kind, code=code, severity="critical", action="reset_gpu",
        action_class="reset", cordon=True, text="link", line=1, first_seen_at=at, last_seen_at=at,
        sha256="0" * 64,
    )  # fmt: skip


def verdict_at(run, hours):
    return queries.soak_of(run, run.received_at + timedelta(hours=hours)).verdict


def test_links_that_hold_for_a_day_and_were_looked_at_pass(run):
    assert verdict_at(run, 25) is Verdict.UNKNOWN
    watch(run, hours=25)
    assert (verdict_at(run, 3), verdict_at(run, 25)) == (Verdict.UNKNOWN, Verdict.PASS)


@pytest.mark.parametrize(
    ("found", "verdict"),
    [
        ({"hours": 2}, Verdict.FAIL),
        ({"hours": 2, "kind": "sxid", "code": 20034}, Verdict.FAIL),
        ({"hours": 2, "code": 13}, Verdict.PASS),
        ({"hours": -1}, Verdict.PASS),
        ({"hours": 24.5}, Verdict.PASS),
    ],
)
def test_a_fault_of_a_link_within_the_day_breaks_it(found, verdict, run):
    watch(run, hours=25)
    fault(run, **found)
    assert verdict_at(run, 25) is verdict


def test_a_degraded_link_breaks_it_as_well(run):
    watch(run, hours=6, verdict=Verdict.WARN, rule="nvlink-slow")
    broken = queries.soak_of(run, run.received_at + timedelta(hours=7)).broken_by
    assert "nvlink-slow on sn-00" in broken and len(broken) == 18


def test_the_page_and_the_api_show_it(run, vic, client_of, api):
    text = client_of(vic).get(f"/benchmarks/{run.pk}/").content.decode()
    assert "0 of 24 h" in text and "acceptance takes 24 h" in text
    fault(run, hours=0)
    text = client_of(vic).get(f"/benchmarks/{run.pk}/").content.decode()
    assert "broken by Xid 74 on sn-00" in text
    body = api(factories.bearer(vic, "read")).get(f"/api/v1/benchmark-runs/{run.pk}/").json()
    assert (body["soak"]["verdict"], body["soak"]["needed_hours"]) == ("fail", 24)
    assert body["soak"]["broken_by"] == ["Xid 74 on sn-00"]
