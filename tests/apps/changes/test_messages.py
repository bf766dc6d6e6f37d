"""What the team's own automation is told of changes."""

from __future__ import annotations

import json

import pytest

from apps.changes import services
from apps.core.errors import Conflict
from apps.jobs.models import WebhookDelivery, WebhookEndpoint
from tests import factories
from tests.apps.changes.conftest import NEW
from tests.callers import actor_for


def endpoint(*events, scope=None) -> WebhookEndpoint:
    return WebhookEndpoint.objects.create(
        name=f"ci {events}", url="https://ci.example/hook", events=list(events), scope=scope, secret="s"
    )


def told(to: WebhookEndpoint) -> list[str]:
    return list(WebhookDelivery.objects.filter(endpoint=to).order_by("pk").values_list("event", flat=True))


def test_automation_is_told_of_each_step_and_what_a_stage_is_to_run(started, cluster):
    ci = endpoint("change.*", scope=cluster.scope)
    change = started()
    assert told(ci) == [
        "change.drafted",
        "change.submitted",
        "change.approved",
        "change.started",
        "change.stage_started",
    ]
    data = json.loads(WebhookDelivery.objects.order_by("pk").last().payload)["data"]
    assert data["wanted"] == [{"component": "nccl", "values": [NEW], "nodes": "sn-01", "count": 1}]
    assert (data["change"], data["state"], data["stage"]) == (change.pk, "running", 1)


def test_a_start_that_is_refused_is_told_to_nobody(approved, bo, chen, cluster):
    ci = endpoint("change.started", scope=cluster.scope)
    change = approved()
    chen.is_active = False
    chen.save()
    with pytest.raises(Conflict):
        services.start_change(actor=actor_for(bo), change_id=change.pk, expected_version=change.version)
    assert told(ci) == []


def test_a_rollback_has_events_of_its_own_and_those_of_another_cluster_are_not_told(
    started, bo, nodes, cluster, other_cluster
):
    ci, elsewhere = endpoint("rollback.*", scope=cluster.scope), endpoint("*", scope=other_cluster.scope)
    change = started()
    factories.report(nodes[0], nccl=NEW)
    rollback = services.roll_back_change(
        actor=actor_for(bo), change_id=change.pk, expected_version=change.version, reason="back"
    )
    assert rollback.state == "running"
    assert told(ci) == ["rollback.started", "rollback.stage_started"]
    assert told(elsewhere) == []
