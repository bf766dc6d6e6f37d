"""Speed of a whole drift check on a database: read, compare, write. Needs an empty one that may be filled.

Run: DATABASE_URL=postgresql://user@host/empty python tests/benchmarks/bench_drift.py [NODES …]
"""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))
os.environ.setdefault("DJANGO_SETTINGS_MODULE", "supernode_portal.settings")

import django

django.setup()

# ruff: noqa: E402 - Django has to be set up before anything of it is imported
from django.core.management import call_command
from django.db import connection, transaction
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from apps.catalogue.engine.components import components
from apps.catalogue.engine.versions import parse
from apps.environments.models import Matrix, MatrixEntry, MatrixVersion, NodeFact, NodeReport
from apps.fleet.models import Domain, Node
from tests import factories
from tests.apps.environments.support import check_drift

COMPONENTS = 25
SIZES = (1_000, 10_000)
ODD_EVERY = 100  # one node in so many differs in one component
LIMIT_S = {10_000: 3.0}
_KINDS = ("nvidia_smi_xml", "collect_env")


def fleet(size: int) -> Domain:
    """A domain of so many nodes with current facts of COMPONENTS components, and a matrix in force."""
    cluster = factories.cluster(f"bench-{size}")
    domain = factories.domain(cluster, f"d{size}")
    now = timezone.now()
    names = [one.id for one in components().values() if parse(_value(0), one.scheme).is_known][:COMPONENTS]
    matrix = Matrix.objects.create(cluster=cluster, domain=domain, name="bench", created_at=now)
    version = MatrixVersion.objects.create(matrix=matrix, number=1, created_at=now)
    MatrixEntry.objects.bulk_create(
        MatrixEntry(matrix_version=version, component=name, rule="exact", values=[_value(place)])
        for place, name in enumerate(names)
    )
    MatrixVersion.objects.filter(pk=version.pk).update(state="locked", locked_at=now, digest="0" * 64)
    nodes = Node.objects.bulk_create(
        [Node(cluster=cluster, domain=domain, name=f"n{place:06}", index=place) for place in range(size)],
        batch_size=5_000,
    )
    seen = {"reported_at": now, "received_at": now, "facts_digest": "0" * 64, "sha256": "0" * 64}
    NodeReport.objects.bulk_create(
        [NodeReport(node=node, kind=kind, **seen) for node in nodes for kind in _KINDS], batch_size=5_000
    )
    NodeFact.objects.bulk_create(
        [
            NodeFact(
                node=node,
                kind=_KINDS[place % 2],
                component=name,
                standing="loaded",
                value=_value(
                    place, odd=number % ODD_EVERY == 0 and place == number // ODD_EVERY % COMPONENTS
                ),
                since=now,
                sha256="0" * 64,
            )
            for number, node in enumerate(nodes)
            for place, name in enumerate(names)
        ],
        batch_size=10_000,
    )
    return domain


def _value(place: int, *, odd: bool = False) -> str:
    return f"12.{2 if odd else 1}.{place}"


def measure(domain: Domain) -> tuple[float, float, int, int]:
    """Seconds on the clock and of this processor, queries of a check, and what it found."""
    with CaptureQueriesContext(connection) as queries:
        begun, worked = time.perf_counter(), time.process_time()
        check = check_drift(domain)
        took_s, cpu_s = time.perf_counter() - begun, time.process_time() - worked
    return took_s, cpu_s, len(queries), check.finding_count


def main() -> int:
    sizes = [int(word) for word in sys.argv[1:]] or list(SIZES)
    call_command("migrate", verbosity=0)
    failed = False
    for size in sizes:
        with transaction.atomic():
            domain = fleet(size)
        if connection.vendor == "postgresql":
            with connection.cursor() as cursor:
                cursor.execute("ANALYZE")
        for name in ("first check", "again"):
            took_s, cpu_s, queries, found = measure(domain)
            limit_s = LIMIT_S.get(size)
            too_slow = limit_s is not None and took_s > limit_s
            failed |= too_slow
            note = f"  LIMIT {limit_s} s" if too_slow else ""
            print(
                f"{connection.vendor} {size:>7,} nodes × {COMPONENTS}: {name} {took_s:6.2f} s ({cpu_s:.2f} s at work), "
                f"{queries} queries, {found} findings{note}"
            )
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
