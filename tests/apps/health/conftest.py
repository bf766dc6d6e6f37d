"""A domain of ten nodes, and readings with faults and figures, for tests of health."""

from __future__ import annotations

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.evidence.engine.reading import Reading
from apps.fleet.models import Cluster, Domain, Node
from apps.health import services
from tests import factories


@pytest.fixture
def domain(cluster: Cluster) -> Domain:
    return factories.domain(cluster, "sn")


@pytest.fixture
def nodes(domain: Domain) -> list[Node]:
    """n0 to n9 in the domain."""
    return [factories.node(domain.cluster, f"n{place}", domain=domain, index=place) for place in range(10)]


@pytest.fixture
def node(nodes: list[Node]) -> Node:
    return nodes[0]


@pytest.fixture
def see_xid() -> Callable[..., int]:
    """`see_xid(node, 79, at="…", sha256="…")`: a kernel log of the node reports this code at these printed times."""

    def see(node: Node, code: int, *times: str, sha256: str = "a" * 64, pci: str = "0000:1b:00") -> int:
        events = [
            {"code": code, "pci": pci, "line": place, "at": at, "text": f"Xid {code}", "count": 1}
            for place, at in enumerate(times or ("Nov 29 10:00:00",), start=1)
        ]
        reading = Reading(kind="kernel_log", facts={"events": events}, parser_version=1)
        return services.record_reading(node_id=node.pk, reading=reading, sha256=sha256, at=clock.now())

    return see


@pytest.fixture
def see_heat() -> Callable[..., int]:
    """`see_heat(node, 95)`: a report of the node says that a GPU is that hot, in °C; each one is a file of its own."""
    counted = iter(range(10_000))

    def see(node: Node, celsius: float, *, sha256: str = "", ago_s: float = 0) -> int:
        facts: dict[str, Any] = {"gpus": [{"bus_id": "00000000:1B:00.0", "temperature_c": celsius}]}
        return services.record_reading(
            node_id=node.pk,
            reading=Reading(kind="nvidia_smi_q", facts=facts, parser_version=1),
            sha256=sha256 or f"{next(counted):064x}",
            at=clock.now() - timedelta(seconds=ago_s),
        )

    return see
