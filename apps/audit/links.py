"""Pages of the objects that events are about."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from django.urls import NoReverseMatch, reverse

from apps.audit import directory
from apps.audit.models import AuditEvent

# Objects whose page needs nothing but their id. Apps whose pages need more introduce a finder to the directory.
_PAGES = {
    "benchmarks.benchmarkrun": "benchmarks:run",
    "changes.change": "changes:change",
    "environments.matrix": "environments:matrix",
    "environments.matrixversion": "environments:version",
    "evidence.receipt": "evidence:receipt",
    "health.faultrecord": "health:fault",
    "health.maintenancetask": "health:task",
    "jobs.job": "jobs:job",
    "launches.launch": "launches:launch",
    "planning.plan": "planning:plan",
}


def pages_of(rows: Iterable[AuditEvent]) -> dict[tuple[str, str], str]:
    """(type, id) of the events' objects to the address of their page, where there is one. One query a type at most."""
    by_type: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        by_type[row.object_type].add(row.object_id)
    found = {}
    for kind, ids in by_type.items():
        finder = directory.page_finder(kind)
        pages = finder(ids) if finder else {one: _page(kind, one) for one in ids}
        found.update({(kind, one): page for one, page in pages.items() if page})
    return found


def _page(kind: str, object_id: str) -> str:
    name = _PAGES.get(kind)
    if name is None:
        return ""
    try:
        return reverse(name, args=[object_id])
    except NoReverseMatch:  # an id that somebody forged
        return ""
