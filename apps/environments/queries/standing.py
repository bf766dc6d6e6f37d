"""Where domains stand: the matrix in force, the last known-good, drafts and the newest check of each."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db.models import Max, Q, QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.environments.models import DriftCheck, MatrixState, MatrixVersion
from apps.fleet.models import Domain
from apps.fleet.queries import clusters_visible


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainStanding:
    """One domain: what it is held against, what it was good with, what is being drafted, and its newest check.

    wide: the matrix of the whole cluster where it holds beneath the domain's own.
    """

    domain: Domain
    in_force: MatrixVersion | None
    wide: MatrixVersion | None
    known_good: MatrixVersion | None
    drafts: tuple[MatrixVersion, ...]
    check: DriftCheck | None


def domains_visible(actor: Actor) -> QuerySet[Domain]:
    """Domains that are not retired, of clusters that the actor may read, by cluster and name."""
    rows = Domain.objects.filter(retired_at__isnull=True, cluster__in=clusters_visible(actor))
    return rows.select_related("cluster").order_by("cluster__name", "name")


def domain_for(actor: Actor, domain_id: int, right: Right = Right.READ) -> Domain:
    """One domain, retired ones too. Raises Missing, NotAllowed."""
    domain = Domain.objects.select_related("cluster").filter(pk=domain_id).first()
    if domain is None or not actor.may(Right.READ, domain.cluster.scope_id):
        raise Missing(_("there is no such domain, or you may not see it"))
    actor.require(right, domain.cluster.scope_id)
    return domain


def domain_standings(domains: Iterable[Domain]) -> list[DomainStanding]:
    """Each domain with its versions and newest check, in three queries however many there are."""
    rows = list(domains)
    versions = _versions_by_home({domain.cluster_id for domain in rows})
    checks = newest_checks(rows)
    return [_standing(domain, versions, checks.get(domain.pk)) for domain in rows]


def newest_checks(domains: Iterable[Domain]) -> dict[int, DriftCheck]:
    """Domain id to its newest check, without the heat maps; domains without a check are left out."""
    newest = (
        DriftCheck.objects.filter(domain__in=[domain.pk for domain in domains])
        .order_by()
        .values("domain")
        .annotate(newest=Max("id"))
    )
    rows = DriftCheck.objects.filter(pk__in=[row["newest"] for row in newest])
    return {row.domain_id: row for row in rows.defer("groups")}


_Home = tuple[int, int | None]  # cluster, and domain (None: the whole cluster)


def _versions_by_home(cluster_ids: Iterable[int]) -> dict[_Home, list[MatrixVersion]]:
    rows = MatrixVersion.objects.filter(matrix__cluster_id__in=list(cluster_ids))
    rows = rows.filter(~Q(state=MatrixState.RETIRED) | Q(known_good_at__isnull=False))
    found: dict[_Home, list[MatrixVersion]] = defaultdict(list)
    for version in rows.select_related("matrix", "created_by").order_by("-id"):
        found[version.matrix.cluster_id, version.matrix.domain_id].append(version)
    return found


def _standing(
    domain: Domain, versions: dict[_Home, list[MatrixVersion]], check: DriftCheck | None
) -> DomainStanding:
    own = versions.get((domain.cluster_id, domain.pk), [])
    wide = versions.get((domain.cluster_id, None), [])
    in_force = _newest_locked(own)
    return DomainStanding(
        domain=domain,
        in_force=in_force or _newest_locked(wide),
        wide=_newest_locked(wide) if in_force else None,
        known_good=_newest_good(own) or _newest_good(wide),
        drafts=tuple(version for version in own if version.state == MatrixState.DRAFT),
        check=check,
    )


def _newest_locked(versions: Sequence[MatrixVersion]) -> MatrixVersion | None:
    dated = [
        (one.locked_at, one.pk, one) for one in versions if one.state == MatrixState.LOCKED and one.locked_at
    ]
    return max(dated, key=lambda row: row[:2])[2] if dated else None


def _newest_good(versions: Sequence[MatrixVersion]) -> MatrixVersion | None:
    dated = [(one.known_good_at, one.pk, one) for one in versions if one.known_good_at]
    return max(dated, key=lambda row: row[:2])[2] if dated else None
