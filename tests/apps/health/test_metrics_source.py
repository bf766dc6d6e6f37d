"""The Prometheus server of a cluster: set, changed and removed on its page, with credentials that nobody sees again."""

from __future__ import annotations

import json
import logging
from typing import Any

import pytest
from django.urls import reverse

from apps.audit.models import AuditEvent
from apps.core.errors import Invalid, Stale
from apps.health import services
from apps.health.models import MetricsSource
from apps.jobs.models import Job

pytestmark = pytest.mark.django_db

SECRET = "tok-4711-never-shown"
FORM = {
    "version": 0,
    "url": "https://prometheus.example.com/",
    "host_label": "instance",
    "every_minutes": 10,
    "enabled": "on",
    "auth": "bearer",
    "username": "",
    "secret": SECRET,
}


@pytest.fixture
def set_source(cluster: Any, actor_for: Any, ada: Any) -> Any:
    def set_it(version: int = 0, **values: Any) -> MetricsSource:
        usual = {"url": "https://prometheus.example.com", "host_label": "Hostname", "enabled": True}
        return services.set_metrics_source(
            actor=actor_for(ada), cluster_id=cluster.pk, expected_version=version, **usual | values
        )

    return set_it


def test_a_server_is_named_on_its_page_and_its_token_is_never_shown(
    cluster: Any, client_of: Any, ada: Any, caplog: Any
) -> None:
    client, address = client_of(ada), reverse("health:metrics", args=[cluster.slug])
    with caplog.at_level(logging.DEBUG):
        answer = client.post(address, FORM)
    assert (answer.status_code, answer.headers["Location"]) == (302, address)
    source = MetricsSource.objects.get()
    assert (source.url, source.host_label, source.every_s, source.auth) == (
        "https://prometheus.example.com",
        "instance",
        600,
        "bearer",
    )
    page = client.get(address).content.decode()
    assert "One is on record, encrypted" in page
    trail = json.dumps(list(AuditEvent.objects.values_list("action", "body")), default=str)
    assert "has_secret" in trail
    for where in (page, trail, source.secret, caplog.text):
        assert SECRET not in where


def test_a_form_that_is_not_in_order_comes_back_without_the_token(
    cluster: Any, client_of: Any, ada: Any
) -> None:
    answer = client_of(ada).post(
        reverse("health:metrics", args=[cluster.slug]), FORM | {"url": "http://127.0.0.1:9090"}
    )
    page = answer.content.decode()
    assert "http only for hosts in PORTAL_WEBHOOK_ALLOW" in page
    assert SECRET not in page
    assert not MetricsSource.objects.exists()


def test_the_token_stays_where_none_is_given_and_goes_with_its_address(set_source: Any) -> None:
    first = set_source(auth="bearer", secret=SECRET)
    kept = set_source(1, auth="bearer", enabled=False)
    assert kept.secret == first.secret
    for other in ("https://elsewhere.example.com", "https://prometheus.example.com/another-team"):
        with pytest.raises(Invalid) as refused:
            set_source(2, auth="bearer", url=other)
        assert refused.value.code == "secret"
    assert set_source(2, auth="none").secret == ""


def test_a_password_is_asked_for_again_for_another_user(set_source: Any) -> None:
    set_source(auth="basic", username="portal", secret="one two")
    with pytest.raises(Invalid) as refused:
        set_source(1, auth="basic", username="root")
    assert refused.value.code == "secret"


@pytest.mark.parametrize(
    ("values", "code"),
    [
        ({"auth": "bearer"}, "secret"),
        ({"auth": "bearer", "secret": "two\nlines"}, "secret"),
        ({"auth": "bearer", "secret": "a b"}, "secret"),
        ({"auth": "basic", "secret": "x"}, "username"),
        ({"auth": "basic", "username": "a:b", "secret": "x"}, "username"),
        ({"auth": "digest", "secret": "x"}, "auth"),
        ({"every_s": 5}, "every_s"),
    ],
)
def test_what_cannot_be_sent_is_refused(set_source: Any, values: dict[str, Any], code: str) -> None:
    with pytest.raises(Invalid) as refused:
        set_source(**values)
    assert refused.value.code == code


def test_the_api_takes_a_token_and_gives_back_only_that_there_is_one(
    api: Any, cluster: Any, ada: Any
) -> None:
    address = f"/api/v1/metrics-sources/{cluster.slug}/"
    body = {"url": "https://prometheus.example.com", "auth": "bearer", "secret": SECRET}
    answer = api(ada).put(address, body, format="json", headers={"If-Match": '"v0"'})
    assert answer.status_code == 200, answer.content
    assert answer.json()["has_secret"] is True
    assert SECRET not in answer.content.decode() + api(ada).get(address).content.decode()
    gone = api(ada).delete(address, headers={"If-Match": '"v1"'})
    assert (gone.status_code, MetricsSource.objects.exists()) == (204, False)


def test_a_server_is_removed_with_its_token_by_who_saw_it_last(
    set_source: Any, cluster: Any, actor_for: Any, ada: Any
) -> None:
    set_source(auth="bearer", secret=SECRET)
    with pytest.raises(Stale):
        services.remove_metrics_source(actor=actor_for(ada), cluster_id=cluster.pk, expected_version=7)
    services.remove_metrics_source(actor=actor_for(ada), cluster_id=cluster.pk, expected_version=1)
    assert not MetricsSource.objects.exists()
    assert AuditEvent.objects.filter(action="health.metrics_source_removed").count() == 1


def test_it_can_be_asked_at_once(set_source: Any, cluster: Any, client_of: Any, ada: Any) -> None:
    set_source()
    answer = client_of(ada).post(reverse("health:fetch_metrics", args=[cluster.slug]))
    job = Job.objects.get(kind="portal.fetch_metrics")
    assert answer.headers["Location"] == reverse("jobs:job", args=[job.pk])
    assert job.arguments == {"cluster_id": cluster.pk}
