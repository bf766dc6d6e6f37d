"""Metrics that a Prometheus server holds: where it is, and fetching them."""

from __future__ import annotations

import re

import httpx
from django.db import IntegrityError, transaction
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import FieldError, Invalid, Stale
from apps.core.rights import Right
from apps.fleet.models import Cluster
from apps.health.engine import prometheus
from apps.health.models import MetricsSource
from apps.jobs import guarded_http
from apps.jobs.services.webhooks import allowed_addresses, is_callable

WITHIN_S = 60
LIMIT_ANSWER_BYTES = 64 * 2**20
_LABEL = re.compile(r"[A-Za-z_][A-Za-z0-9_]{0,59}")


@decision
def set_metrics_source(
    *, actor: Actor, cluster_id: int, expected_version: int, url: str, host_label: str, enabled: bool
) -> MetricsSource:
    """Say where the cluster's Prometheus is. expected_version: 0 where none was seen.

    url: https, or http for hosts that PORTAL_WEBHOOK_ALLOW names; private addresses have to be named there too.
    Raises Invalid (url, host_label), NotAllowed (role), Stale.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.ADMIN, cluster.scope_id)
    address = url.strip().rstrip("/")
    if not is_callable(address) or "?" in address or "#" in address:
        message = _("an https address; http only for hosts in PORTAL_WEBHOOK_ALLOW")
        raise Invalid(message, code="url", errors=[FieldError(pointer="/url", message=message)])
    if not _LABEL.fullmatch(host_label):
        message = _("a label such as Hostname or instance")
        raise Invalid(message, code="host_label", errors=[FieldError(pointer="/host_label", message=message)])
    before = MetricsSource.objects.filter(cluster=cluster).first()
    after: dict[str, str | bool] = {"url": address, "host_label": host_label, "enabled": enabled}
    if not _write(cluster, expected_version, after):
        raise Stale(_("the settings were changed meanwhile; look at them again"))
    record(
        actor=actor,
        action="health.metrics_source_set",
        on=cluster,
        scope_id=cluster.scope_id,
        before={key: getattr(before, key) for key in after} if before else None,
        after=after,
    )
    return MetricsSource.objects.get(cluster=cluster)


def fetch_metrics(source: MetricsSource) -> dict[str, str]:
    """Host to its samples as Prometheus text, and a note on the source of how it went.

    Raises Invalid (metrics_source) where the server does not answer as Prometheus does; the source says why.
    """
    try:
        answers = [_ask(source.url, query) for query in prometheus.QUERIES]
        texts = prometheus.texts_by_host(answers, host_label=source.host_label)
    except (httpx.TransportError, httpx.InvalidURL, ValueError, Invalid) as fault:
        error = str(fault) or type(fault).__name__
        _note(source, error=error, host_count=0)
        raise Invalid(error, code="metrics_source") from fault
    _note(source, error="", host_count=len(texts))
    return texts


def _ask(url: str, query: str) -> object:
    answer = guarded_http.get(
        f"{url}/api/v1/query",
        params={"query": query},
        allowed=allowed_addresses(),
        within_s=WITHIN_S,
        at_most_bytes=LIMIT_ANSWER_BYTES,
    )
    if answer.status_code != httpx.codes.OK:
        raise Invalid(f"Prometheus answers {answer.status_code}", code="metrics_source")
    return answer.json()


def _note(source: MetricsSource, *, error: str, host_count: int) -> None:
    MetricsSource.objects.filter(pk=source.pk).update(
        asked_at=clock.now(), error=error[:300], host_count=host_count
    )


def _write(cluster: Cluster, expected_version: int, values: dict[str, str | bool]) -> bool:
    if expected_version == 0:
        try:
            with transaction.atomic():
                MetricsSource.objects.create(cluster=cluster, **values)
        except IntegrityError:
            return False
        return True
    rows = MetricsSource.objects.filter(cluster=cluster, version=expected_version)
    return bool(rows.update(**values, version=expected_version + 1))
