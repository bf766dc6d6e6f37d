"""GPU metrics fetched from a Prometheus server over its HTTP API."""

from __future__ import annotations

import json
import threading
from collections.abc import Iterator
from datetime import timedelta
from http.server import BaseHTTPRequestHandler, HTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest

from apps.core import clock
from apps.core.errors import Invalid
from apps.core.verdicts import Verdict
from apps.evidence.models import Receipt
from apps.fleet.models import Cluster
from apps.health import services as health
from apps.health.engine.prometheus import texts_by_host
from apps.health.models import HealthState, MetricsSource
from apps.health.queries import metrics_sources
from apps.health.services import fetching
from apps.portal.services.metrics import take_in_metrics
from tests import factories

pytestmark = pytest.mark.django_db


def series(metric: str, host: str, value: str, **labels: str) -> dict[str, Any]:
    names = {"__name__": metric, "Hostname": host, "gpu": "0", "UUID": f"GPU-of-{host}"} | labels
    return {"metric": names, "value": [1764400000.1, value]}


class Prometheus(HTTPServer):
    """Answers instant queries from a table of metric to series."""

    def __init__(self) -> None:
        self.held: dict[str, list[dict[str, Any]]] = {}
        self.asked: list[str] = []
        self.credentials: set[str | None] = set()
        self.status = 200
        self.nonsense = ""
        super().__init__(("127.0.0.1", 0), _Answer)


class _Answer(BaseHTTPRequestHandler):
    server: Prometheus

    def do_GET(self) -> None:
        place = urlsplit(self.path)
        (query,) = parse_qs(place.query)["query"]
        self.server.asked.append(f"{place.path} {query}")
        self.server.credentials.add(self.headers["Authorization"])
        data = {"resultType": "vector", "result": self.server.held.get(query, [])}
        self.send_response(self.server.status)
        self.end_headers()
        self.wfile.write((self.server.nonsense or json.dumps({"status": "success", "data": data})).encode())

    def log_message(self, *_arguments: object) -> None:
        """Quiet."""


@pytest.fixture
def server(settings: Any) -> Iterator[Prometheus]:
    settings.WEBHOOK_ALLOW = ["localhost"]
    held = Prometheus()
    thread = threading.Thread(target=held.serve_forever, kwargs={"poll_interval": 0.01})
    thread.start()
    yield held
    held.shutdown()
    thread.join()
    held.server_close()


@pytest.fixture
def source(server: Prometheus, cluster: Cluster, actor_for: Any, ada: Any) -> MetricsSource:
    return health.set_metrics_source(
        actor=actor_for(ada),
        cluster_id=cluster.pk,
        expected_version=0,
        url=f"http://localhost:{server.server_port}/prometheus/",
        host_label="Hostname",
        enabled=True,
    )


def test_what_prometheus_says_of_a_node_becomes_its_health(server: Prometheus, source: MetricsSource) -> None:
    node = factories.node(source.cluster, "n1")
    server.held = {
        "DCGM_FI_DEV_GPU_TEMP": [
            series("DCGM_FI_DEV_GPU_TEMP", "n1", "95"),
            series("DCGM_FI_DEV_GPU_TEMP", "of-another-cluster", "40"),
        ],
        "DCGM_FI_DEV_XID_ERRORS": [series("DCGM_FI_DEV_XID_ERRORS", "n1", "79")],
    }

    taken = take_in_metrics(source)

    settled = {row.rule: row.verdict for row in HealthState.objects.filter(node=node)}
    assert (taken, settled) == (1, {"gpu-temperature": Verdict.FAIL, "last-xid": Verdict.WARN})
    assert Receipt.objects.get().kind == "dcgm_metrics"
    assert "/prometheus/api/v1/query DCGM_FI_DEV_GPU_TEMP" in server.asked
    source.refresh_from_db()
    assert (source.error, source.host_count) == ("", 2)


def test_a_server_that_fails_is_noted_on_its_source(server: Prometheus, source: MetricsSource) -> None:
    server.status = 503

    with pytest.raises(Invalid):
        take_in_metrics(source)

    source.refresh_from_db()
    assert "503" in source.error
    assert not Receipt.objects.exists()


