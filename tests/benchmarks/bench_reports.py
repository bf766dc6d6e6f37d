"""Speed of unchanged node reports: at the service, and by REST with a token. Needs an empty database to fill.

Run: DATABASE_URL=postgresql://user@host/empty python tests/benchmarks/bench_reports.py [FILE]
FILE: what each node sends; a file of the corpus unless said.
"""

from __future__ import annotations

import hashlib
import os
import sys
import time
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
from rest_framework.test import APIClient

from apps.core.rights import Role, TokenScope
from apps.environments import services
from apps.environments.engine.facts import component_facts
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source
from apps.fleet.models import Node
from tests import factories

REPORTS = 1_000
AT_LEAST_PER_S = 200.0
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
    bearer = factories.bearer(collector, TokenScope.READ, TokenScope.EVIDENCE_WRITE)
    client = APIClient(headers={"Authorization": f"Bearer {bearer}", "Host": "127.0.0.1"})
    place = reverse("api_portal:hand_in", args=[cluster.slug])
    first = client.post(f"{place}?node={nodes[0].name}", data, content_type="application/octet-stream")
    assert first.status_code == 201, first.content
    sha256 = hashlib.sha256(data).hexdigest()
    begun = 0.0
    for _turn in range(2):
        begun = time.perf_counter()
        for node in nodes:
            answer = client.post(f"{place}?node={node.name}&sha256={sha256}")
            assert answer.status_code == 201, answer.content
    return len(nodes) / (time.perf_counter() - begun)


def main() -> int:
    data = Path(sys.argv[1] if len(sys.argv) > 1 else FILE).read_bytes()
    call_command("migrate", verbosity=0)
    with transaction.atomic():
        cluster, nodes = nodes_of(REPORTS)
    failed = False
    for name, measure in (("service", at_service), ("REST", partial(by_rest, cluster))):
        worked_s = time.process_time()
        rate = measure(nodes, data)
        worked_s = time.process_time() - worked_s
        failed |= rate < AT_LEAST_PER_S
        note = f"  LIMIT {AT_LEAST_PER_S:.0f}" if rate < AT_LEAST_PER_S else ""
        print(
            f"{connection.vendor}: {name}: {rate:,.0f} unchanged reports/s, "
            f"{2 * len(nodes) / worked_s:,.0f} for each second at work{note}"
        )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
