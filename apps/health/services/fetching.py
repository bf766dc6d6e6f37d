"""Fetching the metrics that a Prometheus server holds, and a note on its source of how that went."""

from __future__ import annotations

import base64

import httpx

from apps.core import clock
from apps.core.errors import Invalid
from apps.core.sealed import CannotOpen, unseal
from apps.core.texts import say
from apps.health.engine import prometheus
from apps.health.models import MetricsAuth, MetricsSource
from apps.health.services.metrics import purpose_of
from apps.jobs import guarded_http
from apps.jobs.services.webhooks import allowed_addresses

WITHIN_S = 60
LIMIT_ANSWER_BYTES = 64 * 2**20


def fetch_metrics(source: MetricsSource) -> dict[str, str]:
    """Host to its samples as Prometheus text, and a note on the source of how it went.

    Raises Invalid (metrics_source) where the server does not answer as Prometheus does; the source says why.
    """
    try:
        headers = _credentials(source)
        answers = [_ask(source.url, query, headers) for query in prometheus.QUERIES]
        texts = prometheus.texts_by_host(answers, host_label=source.host_label)
    except (httpx.TransportError, httpx.InvalidURL, ValueError, Invalid) as fault:
        error = str(fault) or type(fault).__name__
        _note(source, error=error, host_count=0)
        raise Invalid(error, code="metrics_source") from fault
    _note(source, error="", host_count=len(texts))
    return texts


def _credentials(source: MetricsSource) -> dict[str, str]:
    """The header that says who asks; none where the server does not want to know."""
    if source.auth == MetricsAuth.NONE:
        return {}
    try:
        secret = unseal(source.secret, purpose=purpose_of(source.cluster_id))
    except CannotOpen as error:
        message = say(
            "the token or password can no longer be opened (PORTAL_SECRET_KEY changed); set it anew"
        )
        raise Invalid(message, code="metrics_source") from error
    if source.auth == MetricsAuth.BEARER:
        return {"authorization": f"Bearer {secret}"}
    pair = base64.b64encode(f"{source.username}:{secret}".encode()).decode("ascii")
    return {"authorization": f"Basic {pair}"}


def _ask(url: str, query: str, headers: dict[str, str]) -> object:
    answer = guarded_http.get(
        f"{url}/api/v1/query",
        params={"query": query},
        headers=headers,
        allowed=allowed_addresses(),
        within_s=WITHIN_S,
        at_most_bytes=LIMIT_ANSWER_BYTES,
    )
    if answer.status_code != httpx.codes.OK:
        raise Invalid(
            say("Prometheus answers %(status_code)s", status_code=answer.status_code), code="metrics_source"
        )
    try:
        return answer.json()
    except (ValueError, RecursionError) as error:
        raise Invalid(say("this is no answer of Prometheus"), code="metrics_source") from error


def _note(source: MetricsSource, *, error: str, host_count: int) -> None:
    MetricsSource.objects.filter(pk=source.pk).update(
        asked_at=clock.now(), error=error[:300], host_count=host_count
    )
