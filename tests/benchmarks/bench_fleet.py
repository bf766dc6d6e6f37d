"""How long the fleet's heavy paths take: `DATABASE_URL=… python -m tests.benchmarks.bench_fleet`.

On the database of DATABASE_URL (migrated here; a cluster of a new name each time, so use one for this alone):
import of 10,000 nodes with 80,000 accelerators over REST, from the upload to the end of the job; list page of
those nodes; topology page of that cluster, and of a domain of 576 accelerators. Ends with 1 where a limit is
passed.
"""

from __future__ import annotations

import io
import json
import os
import statistics
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import django

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "supernode_portal.settings")
django.setup()

from django.conf import settings  # noqa: E402
from django.core.management import call_command  # noqa: E402
from django.db import connection  # noqa: E402
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


def timed(call: Callable[[], Any]) -> float:
    start = time.perf_counter()
    call()
    return time.perf_counter() - start


def median_of(call: Callable[[], Any]) -> float:
    call()
    return statistics.median(timed(call) for _round in range(ROUNDS))


@contextmanager
def told(name: str, limit_s: float, failed: list[str]) -> Iterator[Callable[[float], None]]:
    def tell(taken_s: float) -> None:
        verdict = "ok" if taken_s < limit_s else "TOO SLOW"
        if taken_s >= limit_s:
            failed.append(name)
        print(f"{name:52} {taken_s * 1000:9.1f} ms   limit {limit_s * 1000:7.0f} ms   {verdict}")

    yield tell


def brought_in(cluster: Cluster, person: Any, data: bytes) -> float:
    """Seconds from the upload to the end of the job."""
    file = io.BytesIO(data)
    file.name = "fleet.json"
    caller = callers.api(factories.bearer(person, "read", "fleet:write"))
    start = time.perf_counter()
    body = {"cluster": cluster.slug, "file": file, "dry_run": "false"}
    answer = caller.post("/api/v1/imports/", body, format="multipart")
    assert answer.status_code == 202, answer.content[:500]
    running.run(answer.json()["id"])
    taken_s = time.perf_counter() - start
    row = BulkImport.objects.filter(cluster=cluster).get()
    assert row.state == "applied", (row.state, row.problem, row.counts)
    return taken_s


def main() -> int:
    settings.ALLOWED_HOSTS = ["testserver"]
    call_command("migrate", verbosity=0)
    autodiscover_modules("tasks")
    failed: list[str] = []
    slug = f"bench-{time.time_ns()}"
    cluster = factories.cluster(slug)
    person = factories.person("Bench", Role.ADMIN, email=f"{slug}@example.com")
    data = fleet()
    print(f"{connection.vendor}; file of {len(data) / 1e6:.1f} MB")
    with told("import of 10,000 nodes, 80,000 accelerators", IMPORT_LIMIT_S, failed) as tell:
        tell(brought_in(cluster, person, data))
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
        with told(f"{name} ({len(queries)} queries)", limit_s, failed) as tell:
            tell(median_of(lambda address=address: client.get(address)))
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
