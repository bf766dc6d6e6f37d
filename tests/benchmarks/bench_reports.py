"""Speed of unchanged node reports: at the service, and by REST from servers as in production.

Needs an empty database to fill. Run:
  DATABASE_URL=postgresql://user@host/empty python tests/benchmarks/bench_reports.py [FILE]
FILE: what each node sends; a file of the corpus unless said. The servers are gunicorn as docs/operations.md starts
it; every report is a request with a connection of its own, as the node client makes it.
"""

from __future__ import annotations

import contextlib
import hashlib
import http.client
import json
import os
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
sys.path.insert(0, str(ROOT))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "supernode_portal.settings")
os.environ.setdefault("PORTAL_API_RATE_PER_MINUTE", "1000000")

import django

django.setup()

# ruff: noqa: E402 - Django has to be set up before anything of it is imported
from django.core.management import call_command
from django.db import connection, transaction
from django.urls import reverse

from apps.core.rights import Role, TokenScope
from apps.environments import services
from apps.environments.engine.facts import component_facts
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source
from apps.fleet.models import Node
from apps.health.engine.hysteresis import WINDOW
from tests import factories

REPORTS = 1_000
AT_LEAST_PER_S = 200.0
WORKERS, CALLERS = 3, 6
TOGETHER = 6  # files that a node reports at a time
_serving: set[int] = set()
FILE = ROOT / "tests/corpus/nvidia-smi-xml/h100x8-570.86.15.xml"


def nodes_of(count: int) -> tuple[Any, list[Node]]:
    """A cluster with so many nodes in one domain."""
    cluster = factories.cluster("reports")
    domain = factories.domain(cluster, "d")
    rows = [Node(cluster=cluster, domain=domain, name=f"n{place:04}", index=place) for place in range(count)]
    return cluster, Node.objects.bulk_create(rows)


@dataclass(frozen=True, slots=True, kw_only=True)
class Measure:
    """Reports a second, and the processor time that Python took for each (of the servers, where there are any)."""

    rate_per_s: float
    worked_s: float


def at_service(nodes: list[Node], data: bytes) -> dict[str, Measure]:
    """Unchanged reports at the service, read already."""
    reading = read(Source.of_bytes(data))
    facts = component_facts(reading)
    begun = worked = 0.0
    for turn in range(2):
        begun, worked = time.perf_counter(), time.process_time()
        for node in nodes:
            changed = services.record_report(
                node_id=node.pk, kind=reading.kind, facts=facts, sha256=f"{turn:064}"
            )
            assert changed == (turn == 0)
    took_s, worked_s = time.perf_counter() - begun, time.process_time() - worked
    return {"service": Measure(rate_per_s=REPORTS / took_s, worked_s=worked_s / REPORTS)}


def by_rest(cluster: Any, nodes: list[Node], data: bytes) -> dict[str, Measure]:
    """Unchanged reports through the whole of the portal: known bytes are named, not sent again."""
    collector = factories.service_account("collector", Role.OPERATOR, scope=cluster.scope)
    bearer = factories.bearer(collector, TokenScope.READ, TokenScope.EVIDENCE_WRITE, clusters=[cluster.scope])
    place = reverse("api_portal:hand_in", args=[cluster.slug])
    sha256 = hashlib.sha256(data).hexdigest()

    def call(port: int, address: str, body: bytes, media: str) -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        headers = {"Authorization": f"Bearer {bearer}", "Content-Type": media}
        connection.request("POST", address, body, headers)
        status = connection.getresponse().status
        connection.close()
        return status

    def report(port: int, node: Node, body: bytes = b"") -> int:
        query = f"?node={node.name}" + ("" if body else f"&sha256={sha256}")
        return call(port, place + query, body, "application/octet-stream")

    def report_together(port: int, some: list[Node]) -> int:
        body = {"reports": [{"sha256": sha256, "node": node.name} for node in some]}
        return call(port, f"{place}unchanged/", json.dumps(body).encode(), "application/json")

    lots = [nodes[start : start + TOGETHER] for start in range(0, len(nodes), TOGETHER)]
    with serving() as port, ThreadPoolExecutor(CALLERS) as callers:
        assert report(port, nodes[0], data) == 201
        for _settling in range(WINDOW):  # of health, after which nothing follows from the same bytes
            assert set(callers.map(partial(report, port), nodes)) <= {200, 201}
        alone = measured(lambda: set(callers.map(partial(report, port), nodes)))
        together = measured(lambda: set(callers.map(partial(report_together, port), lots)))
    return {"REST, one by one": alone, f"REST, {TOGETHER} in a request": together}


def measured(send: Callable[[], set[int]]) -> Measure:
    """Sends REPORTS unchanged reports to servers; all are counted."""
    begun, before = time.perf_counter(), _worked_by_children_s()
    answers = send()
    took_s, worked_s = time.perf_counter() - begun, _worked_by_children_s() - before
    assert answers == {200}, answers
    return Measure(rate_per_s=REPORTS / took_s, worked_s=worked_s / REPORTS)


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """The portal served by gunicorn on a free port, until the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    how = ["--worker-class", "gthread", "--workers", str(WORKERS), "--threads", "8", "--log-level", "warning"]
    command = [sys.executable, "-m", "gunicorn", "supernode_portal.wsgi", "--bind", f"127.0.0.1:{port}", *how]
    server = subprocess.Popen(
        command, cwd=ROOT, env=os.environ | {"PORTAL_LOG_LEVEL": "WARNING"}, process_group=0
    )
    _serving.add(server.pid)
    try:
        _wait_for(port)
        yield port
    finally:
        server.terminate()
        server.wait()


def _wait_for(port: int) -> None:
    for _attempt in range(600):
        with contextlib.suppress(OSError), socket.create_connection(("127.0.0.1", port), timeout=1):
            return
        time.sleep(0.1)
    raise TimeoutError("the servers did not start")


def main() -> int:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else FILE).read_bytes()
    call_command("migrate", verbosity=0)
    with transaction.atomic():
        cluster, nodes = nodes_of(REPORTS)
    failed = False
    for name, measure in (at_service(nodes, data) | by_rest(cluster, nodes, data)).items():
        is_slow = measure.rate_per_s < AT_LEAST_PER_S
        failed |= is_slow
        note = f"  LIMIT {AT_LEAST_PER_S:.0f}" if is_slow else ""
        print(
            f"{connection.vendor}: {name}: {measure.rate_per_s:,.0f} unchanged reports/s, "
            f"{measure.worked_s * 1e3:.1f} ms of Python's processor time each{note}"
        )
    return int(failed)


def _worked_by_children_s() -> float:
    """Processor time so far of the servers, which run in a process group of their own; Linux."""
    ticks = 0
    for stat in Path("/proc").glob("[0-9]*/stat"):
        with contextlib.suppress(OSError):
            fields = stat.read_text().rpartition(")")[2].split()
            ticks += sum(map(int, fields[11:13])) if int(fields[2]) in _serving else 0
    return ticks / os.sysconf("SC_CLK_TCK")


if __name__ == "__main__":
    sys.exit(main())
