"""Matrices: which there are, which one is in force, and which was known to be good."""

from __future__ import annotations

from django.db.models import Count, Q, QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Missing
from apps.core.rights import Right
from apps.environments.models import Matrix, MatrixState, MatrixVersion
from apps.fleet.models import Domain

MOST_ELSEWHERE = 100


def matrices_visible(actor: Actor) -> QuerySet[Matrix]:
    """Matrices of clusters that the actor may read, by name."""
    rows = Matrix.objects.select_related("cluster", "domain").order_by("cluster__name", "name")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(cluster__scope_id__in=scopes)


def matrix_for(actor: Actor, matrix_id: int) -> Matrix:
    """One matrix with its cluster and domain. Raises Missing."""
    matrix = matrices_visible(actor).filter(pk=matrix_id).first()
    if matrix is None:
        raise Missing(_("there is no such matrix, or you may not see it"))
    return matrix


def versions_of(matrix: Matrix) -> QuerySet[MatrixVersion]:
    """All versions of a matrix, newest first, with who made and locked them and how much they ask for."""
    rows = matrix.versions.select_related("matrix", "created_by", "locked_by").order_by("-number")
    return rows.annotate(entry_count=Count("entries"))


def versions_visible(actor: Actor) -> QuerySet[MatrixVersion]:
    """Versions of those matrices, newest first, with their matrix joined."""
    rows = MatrixVersion.objects.select_related(
        "matrix__cluster", "matrix__domain", "created_by", "locked_by"
    ).order_by("-id")
    scopes = actor.scope_ids(Right.READ)
    return rows if scopes is None else rows.filter(matrix__cluster__scope_id__in=scopes)


def in_use_elsewhere(versions: QuerySet[MatrixVersion]) -> QuerySet[MatrixVersion]:
    """Of these versions those that others would start from, the newest first: in force, or known-good."""
    return versions.filter(Q(state=MatrixState.LOCKED) | Q(known_good_at__isnull=False))[:MOST_ELSEWHERE]


def matrix_version_for(actor: Actor, version_id: int, right: Right = Right.READ) -> MatrixVersion:
    """One version. Raises Missing, NotAllowed."""
    version = versions_visible(actor).filter(pk=version_id).first()
    if version is None:
        raise Missing(_("there is no such matrix version, or you may not see it"))
    actor.require(right, version.matrix.cluster.scope_id)
    return version


def matrix_in_force(domain: Domain) -> MatrixVersion | None:
    """The newest locked version for the domain itself, else for its whole cluster; None where none is locked."""
    locked = MatrixVersion.objects.filter(state=MatrixState.LOCKED).select_related("matrix")
    own = locked.filter(matrix__domain=domain).order_by("-locked_at", "-id").first()
    return own or _of_cluster(locked, domain)


def beneath(version: MatrixVersion | None, domain: Domain) -> MatrixVersion | None:
    """The locked version for the whole cluster that holds under the domain's own; None where there is none."""
    if version is None or version.matrix.domain_id is None:
        return None
    locked = MatrixVersion.objects.filter(state=MatrixState.LOCKED).select_related("matrix")
    return _of_cluster(locked, domain)


def known_good(domain: Domain) -> MatrixVersion | None:
    """The newest version that was earned known-good here, retired ones too."""
    good = MatrixVersion.objects.filter(known_good_at__isnull=False).select_related("matrix")
    own = good.filter(matrix__domain=domain).order_by("-known_good_at", "-id").first()
    return own or _of_cluster(good, domain, order="-known_good_at")


def _of_cluster(
    rows: QuerySet[MatrixVersion], domain: Domain, *, order: str = "-locked_at"
) -> MatrixVersion | None:
    wide = rows.filter(matrix__cluster_id=domain.cluster_id, matrix__domain__isnull=True)
    return wide.order_by(order, "-id").first()
