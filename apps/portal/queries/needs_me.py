"""What waits for one person: approvals, reviews, signatures, waivers, drift that fails, and nodes that should leave."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Min, Q, QuerySet
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _
from django.utils.translation import ngettext

from apps.changes.engine.states import State
from apps.changes.models import ChangeKind
from apps.changes.queries import changes_visible
from apps.core import clock
from apps.core.actor import Actor
from apps.core.hostlist import fold
from apps.core.rights import Right
from apps.core.speech import said
from apps.core.verdicts import Verdict
from apps.environments.queries import open_findings
from apps.fleet.models import Cluster, NodeHealth
from apps.health.engine.quarantine import HeldBack, Step
from apps.health.queries import NodeProposal, proposals
from apps.launches.engine.standing import Standing
from apps.launches.models import LaunchState, Waiver
from apps.launches.queries import launches_visible
from apps.launches.queries.launches import decisions_of
from apps.launches.words import ITEMS

_LONGEST_LIST = 80  # characters of a node list that stands in one entry


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
    found = [
        *_approvals(actor),
        *_reviews(actor),
        *_signatures(actor),
        *_waivers(actor),
        *_failing_drift(actor),
        *_quarantines(actor),
    ]
    return sorted(found, key=lambda item: item.since)[:limit]


def _where(actor: Actor, right: Right, rows: QuerySet, path: str) -> QuerySet:
    scopes = actor.scope_ids(right)
    return rows if scopes is None else rows.filter(**{f"{path}__in": scopes})


def _approvals(actor: Actor) -> list[Waiting]:
    rows = changes_visible(actor).filter(state=State.SUBMITTED.value)
    rows = _where(actor, Right.APPROVE, rows, "cluster__scope_id")
    rows = rows.exclude(requester_id=actor.person_id).exclude(editors__person_id=actor.person_id)
    rows = rows.exclude(approvals__person_id=actor.person_id)
    return [
        Waiting(
            action=_("Approve or refuse"),
            title=said(change.named),
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
            title=said(change.named),
            place=change.domain.name,
            since=change.created_at,
            url=reverse("changes:change", args=[change.pk]),
            state=change.state,
        )
        for change in rows[:20]
    ]


def _signatures(actor: Actor) -> list[Waiting]:
    rows = launches_visible(actor).filter(state__in=(LaunchState.OPEN, LaunchState.RUNNING))
    rows = rows.exclude(editors__person_id=actor.person_id)
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


def _waivers(actor: Actor) -> list[Waiting]:
    launches = launches_visible(actor).filter(state=LaunchState.OPEN)
    rows = Waiver.objects.filter(
        launch__in=launches, approved_at=None, revoked_at=None, expires_at__gt=clock.now()
    ).exclude(requested_by_id=actor.person_id)
    rows = _where(actor, Right.SIGN, rows, "launch__cluster__scope_id").select_related("launch__domain")
    return [
        Waiting(
            action=_("Approve the waiver"),
            title=f"{ITEMS.get(waiver.item, waiver.item)} · {waiver.launch.title}",
            place=waiver.launch.domain.name,
            since=waiver.requested_at,
            url=reverse("launches:launch", args=[waiver.launch_id]),
            state=State.SUBMITTED.value,
        )
        for waiver in rows[:20]
    ]


def _failing_drift(actor: Actor) -> list[Waiting]:
    """Each domain whose drift fails, for who operates there; findings that somebody else has taken on are theirs."""
    rows = open_findings().filter(
        Q(owner__isnull=True) | Q(owner_id=actor.person_id),
        verdict=Verdict.FAIL,
        domain__retired_at__isnull=True,
    )
    by_domain = (
        _where(actor, Right.OPERATE, rows, "domain__cluster__scope_id")
        .order_by("domain_id")
        .values("domain_id", "domain__name")
        .annotate(findings=Count("pk"), nodes=Count("node", distinct=True), since=Min("first_seen_at"))
    )
    return [
        Waiting(
            action=_("Settle the drift"),
            title=_drift_in_words(row["findings"], row["nodes"]),
            place=row["domain__name"],
            since=row["since"],
            url=reverse("environments:drift", args=[row["domain_id"]]),
            state=Verdict.FAIL.value,
        )
        for row in by_domain[:20]
    ]


def _drift_in_words(findings: int, nodes: int) -> str:
    what = ngettext("%(n)s failing finding", "%(n)s failing findings", findings) % {"n": f"{findings:,}"}
    where = ngettext("on %(n)s node", "on %(n)s nodes", nodes) % {"n": f"{nodes:,}"}
    return _("%(what)s %(where)s") % {"what": what, "where": where}


def _named(names: list[str]) -> str:
    """The nodes as a node list, or how many there are where that would fill the page."""
    text, number = fold(names), len(names)
    if len(text) <= _LONGEST_LIST:
        return text
    return ngettext("%(number)s node", "%(number)s nodes", number) % {"number": f"{number:,}"}


def _quarantines(actor: Actor) -> list[Waiting]:
    """Each cluster with nodes that should be in quarantine, unless a person has said otherwise."""
    by_cluster: dict[Cluster, list[NodeProposal]] = defaultdict(list)
    for one in proposals(actor):
        is_open = one.held is None and one.proposal.held_back is not HeldBack.PERSON
        may = actor.may(Right.OPERATE, one.node.cluster.scope_id)
        if one.proposal.step is Step.QUARANTINE and is_open and may:
            by_cluster[one.node.cluster].append(one)
    return [
        Waiting(
            action=_("Decide on quarantine"),
            title=_named([one.node.name for one in found]),
            place=cluster.name,
            since=min(one.since for one in found if one.since is not None),
            url=f"{reverse('health:overview')}?cluster={cluster.slug}",
            state=NodeHealth.FAULTY.value,
        )
        for cluster, found in by_cluster.items()
    ]
