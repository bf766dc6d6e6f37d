"""The status language: which tone, icon and word stands for each verdict and each state.

Six tones, always shown as icon, word and colour together, so that none of them has to be told apart by
colour alone. Neutral is for what is neither good nor bad, such as a draft.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _


class Tone(StrEnum):
    PASS = "pass"
    WARN = "warn"
    FAIL = "fail"
    UNKNOWN = "unknown"
    WAIVED = "waived"
    RUNNING = "running"
    NEUTRAL = "neutral"


ICON_OF_TONE = {
    Tone.PASS: "circle-check",
    Tone.WARN: "alert-triangle",
    Tone.FAIL: "octagon-x",
    Tone.UNKNOWN: "circle-dashed-help",
    Tone.WAIVED: "flag",
    Tone.RUNNING: "hourglass",
    Tone.NEUTRAL: "circle",
}


@dataclass(frozen=True, slots=True)
class Sign:
    """How one state looks: its tone, its word, and its icon where the icon of the tone does not say enough."""

    tone: Tone
    word: str | Promise
    own_icon: str = ""

    @property
    def icon(self) -> str:
        return self.own_icon or ICON_OF_TONE[self.tone]


VERDICTS = {
    "pass": Sign(Tone.PASS, _("pass")),
    "warn": Sign(Tone.WARN, _("warning")),
    "fail": Sign(Tone.FAIL, _("fail")),
    "unknown": Sign(Tone.UNKNOWN, _("unknown")),
    "waived": Sign(Tone.WAIVED, _("waived")),
}

VERDICT_CHOICES = [(verdict, sign.word) for verdict, sign in VERDICTS.items()]  # of filters that people see

_STANDINGS = {
    "go": Sign(Tone.PASS, _("GO")),
    "no_go": Sign(Tone.FAIL, _("NO-GO")),
    "needs_signoff": Sign(Tone.WARN, _("needs sign-off"), "edit"),
    "pending": Sign(Tone.RUNNING, _("pending")),
}

_CHANGES = {
    "draft": Sign(Tone.NEUTRAL, _("draft"), "edit"),
    "submitted": Sign(Tone.WARN, _("waits for approval"), "user-check"),
    "approved": Sign(Tone.PASS, _("approved"), "user-check"),
    "running": Sign(Tone.RUNNING, _("running")),
    "verifying": Sign(Tone.RUNNING, _("verifying")),
    "done": Sign(Tone.PASS, _("done")),
    "refused": Sign(Tone.FAIL, _("refused"), "ban"),
    "failed": Sign(Tone.FAIL, _("failed")),
    "rolled_back": Sign(Tone.WAIVED, _("rolled back"), "arrow-back-up"),
    "cancelled": Sign(Tone.NEUTRAL, _("cancelled"), "x"),
}

_MATRICES = {
    "locked": Sign(Tone.PASS, _("locked"), "lock"),
    "retired": Sign(Tone.NEUTRAL, _("retired"), "minus"),
    "known_good": Sign(Tone.PASS, _("known-good"), "shield-check"),
}

_NODES = {
    "in_service": Sign(Tone.PASS, _("in service")),
    "sub_healthy": Sign(Tone.WARN, _("sub-healthy")),
    "quarantined": Sign(Tone.FAIL, _("quarantined"), "ban"),
    "maintenance": Sign(Tone.WAIVED, _("maintenance"), "tool"),
    "in_change": Sign(Tone.RUNNING, _("in change"), "refresh"),
    "training": Sign(Tone.RUNNING, _("training"), "rocket"),
    "spare": Sign(Tone.NEUTRAL, _("spare"), "package"),
    "repair": Sign(Tone.WAIVED, _("in repair"), "tool"),
    "healthy": Sign(Tone.PASS, _("healthy"), "heartbeat"),
    "faulty": Sign(Tone.FAIL, _("faulty")),
}

_JOBS = {
    "queued": Sign(Tone.RUNNING, _("queued"), "clock"),
    "succeeded": Sign(Tone.PASS, _("succeeded")),
    "skipped": Sign(Tone.NEUTRAL, _("skipped"), "minus"),
    "lost": Sign(Tone.FAIL, _("lost")),
}

_FINDINGS = {
    "open": Sign(Tone.NEUTRAL, _("open")),
    "resolved": Sign(Tone.PASS, _("resolved")),
    "match": Sign(Tone.PASS, _("match")),
    "drift": Sign(Tone.FAIL, _("drift"), "git-compare"),
    "missing": Sign(Tone.FAIL, _("missing")),
    "extra": Sign(Tone.WARN, _("extra")),
    "unknown_form": Sign(Tone.UNKNOWN, _("unknown form")),
    "stale": Sign(Tone.UNKNOWN, _("stale"), "clock"),
    "not_evaluated": Sign(Tone.UNKNOWN, _("not evaluated")),
    "finished": Sign(Tone.PASS, _("finished")),
    "read": Sign(Tone.PASS, _("read")),
    "applied": Sign(Tone.PASS, _("applied")),
    "stored": Sign(Tone.RUNNING, _("waits to be read")),
    "unmatched": Sign(Tone.WARN, _("unmatched")),
    "unread": Sign(Tone.UNKNOWN, _("not read")),
}

_TRAIL = {
    "intact": Sign(Tone.PASS, _("intact"), "shield-check"),
    "broken": Sign(Tone.FAIL, _("chain broken")),
}

STATES = {**VERDICTS, **_STANDINGS, **_CHANGES, **_MATRICES, **_NODES, **_JOBS, **_FINDINGS, **_TRAIL}


def sign_of(state: Any) -> Sign:
    """The sign of a verdict or state, given as an enum member or its value.

    A name that the language does not know is shown as it is, in the neutral tone; nothing at all is unknown.
    """
    key = str(getattr(state, "value", state) if state is not None else "unknown")
    return STATES.get(key) or Sign(Tone.NEUTRAL, key.replace("_", " "))
