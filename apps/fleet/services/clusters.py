"""Clusters: made with a scope of their own, edited with the version that was seen."""

from __future__ import annotations

import itertools

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.text import slugify
from django.utils.translation import gettext as _

from apps.accounts.models import Scope
from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Stale
from apps.core.reasons import says_something
from apps.core.rights import Right, TokenScope
from apps.core.texts import say
from apps.fleet.models import Cluster


@decision
def create_cluster(
    *,
    actor: Actor,
    name: str,
    slug: str = "",
    description: str = "",
    owner_team: str = "",
    is_demo: bool = False,
) -> Cluster:
    """A new cluster and the scope in which roles hold. Needs OPERATE everywhere.

    slug: "" for one made of the name, or of a number where the name has no letter or digit that a slug may hold.
    Raises Invalid (name, slug), Conflict where the slug is taken.
    """
    actor.require(Right.OPERATE, None)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    slug = slug or slugify(name) or _free_slug()
    if not says_something(name) or slug != slugify(slug) or not slug:
        message = _("small letters, digits and dashes, such as train-a")
        raise Invalid(_("name and slug are needed"), errors=[FieldError(pointer="/slug", message=message)])
    try:
        with transaction.atomic():
            scope = Scope.objects.create(slug=slug, name=name.strip())
            cluster = Cluster.objects.create(
                scope=scope,
                slug=slug,
                name=name.strip(),
                description=description,
                owner_team=owner_team,
                is_demo=is_demo,
            )
    except IntegrityError as error:
        taken = say("there is a cluster %(slug)s already", slug=f"{slug!r}")
        raise Conflict(
            taken, code="slug_taken", errors=[FieldError(pointer="/slug", message=taken)]
        ) from error
    record(actor=actor, action="cluster.created", on=cluster, scope_id=scope.pk, after=_facts(cluster))
    return cluster


@decision
def edit_cluster(
    *, actor: Actor, cluster_id: int, expected_version: int, name: str, description: str, owner_team: str
) -> Cluster:
    """Change what people read about a cluster. Raises Stale where somebody edited it meanwhile."""
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.OPERATE, cluster.scope_id)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    if not says_something(name):
        raise Invalid(
            _("a cluster has a name"), errors=[FieldError(pointer="/name", message=_("say a name"))]
        )
    before = _facts(cluster)
    moved = Cluster.objects.filter(pk=cluster_id, version=expected_version).update(
        name=name.strip(), description=description, owner_team=owner_team, version=F("version") + 1
    )
    if not moved:
        raise Stale(version=cluster.version)
    cluster.refresh_from_db()
    if _facts(cluster) != before:
        record(
            actor=actor,
            action="cluster.edited",
            on=cluster,
            scope_id=cluster.scope_id,
            before=before,
            after=_facts(cluster),
        )
    return cluster


def _free_slug() -> str:
    """Such as cluster-2: the first that no scope bears yet."""
    taken = set(Scope.objects.filter(slug__startswith="cluster-").values_list("slug", flat=True))
    return next(slug for number in itertools.count(1) if (slug := f"cluster-{number}") not in taken)


def _facts(cluster: Cluster) -> dict[str, object]:
    return {
        "slug": cluster.slug,
        "name": cluster.name,
        "description": cluster.description,
        "owner_team": cluster.owner_team,
        "is_demo": cluster.is_demo,
    }
