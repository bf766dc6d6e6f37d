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
import os
import resource
import socket
import subprocess
import sys
import time
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
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
from tests import factories

REPORTS = 1_000
AT_LEAST_PER_S = 200.0
WORKERS, CALLERS = 3, 6
FILE = ROOT / "tests/corpus/nvidia-smi-xml/h100x8-570.86.15.xml"


def nodes_of(count: int) -> tuple[Any, list[Node]]:
    """A cluster with so many nodes in one domain."""
    cluster = factories.cluster("reports")
    domain = factories.domain(cluster, "d")
    rows = [Node(cluster=cluster, domain=domain, name=f"n{place:04}", index=place) for place in range(count)]
    return cluster, Node.objects.bulk_create(rows)


def at_service(nodes: list[Node], data: bytes) -> float:
    """Unchanged reports a second, read already."""
    reading = read(Source.of_bytes(data))
    facts = component_facts(reading)
    begun = 0.0
    for turn in range(2):
        begun = time.perf_counter()
        for node in nodes:
            changed = services.record_report(
                node_id=node.pk, kind=reading.kind, facts=facts, sha256=f"{turn:064}"
            )
            assert changed == (turn == 0)
    return len(nodes) / (time.perf_counter() - begun)


def by_rest(cluster: Any, nodes: list[Node], data: bytes) -> float:
    """Unchanged reports a second through the whole of the portal: known bytes are named, not sent again."""
    collector = factories.service_account("collector", Role.OPERATOR, scope=cluster.scope)
    bearer = factories.bearer(collector, TokenScope.READ, TokenScope.EVIDENCE_WRITE, clusters=[cluster.scope])
    place = reverse("api_portal:hand_in", args=[cluster.slug])
    sha256 = hashlib.sha256(data).hexdigest()

    def report(port: int, node: Node, body: bytes = b"") -> int:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=60)
        query = f"?node={node.name}" + ("" if body else f"&sha256={sha256}")
        headers = {"Authorization": f"Bearer {bearer}", "Content-Type": "application/octet-stream"}
        connection.request("POST", place + query, body, headers)
        status = connection.getresponse().status
        connection.close()
        return status

    with serving() as port, ThreadPoolExecutor(CALLERS) as callers:
        assert report(port, nodes[0], data) == 201
        assert set(callers.map(partial(report, port), nodes)) <= {200, 201}
        begun = time.perf_counter()
        answers = list(callers.map(partial(report, port), nodes))
        took_s = time.perf_counter() - begun
        assert set(answers) == {200}, set(answers)
    return len(nodes) / took_s


@contextlib.contextmanager
def serving() -> Iterator[int]:
    """The portal served by gunicorn on a free port, until the end."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    how = ["--worker-class", "gthread", "--workers", str(WORKERS), "--threads", "8", "--log-level", "warning"]
    command = [sys.executable, "-m", "gunicorn", "supernode_portal.wsgi", "--bind", f"127.0.0.1:{port}", *how]
    server = subprocess.Popen(command, cwd=ROOT, env=os.environ | {"PORTAL_LOG_LEVEL": "WARNING"})
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
    for name, measure in (("service", at_service), ("REST", partial(by_rest, cluster))):
        worked_s = _worked_s()
        rate = measure(nodes, data)
        worked_s = _worked_s() - worked_s
        failed |= rate < AT_LEAST_PER_S
        note = f"  LIMIT {AT_LEAST_PER_S:.0f}" if rate < AT_LEAST_PER_S else ""
        print(
            f"{connection.vendor}: {name}: {rate:,.0f} unchanged reports/s, at most "
            f"{worked_s / (2 * len(nodes)) * 1e3:.1f} ms of Python's processor time each, starting included{note}"
        )
    return int(failed)


def _worked_s() -> float:
    """Processor time of this process and of the servers that it started and that have ended."""
    both = (resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN))
    return sum(used.ru_utime + used.ru_stime for used in both)


if __name__ == "__main__":
    sys.exit(main())
