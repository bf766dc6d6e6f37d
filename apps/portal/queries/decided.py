"""What people decided lately: signatures, approvals and refusals, and changes that are over."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, OuterRef
from django.urls import reverse
from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.changes.engine.states import State
from apps.changes.models import Approval
from apps.changes.queries import changes_visible
from apps.core.actor import Actor
from apps.core.speech import said
from apps.launches.models import Evaluation, SignOff
from apps.launches.queries import launches_visible

_OVER = (State.DONE, State.FAILED, State.ROLLED_BACK)  # of a refusal its voice is shown


@dataclass(frozen=True, slots=True, kw_only=True)
class Decided:
    """One decision: on what, what was decided, by whom, when, and where to read it.

    state: how it looks. word: what was done, which is not where the thing stands now. is_past: what was decided on
    has been replaced since.
    """

    at: datetime
    title: str
    state: str
    word: str | Promise
    who: str
    url: str
    is_past: bool = False


def latest_decisions(actor: Actor, *, limit: int = 8) -> list[Decided]:
    """The newest decisions first, within what the reader may see, in as many queries for many as for one."""
    found = [*_signatures(actor, limit), *_voices(actor, limit), *_ends(actor, limit)]
    return sorted(found, key=lambda item: item.at, reverse=True)[:limit]


def _signatures(actor: Actor, limit: int) -> list[Decided]:
    newer = Evaluation.objects.filter(
        launch=OuterRef("evaluation__launch"), requested_at__gt=OuterRef("evaluation__requested_at")
    )
    rows = SignOff.objects.filter(evaluation__launch__in=launches_visible(actor)).annotate(
        is_past=Exists(newer)
    )
    return [
        Decided(
            at=one.at,
            title=one.evaluation.launch.title,
            state="go" if one.go else "no_go",
            word=_("signed GO") if one.go else _("signed NO-GO"),
            who=one.person.name,
            url=reverse("launches:evaluation", args=[one.evaluation_id]),
            is_past=one.is_past,
        )
        for one in rows.select_related("evaluation__launch", "person").order_by("-id")[:limit]
    ]


def _voices(actor: Actor, limit: int) -> list[Decided]:
    rows = Approval.objects.filter(change__in=changes_visible(actor)).select_related("change", "person")
    return [
        Decided(
            at=one.at,
            title=said(one.change.named),
            state="approved" if one.approves else "refused",
            word=_("approved") if one.approves else _("refused"),
            who=one.person.name,
            url=reverse("changes:change", args=[one.change_id]),
            is_past=one.content_digest != one.change.content_digest,
        )
        for one in rows.order_by("-id")[:limit]
    ]


def _ends(actor: Actor, limit: int) -> list[Decided]:
    rows = changes_visible(actor).filter(state__in=[state.value for state in _OVER], ended_at__isnull=False)
    return [
        Decided(
            at=change.ended_at,
            title=said(change.named),
            state=change.state,
            word="",
            who=(change.executor or change.requester).name,
            url=reverse("changes:change", args=[change.pk]),
        )
        for change in rows.order_by(F("ended_at").desc(), "-id")[:limit]
        if change.ended_at is not None
    ]
