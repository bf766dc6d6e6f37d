"""Whoever asks the gate over the API is told why it stands where it does, and what helps."""

from __future__ import annotations

import pytest

from apps.launches.engine.standing import Standing
from apps.launches.engine.telling import Ground, told


def row(key: str, verdict: str) -> dict[str, str]:
    return {"key": key, "verdict": verdict, "message": f"{key} it is"}


@pytest.mark.parametrize(
    ("standing", "ground", "message", "hint"),
    [
        (Standing.GO, Ground(), "the job may start", ""),
        (Standing.NEEDS_SIGNOFF, Ground(), "a signature is missing", "role signer"),
        (Standing.PENDING, Ground(), "is being evaluated", "--wait"),
        (Standing.PENDING, Ground(is_asked=False), "never evaluated", "evaluations/"),
        (Standing.NO_GO, Ground(items=[row("a", "pass")]), "signed against it", "comment"),
        (Standing.UNKNOWN, Ground(has_failed=True), "was lost", "evaluations/"),
        (Standing.UNKNOWN, Ground(changed=["holds", "nodes"]), "evaluation: holds, nodes", "evaluations/"),
        (Standing.UNKNOWN, Ground(is_expired=True), "older than it is valid", "evaluations/"),
        (Standing.UNKNOWN, Ground(items=[row("a", "unknown")]), "answered: a (a it is)", "hand in"),
    ],
)
def test_each_standing_has_its_reason_and_what_helps(standing, ground, message, hint):
    said = told(standing, ground)
    assert message in said.message
    assert hint in said.hint
    assert bool(said.hint) is bool(hint)


def test_the_first_failing_checks_are_named_and_the_rest_counted():
    items = [row("z", "pass"), *(row(key, "fail") for key in "abcde")]
    assert told(Standing.NO_GO, Ground(items=items)).message == (
        "checks fail: a (a it is); b (b it is); c (c it is); and 2 more"
    )
