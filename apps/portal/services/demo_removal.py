"""Removing the demonstration fleet whole: everything that hangs on its cluster, found by the models themselves.

The audit trail keeps what was done with it; triggers let go of kept decisions only for demonstration clusters.
"""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator

from django.db import models
from django.db.models import Exists, OuterRef

from apps.accounts.models import Person, PersonKind, RoleGrant, Scope
from apps.accounts.services import leave
from apps.audit.services import decision, record
from apps.core.actor import Actor
from apps.core.errors import Conflict, Missing
from apps.core.rights import Role
from apps.core.texts import say
from apps.evidence.models import Evidence, EvidenceReading, Receipt
from apps.fleet.models import Cluster

DEMO_ADDRESSES = "@demo.example"
REMOVED = "demo.removed"  # the action of a removal
_BATCH = 500
Rows = dict[type[models.Model], set[object]]


@decision
def remove(*, actor: Actor) -> Counter[str]:
    """Remove every demonstration cluster with all that belongs to it, and let its people and service accounts leave.

    Gives back how many rows of each model went. Raises Missing where there is none, Conflict where nobody else
    is administrator.
    """
    if not Cluster.objects.filter(is_demo=True).exists():
        raise Missing(say("no demonstration fleet is loaded"))
    _require_another_admin()
    leaving = [*_people(), *_service_accounts()]
    removed = remove_clusters(actor=actor)
    for person_id in leaving:
        leave(person_id=person_id, actor=actor, reason="the demonstration was removed")
    return removed


@decision
def remove_clusters(*, actor: Actor) -> Counter[str]:
    """Remove every demonstration cluster with all that belongs to it; its people stay. Gives back as remove."""
    removed: Counter[str] = Counter()
    for cluster in Cluster.objects.filter(is_demo=True):
        rows = _belonging_to(cluster)
        for model in sorted(rows, key=lambda model: -_depth(model, rows)):
            for batch in _batches(rows[model]):
                removed[model._meta.label] += model._base_manager.filter(pk__in=batch)._raw_delete(
                    using="default"
                )
        record(actor=actor, action=REMOVED, on=cluster, after={"rows": sum(removed.values())})
    if removed:
        _drop_unused_evidence()
    return removed


def _people() -> list[int]:
    """Ids of the demonstration's people who have not left."""
    people = Person.objects.filter(email__endswith=DEMO_ADDRESSES, is_active=True)
    return list(people.order_by("id").values_list("pk", flat=True))


def _service_accounts() -> list[int]:
    """Ids of the service accounts that have roles in demonstration clusters and nowhere else."""
    scopes = Cluster.objects.filter(is_demo=True).values("scope")
    here = RoleGrant.objects.filter(person=OuterRef("pk"), scope__in=scopes)
    elsewhere = RoleGrant.objects.filter(person=OuterRef("pk")).exclude(scope__in=scopes)
    accounts = Person.objects.filter(kind=PersonKind.SERVICE, is_active=True)
    found = accounts.filter(Exists(here), ~Exists(elsewhere))
    return list(found.order_by("id").values_list("pk", flat=True))


def _require_another_admin() -> None:
    others = Person.objects.filter(is_active=True).exclude(email__endswith=DEMO_ADDRESSES)
    admins = RoleGrant.objects.filter(role=Role.ADMIN.value, scope__isnull=True).values("person")
    if not (others.filter(pk__in=admins) | others.filter(is_superuser=True)).exists():
        raise Conflict(
            say("only a demonstration person is administrator; run create_admin first"), code="last_admin"
        )


def _belonging_to(cluster: Cluster) -> Rows:
    """The cluster, its scope, and every row that points at them through any chain of foreign keys."""
    rows: Rows = defaultdict(set)
    rows[Cluster].add(cluster.pk)
    rows[Scope].add(cluster.scope_id)
    waiting: list[tuple[type[models.Model], set[object]]] = [(model, set(ids)) for model, ids in rows.items()]
    while waiting:
        model, ids = waiting.pop()
        for pointing, field in _pointing_at(model):
            found: set[object] = set()
            for batch in _batches(ids):
                found |= set(
                    pointing._base_manager.filter(**{f"{field}__in": batch}).values_list("pk", flat=True)
                )
            if fresh := found - rows[pointing]:
                rows[pointing] |= fresh
                waiting.append((pointing, fresh))
    return {model: ids for model, ids in rows.items() if ids}


def _pointing_at(model: type[models.Model]) -> Iterator[tuple[type[models.Model], str]]:
    """Models with a foreign key to this one, and its name; tables of many-to-many fields are among them."""
    for relation in model._meta.get_fields(include_hidden=True):
        if isinstance(relation, models.ManyToOneRel) and relation.related_model is not Person:
            yield relation.related_model, relation.field.name


def _depth(model: type[models.Model], rows: Rows, seen: frozenset[type[models.Model]] = frozenset()) -> int:
    """How many foreign keys lie between a model and the cluster at most; what lies deepest goes first."""
    if model in seen:
        return 0
    targets = {
        field.related_model
        for field in model._meta.concrete_fields
        if isinstance(field, models.ForeignKey) and field.related_model in rows
    } - {model}
    return max((1 + _depth(target, rows, seen | {model}) for target in targets), default=0)


def _drop_unused_evidence() -> None:
    """Evidence that nobody delivered any more; its bytes go with the next sweep."""
    used = Receipt.objects.filter(evidence__isnull=False).values("evidence")
    unused = list(Evidence.objects.exclude(pk__in=used).values_list("pk", flat=True))
    for batch in _batches(set(unused)):
        EvidenceReading.objects.filter(evidence_id__in=batch).delete()
        Evidence.objects.filter(pk__in=batch).delete()


def _batches(ids: set[object]) -> Iterator[list[object]]:
    ordered = sorted(ids, key=str)
    for start in range(0, len(ordered), _BATCH):
        yield ordered[start : start + _BATCH]
