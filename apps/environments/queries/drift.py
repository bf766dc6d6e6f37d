"""Drift: the checks of domains, and what is open."""

from __future__ import annotations

from collections.abc import Iterable

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.environments.models import DriftCheck, DriftFinding
from apps.fleet.models import Domain

_VERSIONS = ("matrix_version__matrix", "wide_version__matrix")


def newest_check(domain: Domain) -> DriftCheck | None:
    """The newest check of a domain; None where none was made yet."""
    return DriftCheck.objects.filter(domain=domain).select_related(*_VERSIONS).first()


def checks_visible(actor: Actor) -> QuerySet[DriftCheck]:
    """Checks of domains that the actor may read, newest first."""
    rows = DriftCheck.objects.select_related("domain__cluster", *_VERSIONS)
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(domain__cluster__scope_id__in=scopes)


def open_findings(
    *, node_ids: Iterable[int] | None = None, domain: Domain | None = None
) -> QuerySet[DriftFinding]:
    """Findings that are not resolved, of these nodes or of a domain, with node and owner joined."""
    rows = DriftFinding.objects.filter(resolved_at__isnull=True).select_related("node", "owner", "domain")
    if node_ids is not None:
        rows = rows.filter(node_id__in=list(node_ids))
    return rows if domain is None else rows.filter(domain=domain)


def findings_visible(actor: Actor) -> QuerySet[DriftFinding]:
    """Findings in clusters that the actor may read, resolved ones too, newest first."""
    rows = DriftFinding.objects.select_related("node", "owner", "domain__cluster")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(domain__cluster__scope_id__in=scopes)


def finding_for(actor: Actor, finding_id: int, right: Right = Right.READ) -> DriftFinding:
    """One finding. Raises Missing, NotAllowed."""
    finding = findings_visible(actor).filter(pk=finding_id).first()
    if finding is None:
        raise Missing(_("there is no such finding, or you may not see it"))
    actor.require(right, finding.domain.cluster.scope_id)
    return finding
