"""Why the gate stands where it does, and what helps, in sentences for whoever asks it over the API.

English, as all of the API; the page says the same in the reader's language.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.core.verdicts import Verdict
from apps.launches.engine.standing import Standing

_NAMED = 3  # items that a message names
_ASK_ANEW = (
    "ask for a new evaluation: POST to evaluations/ beside this address, or run snp.py gate --wait 600"
)


@dataclass(frozen=True, slots=True, kw_only=True)
class Told:
    """message: why it stands there. hint: what moves it on; empty where nothing has to."""

    message: str
    hint: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Ground:
    """What a standing rests on.

    items: of the evaluation, as it keeps them. changed: inputs that it no longer rests on. is_asked: an
    evaluation was asked for at all. has_failed: its job ended without making it. over: how the launch ended.
    """

    items: Sequence[Mapping[str, Any]] = ()
    changed: Sequence[str] = ()
    is_expired: bool = False
    is_asked: bool = True
    has_failed: bool = False
    over: str = ""


def told(standing: Standing, ground: Ground) -> Told:
    """The sentences for a standing."""
    if standing is Standing.GO:
        return Told(message="everything holds and is signed: the job may start")
    if standing is Standing.NEEDS_SIGNOFF:
        return Told(
            message="everything holds; a signature is missing",
            hint="somebody with the role signer signs on the page of the launch",
        )
    if standing is Standing.NO_GO:
        return _no_go(ground)
    return _pending(ground) if standing is Standing.PENDING else _unknown(ground)


def _pending(ground: Ground) -> Told:
    if not ground.is_asked:
        return Told(message="the checklist was never evaluated", hint=_ASK_ANEW)
    return Told(
        message="the checklist is being evaluated",
        hint="ask again in a few seconds, or let the client wait: snp.py gate --wait 600",
    )


def _no_go(ground: Ground) -> Told:
    if failing := _named(ground.items, Verdict.FAIL):
        return Told(
            message=f"checks fail: {failing}",
            hint="mend what fails and evaluate again, or ask for a waiver on the page of the launch",
        )
    return Told(message="somebody signed against it", hint="the comment is on the page of the launch")


def _unknown(ground: Ground) -> Told:
    if ground.over:
        return Told(message=f"the launch is {ground.over}", hint="open a launch of its own for the next job")
    if ground.has_failed:
        return Told(message="the evaluation was lost: its job ended without one", hint=_ASK_ANEW)
    if ground.changed:
        return Told(message=f"changed since the evaluation: {', '.join(ground.changed)}", hint=_ASK_ANEW)
    if ground.is_expired:
        return Told(message="the evaluation is older than it is valid", hint=_ASK_ANEW)
    return Told(
        message=f"checks could not be answered: {_named(ground.items, Verdict.UNKNOWN)}",
        hint="hand in what is missing, and let people answer their items on the page of the launch",
    )


def _named(items: Sequence[Mapping[str, Any]], verdict: Verdict) -> str:
    """The first items with this verdict by their keys, with what was found, and how many more there are."""
    rows = [item for item in items if item["verdict"] == verdict]
    named = "; ".join(f"{item['key']} ({item['message']})" for item in rows[:_NAMED])
    return named + (f"; and {len(rows) - _NAMED} more" if len(rows) > _NAMED else "")
