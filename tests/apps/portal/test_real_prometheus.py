"""GPU metrics fetched from a real Prometheus server that scrapes an exporter, with user name and password."""

from __future__ import annotations

import socket
import subprocess
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, HTTPServer
from pathlib import Path
from typing import Any

import httpx
import pytest

from apps.core.errors import Invalid
from apps.core.verdicts import Verdict
from apps.evidence.models import Receipt
from apps.health import services as health
from apps.health.models import HealthState, MetricsSource
from apps.portal.services.metrics import take_in_metrics
from tests import factories
from tests.support.processes import kill, until

pytestmark = [pytest.mark.django_db, pytest.mark.services]

PASSWORD = "a pass-word: 7"
BCRYPT = "$2b$04$jlBosGr5g0v1UJLu0rwc..mkdD8Ia5J67kQRoUGTGl9abCwV60xgu"  # of that password
METRICS = """# HELP DCGM_FI_DEV_GPU_TEMP GPU temperature (in C).
# TYPE DCGM_FI_DEV_GPU_TEMP gauge
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-0",pci_bus_id="00000000:1B:00.0",Hostname="n1"} 95
DCGM_FI_DEV_GPU_TEMP{gpu="1",UUID="GPU-1",pci_bus_id="00000000:43:00.0",Hostname="n1"} 41
DCGM_FI_DEV_GPU_TEMP{gpu="0",UUID="GPU-2",pci_bus_id="00000000:1B:00.0",Hostname="not-ours"} 41
# TYPE DCGM_FI_DEV_XID_ERRORS gauge
DCGM_FI_DEV_XID_ERRORS{gpu="0",UUID="GPU-0",pci_bus_id="00000000:1B:00.0",Hostname="n1"} 79
# TYPE DCGM_FI_DEV_PCIE_REPLAY_COUNTER counter
DCGM_FI_DEV_PCIE_REPLAY_COUNTER{gpu="0",UUID="GPU-0",pci_bus_id="00000000:1B:00.0",Hostname="n1"} 0
"""
CONFIGURATION = """
scrape_configs:
  - job_name: dcgm
    scrape_interval: 1s
    honor_labels: true
    static_configs: [{{targets: ["127.0.0.1:{exporter}"]}}]
"""


class _Exporter(BaseHTTPRequestHandler):
    def do_GET(self) -> None:
        self.send_response(200)
        self.send_header("Content-Type", "text/plain; version=0.0.4")
        self.end_headers()
        self.wfile.write(METRICS.encode())

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


def free_port() -> int:
    with socket.socket() as held:
        held.bind(("127.0.0.1", 0))
        port: int = held.getsockname()[1]
        return port


@pytest.fixture
def exporter() -> Iterator[int]:
    with HTTPServer(("127.0.0.1", 0), _Exporter) as server:
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server.server_port
        server.shutdown()
        thread.join()


@pytest.fixture
def prometheus(exporter: int, tmp_path: Path, settings: Any) -> Iterator[str]:
    """The address of a server that has scraped the exporter."""
    settings.WEBHOOK_ALLOW = ["localhost"]
    port = free_port()
    (tmp_path / "prometheus.yml").write_text(CONFIGURATION.format(exporter=exporter))
    (tmp_path / "web.yml").write_text(f"basic_auth_users: {{portal: '{BCRYPT}'}}\n")
    log = tmp_path / "log"
    command = [
        "prometheus",
        f"--config.file={tmp_path}/prometheus.yml",
        f"--web.config.file={tmp_path}/web.yml",
    ]
    command += [f"--web.listen-address=127.0.0.1:{port}", f"--storage.tsdb.path={tmp_path}/tsdb"]
    with log.open("wb") as out:
        process = subprocess.Popen(command, stdout=out, stderr=out, start_new_session=True)
    try:
        address = f"http://localhost:{port}"
        until(lambda: _has_scraped(address), "the first scrape", by=process, log=log)
        yield address
    finally:
        kill(process)


def _has_scraped(address: str) -> bool:
    query = {"query": "DCGM_FI_DEV_PCIE_REPLAY_COUNTER"}
    try:
        answer = httpx.get(
            f"{address}/api/v1/query", params=query, auth=("portal", PASSWORD), trust_env=False
        )
    except httpx.TransportError:
        return False
    return answer.status_code == 200 and bool(answer.json()["data"]["result"])


@pytest.fixture
def named(prometheus: str, cluster: Any, actor_for: Any, ada: Any) -> Any:
    def name(password: str) -> MetricsSource:
        return health.set_metrics_source(
            actor=actor_for(ada),
            cluster_id=cluster.pk,
            expected_version=0,
            url=prometheus,
            host_label="Hostname",
            enabled=True,
            auth="basic",
            username="portal",
            secret=password,
        )

    return name


def test_what_a_real_server_has_scraped_becomes_the_health_of_the_node(named: Any, cluster: Any) -> None:
    node = factories.node(cluster, "n1")
    source = named(PASSWORD)

    taken = take_in_metrics(source)

    settled = {(row.rule, row.device): row.verdict for row in HealthState.objects.filter(node=node)}
    assert taken == 1
    assert settled["gpu-temperature", "0000:1b:00.0"] == Verdict.FAIL
    assert settled["gpu-temperature", "0000:43:00.0"] == Verdict.PASS
    assert settled["last-xid", "0000:1b:00.0"] == Verdict.WARN
    assert Receipt.objects.get().node_name == "n1"
    source.refresh_from_db()
    assert (source.error, source.host_count) == ("", 2)


def test_a_real_server_that_refuses_the_password_is_noted_without_it(named: Any) -> None:
    source = named("a wrong one")

    with pytest.raises(Invalid, match="401"):
        take_in_metrics(source)

    source.refresh_from_db()
    assert "401" in source.error
    assert "a wrong one" not in source.error
    assert not Receipt.objects.exists()
