"""What the pages of changes show, as plain values."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.http import HttpRequest
from django.utils import timezone
from django.utils.translation import gettext as _

from apps.catalogue.engine.components import components
from apps.changes import queries
from apps.changes.engine.states import EDITABLE, UNDER_WAY, State
from apps.changes.forms import shown_names
from apps.changes.history import history_of, stage_name
from apps.changes.models import Change, ChangeKind, Snapshot, Stage, StageState
from apps.changes.queries.targets import differences_now
from apps.core import clock
from apps.core.actor import Actor
from apps.core.hostlist import fold
from apps.core.paging import page_of
from apps.core.rights import Right
from apps.environments.queries import reported_versions
from apps.environments.words import label_of
from apps.fleet.models import Node
from apps.fleet.page import cluster_context
from apps.fleet.queries import held_by


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """One change in the time line, with what it changes."""

    change: Change
    differences: list[queries.Difference]
    approvers: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class StageShown:
    """One stage with what its gate waits for; reached: how many of its targets were ever reported."""

    stage: Stage
    nodes: str
    node_count: int
    targets: int
    reached: int
    waits: list[queries.Wait] = field(default_factory=list)

    @property
    def name(self) -> str:
        """The stage's name in the reader's language."""
        return stage_name(self.stage.name)


def days_of(changes: Iterable[Change]) -> list[tuple[date, list[Entry]]]:
    """Changes of a page by the day in the reader's zone, newest first. Three queries however many there are."""
    rows = list(changes)
    differences = queries.differences_of([row.pk for row in rows])
    by_day: dict[date, list[Entry]] = defaultdict(list)
    for row in rows:
        approvers = [
            voice.person.name
            for voice in row.approvals.all()
            if voice.approves and voice.content_digest == row.content_digest
        ]
        entry = Entry(change=row, differences=differences.get(row.pk, []), approvers=approvers)
        by_day[timezone.localtime(row.created_at).date()].append(entry)
    return list(by_day.items())


def change_context(request: HttpRequest, actor: Actor, change: Change) -> dict[str, Any]:
    """Everything that the page of a change shows, and what the reader may do there."""
    voices = list(change.approvals.select_related("person"))
    now_voices = [voice for voice in voices if voice.content_digest == change.content_digest]
    stages = stages_of(change)
    running = next((one for one in stages if one.stage.state == StageState.RUNNING), None)
    counting = queries.approvals_counting(change) if change.state in EDITABLE else len(now_voices)
    return cluster_context(change.cluster) | {
        "change": change,
        "is_rollback": change.kind == ChangeKind.ROLLBACK,
        **differences_in(change),
        "against_matrix": queries.against_matrix(change),
        "stages": stages,
        "running": running,
        "snapshot": Snapshot.objects.filter(change=change).select_related("matrix_version__matrix").first(),
        "rollbacks": list(change.rollbacks.all()),
        "voices": now_voices,
        "void_voices": [voice for voice in voices if voice.content_digest != change.content_digest],
        "counting": counting,
        "missing": max(0, change.approvals_needed - counting),
        "approvers": queries.approvers_of(change) if change.state == State.SUBMITTED else None,
        "reviewers": queries.reviewers_of(change) if _needs_review(change) else None,
        "holds": held_by(change.owner).count(),
        "rows": node_rows(request, change),
        "history": history_of(change, [one.stage for one in stages], voices),
        "not_verified": _not_verified(change),
        "training": queries.training_on(change.domain) if change.state == State.APPROVED else [],
        **_rights(actor, change, now_voices),
    }


def differences_in(change: Change) -> dict[str, Any]:
    """What changes; until a change is over, its nodes count as there by what they report now, as in their table."""
    if change.ended_at is not None:
        return {
            "differences": queries.differences_of([change.pk]).get(change.pk, []),
            "changes_nothing": False,
        }
    rows = differences_now(change.pk)
    is_there = bool(rows) and all(row.reached == row.nodes for row in rows)
    return {"differences": rows, "changes_nothing": is_there and change.state in EDITABLE}


def _rights(actor: Actor, change: Change, voices: Sequence[Any]) -> dict[str, Any]:
    scope_id, me = change.cluster.scope_id, actor.person_id
    operates, approves = actor.may(Right.OPERATE, scope_id), actor.may(Right.APPROVE, scope_id)
    is_rollback = change.kind == ChangeKind.ROLLBACK
    spoke = any(voice.person_id == me for voice in voices)
    return {
        "may_edit": operates and change.state in EDITABLE and not is_rollback,
        "may_submit": operates and change.state == State.DRAFT,
        "may_speak": approves and change.state == State.SUBMITTED and not spoke,
        "barred": _barred(change, me),
        "spoke": spoke,
        "may_start": operates and change.state == State.APPROVED,
        "approved_it": any(voice.person_id == me and voice.approves for voice in voices),
        "may_pass": operates and change.state == State.RUNNING and not is_rollback,
        "may_finish": operates and change.state == State.VERIFYING and not is_rollback,
        "may_fail": operates and change.state in UNDER_WAY,
        "may_cancel": operates and change.state in EDITABLE,
        "may_roll_back": operates
        and not is_rollback
        and change.state in (*UNDER_WAY, State.DONE, State.FAILED),
        "may_roll_on": operates and is_rollback and change.state == State.FAILED,
        "needs_review": _needs_review(change),
        "may_review": approves and _needs_review(change) and me != change.requester_id,
        "started_it": me == change.requester_id,
    }


