"""How long the fleet's heavy paths take: `DATABASE_URL=… python -m tests.benchmarks.bench_fleet`.

On the database of DATABASE_URL (migrated here; a cluster of a new name each time, so use one for this alone):
import of 10,000 nodes with 80,000 accelerators over REST, from the upload to the end of the job; list page of
those nodes; topology page of that cluster, and of a domain of 576 accelerators. Ends with 1 where a limit is
passed. Beside each time stand the processor's seconds of this process, which a busy machine does not lengthen; while
the import is applied, somebody else writes all the time, and how long they wait at most is told.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import sys
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "supernode_portal.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection, transaction  # noqa: E402
from django.test.utils import CaptureQueriesContext  # noqa: E402
from django.utils.module_loading import autodiscover_modules  # noqa: E402

from apps.core.rights import Role  # noqa: E402
from apps.fleet.models import Accelerator, BulkImport, Cluster  # noqa: E402
from apps.jobs import running  # noqa: E402
from tests import callers, factories  # noqa: E402

IMPORT_LIMIT_S, LIST_LIMIT_S, TOPOLOGY_LIMIT_S = 20.0, 0.150, 0.300
DOMAINS, NODES_EACH, CARDS = 139, 72, 8
ROUNDS = 15


def fleet() -> bytes:
    """10,000 nodes with 80,000 accelerators as a JSON file."""
    domains = [{"name": f"sn{place:03d}", "accelerator_model": "nvidia-gb200"} for place in range(DOMAINS)]
    homes = [(one["name"], place) for one in domains for place in range(NODES_EACH)][:10_000]
    nodes = [
        {"name": f"{home}-n{place:02d}", "domain": home, "index": place, "rack": f"R{place // 9}"}
        for home, place in homes
    ]
    cards = [
        {"node": node["name"], "index": slot, "model": "nvidia-gb200", "uuid": f"GPU-{node['name']}-{slot}"}
        for node in nodes
        for slot in range(CARDS)
    ]
    return json.dumps({"domains": domains, "nodes": nodes, "accelerators": cards}).encode()


def one_large_domain(cluster: Cluster) -> int:
    """A domain of 576 accelerators in four sub-domains; its id."""
    domain = factories.domain(cluster, "large", sub_domains=4)
    halls = list(domain.sub_domains.all())
    for place in range(72):
        node = factories.node(cluster, f"large-n{place:02d}", domain=domain, index=place)
        Accelerator.objects.bulk_create(
            Accelerator(node=node, sub_domain=halls[place // 18], index=slot) for slot in range(CARDS)
        )
    return domain.pk


def timed(call: Callable[[], Any]) -> tuple[float, float]:
    """Seconds on the wall, and of the processor."""
    start, start_cpu = time.perf_counter(), time.process_time()
    call()
    return time.perf_counter() - start, time.process_time() - start_cpu


def median_of(call: Callable[[], Any]) -> tuple[float, float]:
    """The medians of both, after a first call that does not count."""
    call()
    wall, cpu = zip(*(timed(call) for _round in range(ROUNDS)), strict=True)
    return statistics.median(wall), statistics.median(cpu)


def tell(name: str, taken: tuple[float, float], limit_s: float, failed: list[str]) -> None:
    wall_s, cpu_s = taken
    verdict = "ok" if wall_s < limit_s else "TOO SLOW"
    if wall_s >= limit_s:
        failed.append(name)
    figures = f"{wall_s * 1000:9.1f} ms  (processor {cpu_s * 1000:8.1f})"
    print(f"{name:62} {figures}   limit {limit_s * 1000:7.0f} ms   {verdict}")


@contextmanager
def somebody_writes() -> Iterator[list[float]]:
    """Another writer, all the time: how long each of its transactions waited for its turn, in seconds."""
    waits: list[float] = []
    over = threading.Event()

    def write() -> None:
        while not over.wait(0.02):
            start = time.perf_counter()
            with transaction.atomic():
                waits.append(time.perf_counter() - start)
        connection.close()

    writer = threading.Thread(target=write)
    writer.start()
    try:
        yield waits
    finally:
        over.set()
        writer.join()


def brought_in(cluster: Cluster, person: Any, data: bytes) -> None:
    """From the upload to the end of the job."""
    file = io.BytesIO(data)
    file.name = "fleet.json"
    caller = callers.api(factories.bearer(person, "read", "fleet:write"))
    body = {"cluster": cluster.slug, "file": file, "dry_run": "false"}
    answer = caller.post("/api/v1/imports/", body, format="multipart")
    assert answer.status_code == 202, answer.content[:500]
    running.run(answer.json()["id"])
    row = BulkImport.objects.filter(cluster=cluster).get()
    assert row.state == "applied", (row.state, row.problem, row.counts)


def main() -> int:
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    autodiscover_modules("tasks")
    failed: list[str] = []
    slug = f"bench-{time.time_ns()}"
    cluster = factories.cluster(slug)
    person = factories.person("Bench", Role.ADMIN, email=f"{slug}@example.com")
    data = fleet()
    load = ", ".join(f"{one:.1f}" for one in os.getloadavg())
    print(f"{connection.vendor}; file of {len(data) / 1e6:.1f} MB; load average {load}")
    with somebody_writes() as waits:
        taken = timed(lambda: brought_in(cluster, person, data))
    tell("import of 10,000 nodes, 80,000 accelerators", taken, IMPORT_LIMIT_S, failed)
    print(f"  longest wait of another writer meanwhile: {max(waits):.2f} s of {len(waits)} transactions")
    client = callers.client_of(person)
    domain = one_large_domain(cluster)
    pages = {
        "list page of 10,000 nodes, median": (f"/clusters/{slug}/nodes/", LIST_LIMIT_S),
        "the same, page 150, sorted by domain": (
            f"/clusters/{slug}/nodes/?page=150&sort=domain",
            LIST_LIMIT_S,
        ),
        "topology of 576 accelerators, median": (
            f"/clusters/{slug}/topology/?domain={domain}",
            TOPOLOGY_LIMIT_S,
        ),
        "topology of 10,000 nodes in aggregate, median": (f"/clusters/{slug}/topology/", TOPOLOGY_LIMIT_S),
    }
    for name, (address, limit_s) in pages.items():
        with CaptureQueriesContext(connection) as queries:
            assert client.get(address).status_code == 200
        asked = len(queries)
        taken = median_of(lambda address=address: client.get(address))
        tell(f"{name} ({asked} queries)", taken, limit_s, failed)
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