@pytest.mark.parametrize(
    ("values", "header"),
    [
        ({"auth": "none"}, None),
        ({"auth": "bearer", "secret": "tok-4711"}, "Bearer tok-4711"),
        ({"auth": "basic", "username": "portal", "secret": "pä: 7"}, "Basic cG9ydGFsOnDDpDogNw=="),
    ],
)
def test_the_server_is_told_who_asks(
    server: Prometheus, source: MetricsSource, actor_for: Any, ada: Any, values: Any, header: str | None
) -> None:
    changed = change(source, actor_for(ada), **values)

    take_in_metrics(changed)

    assert server.credentials == {header}


def test_a_token_that_cannot_be_opened_any_more_is_said_and_not_sent(
    server: Prometheus, source: MetricsSource, actor_for: Any, ada: Any, settings: Any
) -> None:
    changed = change(source, actor_for(ada), auth="bearer", secret="tok-4711")
    settings.SECRET_KEY = "another key"

    with pytest.raises(Invalid, match="set it anew"):
        take_in_metrics(changed)
    assert server.asked == []


def test_each_server_is_asked_at_its_own_pace(source: MetricsSource) -> None:
    at = clock.now()
    assert metrics_sources(due_at=at) == [source]
    MetricsSource.objects.update(asked_at=at - timedelta(seconds=200), every_s=300)
    assert metrics_sources(due_at=at) == []
    assert metrics_sources(cluster_id=source.cluster_id) == [source]
    MetricsSource.objects.update(every_s=200)
    assert metrics_sources(due_at=at) == [source]


def change(source: MetricsSource, actor: Any, **values: Any) -> MetricsSource:
    return health.set_metrics_source(
        actor=actor,
        cluster_id=source.cluster_id,
        expected_version=source.version,
        url=source.url,
        host_label=source.host_label,
        enabled=True,
        **values,
    )


@pytest.mark.parametrize("nonsense", ["<html>", "[" * 100_000, '"x"', '{"status": 1e400}'])
def test_nonsense_is_noted_as_no_answer(nonsense: str, server: Prometheus, source: MetricsSource) -> None:
    server.nonsense = nonsense
    with pytest.raises(Invalid, match=r"no answer of Prometheus|is no vector"):
        fetching.fetch_metrics(source)
    source.refresh_from_db()
    assert source.error


def test_an_answer_without_end_is_not_read(
    server: Prometheus, source: MetricsSource, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(fetching, "LIMIT_ANSWER_BYTES", 20)

    with pytest.raises(Invalid, match="longer than 20 bytes"):
        take_in_metrics(source)


def test_a_server_inside_is_asked_only_where_it_is_allowed_by_name(
    server: Prometheus, source: MetricsSource, settings: Any
) -> None:
    settings.WEBHOOK_ALLOW = []

    with pytest.raises(Invalid, match="PORTAL_WEBHOOK_ALLOW"):
        take_in_metrics(source)
    assert server.asked == []


@pytest.mark.parametrize("url", ["ftp://prom", "https://a:b@prom", "https://prom?x=1", "prom:9090"])
def test_an_address_that_is_none_is_refused(url: str, cluster: Cluster, actor_for: Any, ada: Any) -> None:
    with pytest.raises(Invalid) as refused:
        health.set_metrics_source(
            actor=actor_for(ada),
            cluster_id=cluster.pk,
            expected_version=0,
            url=url,
            host_label="Hostname",
            enabled=True,
        )
    assert refused.value.code == "url"


def test_labels_are_quoted_and_the_port_is_no_part_of_the_host() -> None:
    one = series("DCGM_FI_DEV_GPU_TEMP", "x", "40", instance="n1:9400", model='a"b\\c')
    answer = {"status": "success", "data": {"resultType": "vector", "result": [one]}}

    texts = texts_by_host([answer], host_label="instance")

    assert list(texts) == ["n1"]
    assert 'model="a\\"b\\\\c"' in texts["n1"]


@pytest.mark.parametrize(
    "answer",
    [
        [],
        {"status": "error", "error": "bad query"},
        {"status": "success", "data": {"resultType": "matrix", "result": []}},
        {"status": "success", "data": {"resultType": "vector", "result": [{"metric": {}}]}},
    ],
)
def test_what_is_no_vector_is_refused(answer: object) -> None:
    with pytest.raises(Invalid) as refused:
        texts_by_host([answer], host_label="Hostname")

    assert refused.value.code == "not_prometheus"