def _needs_review(change: Change) -> bool:
    return change.kind == ChangeKind.ROLLBACK and change.reviewed_at is None


def _barred(change: Change, person_id: int | None) -> str:
    if person_id == change.requester_id:
        return _("You asked for this change, so a second person must approve it.")
    if person_id in queries.editors_of(change):
        return _("You edited this change, so a second person must approve it.")
    return ""


def stages_of(change: Change) -> list[StageShown]:
    """The stages of a change; the running one with what its gate waits for."""
    members: dict[int, list[str]] = defaultdict(list)
    counts: Counter[int] = Counter()
    reached: Counter[int] = Counter()
    rows = change.targets.order_by("node__index", "node__name", "pk")
    for stage_id, name, at in rows.values_list("stage_id", "node__name", "reached_at"):
        counts[stage_id] += 1
        reached[stage_id] += at is not None
        if not members[stage_id] or members[stage_id][-1] != name:
            members[stage_id].append(name)
    now = clock.now()
    return [
        StageShown(
            stage=stage,
            nodes=fold(members[stage.pk]),
            node_count=len(members[stage.pk]),
            targets=counts[stage.pk],
            reached=reached[stage.pk],
            waits=queries.gate_of(stage, now=now) if stage.state == StageState.RUNNING else [],
        )
        for stage in change.stages.select_related("change__domain")
    ]


def node_rows(request: HttpRequest, change: Change) -> Any:
    """One page of the targets, each with what its node reports now as `now` and whether that is it as `is_there`."""
    targets = change.targets.select_related("node", "stage").order_by(
        "stage__number", "node__index", "node__name", "component"
    )
    page = page_of(request, targets, size=25)
    versions = reported_versions({target.node_id for target in page.object_list})
    for target in page.object_list:
        reported = versions.get(target.node_id, {})
        said = reported.get(target.component)
        target.now = " | ".join(said.values) if said else ""
        over = change.ended_at is not None
        target.is_there = target.reached_at is not None if over else queries.reaches(target, reported)
        target.wanted = " | ".join(target.values)
    return page


def _not_verified(change: Change) -> list[str]:
    """Nodes that do not report what a change under way wants, for the panel that says what is missing."""
    if change.state not in UNDER_WAY:
        return []
    begun = change.targets.filter(stage__started_at__isnull=False)
    return queries.not_reaching(begun).get(change.pk, [])


def snapshot_rows(change: Change, snapshot: Snapshot) -> list[dict[str, str]]:
    """What the nodes ran before against what they report now: nodes with the same difference are one row."""
    before = queries.snapshot_versions(snapshot)
    ids = dict(Node.objects.filter(pk__in=change.targets.values("node")).values_list("name", "pk"))
    versions = reported_versions(ids.values())
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for name, parts in before.items():
        reported = versions.get(ids.get(name, 0), {})
        for part in sorted(set(parts) | set(reported)):
            old = " | ".join(parts.get(part, []))
            new = " | ".join(reported[part].values) if part in reported else ""
            groups[part, old, new].append(name)
    return [
        {"key": f"{label_of(part)} · {fold(names)}", "old": old, "new": new, "kind": _kind(old, new)}
        for (part, old, new), names in sorted(groups.items())
    ]


def _kind(old: str, new: str) -> str:
    if old == new:
        return "same"
    if not old:
        return "added"
    return "changed" if new else "removed"


def suggestions_for(nodes: Sequence[Node]) -> dict[str, Any]:
    """Components for the form, those that nodes report first, and the versions that run already with their number."""
    versions = reported_versions([node.pk for node in nodes])
    seen: dict[tuple[str, str], int] = Counter(
        (part, " | ".join(reported.values)) for parts in versions.values() for part, reported in parts.items()
    )
    reported_parts = {part for part, _version in seen}
    shown = shown_names()
    names = [
        (part.id, shown[part.id])
        for part in sorted(components().values(), key=lambda part: part.id not in reported_parts)
    ]
    running = [
        {"component": part, "version": version, "count": count}
        for (part, version), count in sorted(seen.items(), key=lambda item: (item[0][0], -item[1]))
    ]
    return {"component_names": names, "running_versions": running}
