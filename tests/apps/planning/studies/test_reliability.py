"""Reliability from an own fault history, and what closed form and simulation have to do with each other."""

from __future__ import annotations

from datetime import timedelta

import pytest

from apps.core import clock
from apps.fleet.models import Cluster
from apps.health.models import FaultRecord
from tests import factories

pytestmark = pytest.mark.django_db
DAYS = 70


@pytest.fixture
def history(cluster):
    """Ten nodes looked at for seventy days: two that failed, one of them with two faults, a fault that took nothing
    out, and one long ago."""
    now = clock.now()
    Cluster.objects.filter(pk=cluster.pk).update(created_at=now - timedelta(days=400))
    nodes = [factories.node(cluster, f"n{number}") for number in range(10)]
    for code, cordon, days, device in (
        (79, True, 5, "0"), (79, True, 5, "1"), (48, True, 60, "0"), (31, False, 5, "0"), (79, True, 200, "2"),
    ):  # fmt: skip
        FaultRecord.objects.create(
            node=nodes[code % 10], kind="xid", code=code, device=device, severity="fatal", action="reset",
            action_class="node", cordon=cordon, text="…", line=1, sha256="0" * 64,
            first_seen_at=now - timedelta(days=days), last_seen_at=now,
        )  # fmt: skip
    return {"rate": "history", "history_cluster": cluster.slug, "history_days": DAYS}


def test_own_history_counts_what_took_nodes_out_within_the_time(history, vic, api):
    body = api(vic).post("/api/v1/planning/reliability/", history, format="json").json()
    rate = next(row for row in body["result"]["assumptions"] if row["name"] == "per_node_week")
    assert rate["confidence"] == "measured"
    assert "2 failures of 10 nodes in 70.0 days" in rate["source"]
    assert rate["value"] == pytest.approx(3 / (100 + 200), rel=0.01)


def test_the_history_of_a_cluster_that_one_may_not_read_is_no_choice(history, eve, api):
    answer = api(eve).post("/api/v1/planning/reliability/", history, format="json")
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "/history_cluster"


def test_an_own_rate_must_be_said(vic, api):
    answer = api(vic).post("/api/v1/planning/reliability/", {"rate": "own"}, format="json")
    assert answer.json()["errors"][0]["pointer"] == "/own_percent_per_week"
    said = {"rate": "own", "own_percent_per_week": 0.5, "nodes": 9}
    body = api(vic).post("/api/v1/planning/reliability/", said, format="json").json()
    assert body["result"]["nodes"]["p_any_week"] == pytest.approx(0.04411, rel=1e-3)


def test_simulation_stands_beside_the_closed_form(vic, api):
    big = {"nodes": 2048, "rate": "published_16k", "period_days": 30, "runs": 200}
    modes = api(vic).post("/api/v1/planning/reliability/", big, format="json").json()["result"]["modes"]
    for mode in modes.values():
        drawn = mode["simulated"]
        assert drawn["low"] <= drawn["mean"] <= drawn["high"]
        assert drawn["mean"] == pytest.approx(mode["goodput"], abs=0.03)
    assert modes["asynchronous"]["goodput"] > modes["synchronous"]["goodput"]


def test_what_never_fails_is_saved_never(vic, api):
    never = {"rate": "own", "own_percent_per_week": 0, "domain_percent_per_week": 0}
    result = api(vic).post("/api/v1/planning/reliability/", never, format="json").json()["result"]
    assert result["job"]["mtbf_s"] is None
    assert result["modes"]["synchronous"] | {"curve": []} == {
        "stall_s": pytest.approx(49.0), "drain_s": pytest.approx(49.0), "young_s": None, "daly_s": None,
        "availability_s": None, "best_s": None, "goodput": 1.0, "simulated": None, "curve": [],
    }  # fmt: skip
