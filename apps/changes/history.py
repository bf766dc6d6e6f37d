"""What happened to a change, told from what it keeps of itself."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.changes.models import Change, ChangeKind, Stage


@dataclass(frozen=True, slots=True, kw_only=True)
class Happening:
    """Something that happened to a change: when, what, by whom, and what was said."""

    at: datetime | None
    title: str
    who: str = ""
    text: str = ""
    state: str | None = None
    icon: str = "circle"
    url: str = ""


def history_of(change: Change, stages: Iterable[Stage], voices: Sequence[Any]) -> list[Happening]:
    """What happened to a change, newest first."""
    found = [*_before_the_start(change), *(_voice(change, voice) for voice in voices), *_start(change)]
    for stage in stages:
        found += _stage_happenings(stage)
    found += _end(change)
    oldest_first = sorted(found, key=lambda one: one.at or change.created_at)
    return oldest_first[::-1]


def _before_the_start(change: Change) -> Iterator[Happening]:
    is_rollback = change.kind == ChangeKind.ROLLBACK
    yield Happening(
        at=change.created_at,
        title=_("Started as a rollback") if is_rollback else _("Asked for"),
        who=change.requester.name,
        text=change.reason,
        icon="plus",
    )
    if change.revision > 1:
        yield Happening(
            at=change.edited_at,
            title=_("Edited; this is revision %(n)s") % {"n": change.revision},
            who=change.last_editor.name,
            icon="edit",
        )
    if change.submitted_at:
        yield Happening(at=change.submitted_at, title=_("Handed in for approval"), icon="user-check")


def _start(change: Change) -> Iterator[Happening]:
    if change.started_at and change.kind != ChangeKind.ROLLBACK and change.executor:
        yield Happening(
            at=change.started_at,
            title=_("Started; what the nodes ran was recorded"),
            who=change.executor.name,
            icon="player-play",
            url=reverse("changes:snapshot", args=[change.pk]),
        )


def _end(change: Change) -> Iterator[Happening]:
    if change.ended_at:
        yield Happening(at=change.ended_at, title=_("Ended"), text=change.ended_reason, state=change.state)
    if change.reviewed_at and change.reviewed_by:
        yield Happening(
            at=change.reviewed_at,
            title=_("Reviewed"),
            who=change.reviewed_by.name,
            text=change.review,
            icon="user-check",
        )


def _voice(change: Change, voice: Any) -> Happening:
    title = _("Approved") if voice.approves else _("Refused")
    if voice.content_digest != change.content_digest:
        title = _("Approved an earlier revision; this counts no more")
    return Happening(
        at=voice.at,
        title=title,
        who=voice.person.name,
        text=voice.note,
        icon="check" if voice.approves else "ban",
    )


def _stage_happenings(stage: Stage) -> list[Happening]:
    name = stage_name(stage.name)
    steps = (
        (stage.started_at, _("Stage %(n)s began: %(name)s"), "player-play"),
        (stage.reached_at, _("All nodes of stage %(n)s reported the target"), "circle-check"),
        (stage.passed_at, _("Stage %(n)s passed its gate"), "check"),
    )
    return [
        Happening(at=at, title=text % {"n": stage.number, "name": name}, icon=icon)
        for at, text, icon in steps
        if at is not None
    ]


def stage_name(name: str) -> str:
    """The name of a stage in the reader's language."""
    words = {
        "one node": _("one node"),
        "its sub-domain": _("its sub-domain"),
        "the rest": _("the rest"),
        "all nodes": _("all nodes"),
    }
    return words.get(name, name)
