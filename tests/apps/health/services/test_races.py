"""Observations of one node at the same moment, in threads on a database in which commits are real."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import transaction

from apps.core import clock
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source
from apps.fleet.models import Node
from apps.health import services
from apps.health.models import FaultRecord, HealthState
from tests import factories
from tests.support import corpus
from tests.support.races import at_once

pytestmark = pytest.mark.postgres


@pytest.fixture
def node(committed_database: Any, cluster: Any) -> Node:
    return factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"), accelerators=8)


def _observe(node: Node, name: str, sha256: str, age_s: float) -> Any:
    reading, at = read(Source.of_bytes(corpus.read(name))), clock.now() - timedelta(seconds=age_s)

    def observe() -> int:
        with transaction.atomic():
            return services.record_reading(node_id=node.pk, reading=reading, sha256=sha256, at=at)

    return observe


def test_two_reports_of_one_node_settle_one_state_for_each_rule_and_device(node: Node) -> None:
    results = at_once(_observe(node, corpus.XML, "a" * 64, 2.0), _observe(node, corpus.XML, "b" * 64, 1.0))

    assert results[0] == results[1]
    states = HealthState.objects.filter(node=node)
    assert states.count() == states.values("rule", "device").distinct().count() > 0
    assert set(states.values_list("sha256", flat=True)) == {"b" * 64}


def test_two_logs_of_one_node_open_each_fault_once(node: Node) -> None:
    log = "xid-dmesg/xid79-with-sxid20034.log"
    at_once(_observe(node, log, "a" * 64, 2.0), _observe(node, log, "b" * 64, 1.0))

    faults = FaultRecord.objects.filter(node=node)
    assert faults.count() == faults.values("code", "device").distinct().count() > 0
