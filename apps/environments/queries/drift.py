"""Drift: the newest check of a domain, and what is open."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet

from apps.environments.models import DriftCheck, DriftFinding
from apps.fleet.models import Domain


def newest_check(domain: Domain) -> DriftCheck | None:
    """The newest check of a domain; None where none was made yet."""
    return DriftCheck.objects.filter(domain=domain).select_related("matrix_version__matrix").first()


def open_findings(
    *, node_ids: Iterable[int] | None = None, domain: Domain | None = None
) -> QuerySet[DriftFinding]:
    """Findings that are not resolved, of these nodes or of a domain, with node and owner joined."""
    rows = DriftFinding.objects.filter(resolved_at__isnull=True).select_related("node", "owner", "domain")
    if node_ids is not None:
        rows = rows.filter(node_id__in=list(node_ids))
    return rows if domain is None else rows.filter(domain=domain)
