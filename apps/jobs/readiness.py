"""Whether the portal can do its work: database, migrations, triggers, broker, a worker."""

from __future__ import annotations

import os
from pathlib import Path

from celery import current_app
from django.conf import settings
from django.db import DatabaseError, connection
from django.db.migrations.executor import MigrationExecutor
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe
from kombu.exceptions import OperationalError as BrokerError

from apps.core import clock, triggers
from apps.jobs import queries

_BROKER_WITHIN_S = 2


@require_safe
@never_cache
def readyz(request: HttpRequest) -> HttpResponse:
    """200 where all is at hand, else 503; each check is "ok" or says in a word what is missing.

    A missing worker or broker is told too: pages work without them, but no job is done.
    """
    checks = {"database": _database()}
    reachable = checks["database"] == "ok"
    checks["migrations"] = _migrations() if reachable else "unknown"
    checks["triggers"] = _triggers() if checks["migrations"] == "ok" else "unknown"
    checks["broker"] = _broker()
    checks["worker"] = _worker() if checks["migrations"] == "ok" else "unknown"
    ready = all(found == "ok" for found in checks.values())
    body = {"status": "ok" if ready else "not ready", "checks": checks}
    return JsonResponse(body, status=200 if ready else 503)


def _database() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        return "unreachable"
    return "ok"


def _migrations() -> str:
    executor = MigrationExecutor(connection)
    return "pending" if executor.migration_plan(executor.loader.graph.leaf_nodes()) else "ok"


def _triggers() -> str:
    """A restore or a tool that rebuilds tables can lose what keeps the trail append-only."""
    missing = triggers.missing()
    return f"missing: {', '.join(missing)}" if missing else "ok"


def _broker() -> str:
    if settings.BROKER_URL.startswith("filesystem"):
        queue = Path(settings.DATA_DIR) / "broker" / "queue"
        return "ok" if not queue.exists() or os.access(queue, os.W_OK) else "unreachable"
    try:
        with current_app.connection_for_write(connect_timeout=_BROKER_WITHIN_S) as broker:
            broker.ensure_connection(max_retries=0, timeout=_BROKER_WITHIN_S)
    except (OSError, BrokerError):
        return "unreachable"
    return "ok"


def _worker() -> str:
    return "ok" if queries.worker_seen(clock.now()) else "not seen"
