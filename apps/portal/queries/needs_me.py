"""What waits for one person: approvals, signatures, reviews, and what went wrong."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.changes.engine.states import State
from apps.changes.models import ChangeKind
from apps.changes.queries import changes_visible
from apps.core.actor import Actor
from apps.core.rights import Right
from apps.launches.engine.standing import Standing
from apps.launches.models import LaunchState
from apps.launches.queries import launches_visible
from apps.launches.queries.launches import decisions_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Waiting:
    """One thing that waits for the reader: what to do, with what, since when, and where."""

    action: str | Promise
    title: str
    place: str
    since: datetime
    url: str
    state: str


def waiting_for(actor: Actor, *, limit: int = 20) -> list[Waiting]:
    """What the actor, and nobody who has a hand in it already, can move on; oldest first."""
    found = [*_approvals(actor), *_reviews(actor), *_signatures(actor)]
    return sorted(found, key=lambda item: item.since)[:limit]


def _where(actor: Actor, right: Right, rows: QuerySet, path: str) -> QuerySet:
    scopes = actor.scope_ids(right)
    return rows if scopes is None else rows.filter(**{f"{path}__in": scopes})


def _approvals(actor: Actor) -> list[Waiting]:
    rows = changes_visible(actor).filter(state=State.SUBMITTED.value)
    rows = _where(actor, Right.APPROVE, rows, "cluster__scope_id")
    rows = rows.exclude(requester_id=actor.person_id).exclude(last_editor_id=actor.person_id)
    rows = rows.exclude(approvals__person_id=actor.person_id)
    return [
        Waiting(
            action=_("Approve or refuse"),
            title=str(change),
            place=change.domain.name,
            since=change.submitted_at or change.created_at,
            url=reverse("changes:change", args=[change.pk]),
            state=change.state,
        )
        for change in rows[:20]
    ]


def _reviews(actor: Actor) -> list[Waiting]:
    rows = changes_visible(actor).filter(kind=ChangeKind.ROLLBACK, reviewed_at__isnull=True)
    rows = _where(actor, Right.APPROVE, rows, "cluster__scope_id").exclude(requester_id=actor.person_id)
    return [
        Waiting(
            action=_("Review the rollback"),
            title=str(change),
            place=change.domain.name,
            since=change.created_at,
            url=reverse("changes:change", args=[change.pk]),
            state=change.state,
        )
        for change in rows[:20]
    ]


def _signatures(actor: Actor) -> list[Waiting]:
    rows = launches_visible(actor).filter(state=LaunchState.OPEN).exclude(opened_by_id=actor.person_id)
    rows = _where(actor, Right.SIGN, rows, "cluster__scope_id")
    launches = list(rows[:20])
    decided_on = decisions_of(launches)
    return [
        Waiting(
            action=_("Sign"),
            title=launch.title,
            place=launch.domain.name,
            since=decided.evaluation.done_at or launch.opened_at,
            url=reverse("launches:launch", args=[launch.pk]),
            state=decided.standing.value,
        )
        for launch in launches
        if (decided := decided_on[launch.pk]).standing is Standing.NEEDS_SIGNOFF and decided.evaluation
    ]
