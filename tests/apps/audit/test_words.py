"""Words of the trail: every action that is recorded has one, and decisions of the gate say what they came to."""

from __future__ import annotations

import ast
from collections.abc import Iterator

import pytest
from django.utils import translation

from apps.accounts.models import Invitation
from apps.audit.models import AuditHead
from apps.audit.queries import VERIFIED
from apps.audit.words import ACTIONS, actor_of_event, object_of_event, outcome_of, word_of
from apps.core.speech import said
from apps.environments.models import DriftFinding
from apps.evidence.models import KeepPolicy
from apps.fleet.models import BulkImport, Domain, HoldKind, Node
from apps.fleet.models.holds import BY_HAND
from apps.portal.services.demo import LOADED
from apps.portal.services.demo_removal import REMOVED
from tests.architecture.sources import sources

# Calls whose action is put together or a constant of another module: what they can record.
PUT_TOGETHER = {
    "f'hold.{kind.value}.taken'": {f"hold.{kind.value}.taken" for kind in HoldKind},
    "f'hold.{hold.kind}.released'": {f"hold.{kind.value}.released" for kind in BY_HAND},
    "queries.VERIFIED": {VERIFIED},
    "LOADED": {LOADED},
    "REMOVED": {REMOVED},
}


def recorded() -> Iterator[tuple[str, ast.expr]]:
    """(place, action) of each call of record, and of the note of an app, which hands its action on to record."""
    for source in sources():
        for function in ast.walk(source.tree):
            if not isinstance(function, ast.FunctionDef):
                continue
            for call in ast.walk(function):
                action = _action(call)
                if action is not None and not _is_handed_on(function, action):
                    yield f"{source.path}:{call.lineno}", _meant(function, action)


def _action(call: ast.AST) -> ast.expr | None:
    if not isinstance(call, ast.Call):
        return None
    name = call.func.attr if isinstance(call.func, ast.Attribute) else getattr(call.func, "id", "")
    if name == "record":
        return next((word.value for word in call.keywords if word.arg == "action"), None)
    return call.args[1] if name == "note" and len(call.args) > 2 else None  # of actor, action, object


def _is_handed_on(function: ast.FunctionDef, action: ast.expr) -> bool:
    names = {one.arg for one in (*function.args.args, *function.args.kwonlyargs)}
    return isinstance(action, ast.Name) and action.id in names


def _meant(function: ast.FunctionDef, action: ast.expr) -> ast.expr:
    """What a local name stands for."""
    for one in ast.walk(function):
        if isinstance(one, ast.Assign) and isinstance(action, ast.Name):
            target = one.targets[0]
            if isinstance(target, ast.Name) and target.id == action.id:
                return one.value
    return action


def codes(action: ast.expr) -> set[str]:
    """The actions that an expression can be."""
    text = ast.unparse(action)
    if text in PUT_TOGETHER:
        return PUT_TOGETHER[text]
    if isinstance(action, ast.IfExp):
        return codes(action.body) | codes(action.orelse)
    assert isinstance(action, ast.Constant), f"say in PUT_TOGETHER what {text} can be"
    return {str(action.value)}


def test_every_action_that_the_sources_record_has_a_word_and_no_word_is_left_over():
    found = {code for _place, action in recorded() for code in codes(action)}
    assert found == set(ACTIONS)


def test_an_action_of_no_word_stands_as_its_code():
    assert word_of("test.done") == ""


@pytest.mark.parametrize(
    ("name", "label", "via", "shown"),
    [
        ("Bo", "person 2", "session", "Bo"),
        ("", "person 2", "session", "person 2"),
        ("Bo", "token abc", "token", "Bo · token abc"),
        ("Bo", "gate", "system", "Bo, by the gate"),
        ("Bo", "job 12", "system", "Bo, by job 12"),
        ("", "gate", "system", "the gate"),
        ("", "load_demo", "command", "load_demo"),
    ],
)
def test_who_acted_is_named_with_the_part_of_the_portal_that_acted_for_them(name, label, via, shown):
    with translation.override("en"):
        assert said(actor_of_event(name, label, via)) == shown


def test_a_name_that_is_also_a_word_stays_a_name_in_another_language():
    with translation.override("zh-hans"):
        assert said(actor_of_event("Sun", "person 4", "session")) == "Sun"
        assert said(actor_of_event("Sun", "job 3", "system")).startswith("Sun")
        assert said(actor_of_event("", "gate", "system")) != "the gate"
        assert said(actor_of_event("", "job 34", "system")) == "后台任务 34"


@pytest.mark.parametrize(
    ("kept", "in_chinese"),
    [
        (AuditHead(seq=67), "审计链头 67"),
        (BulkImport(pk=1), "导入 1"),
        (BulkImport(file_name="Sun"), "Sun"),
        (Invitation(pk=3), "邀请 3"),
        (KeepPolicy(scope_id=4), "4 的保留策略"),
        (DriftFinding(component="driver", node=Node(name="sn-n07")), "sn-n07 上的 driver"),
        (Domain(name="Sun"), "Sun"),
    ],
    ids=str,
)
def test_what_an_event_is_about_is_named_in_the_readers_language(kept, in_chinese):
    shown = object_of_event(kept._meta.label_lower, str(kept))
    assert str(shown) == str(kept)
    with translation.override("zh-hans"):
        assert said(shown) == in_chinese


@pytest.mark.parametrize(
    ("action", "after", "outcome"),
    [
        ("launch.signed", {"go": True}, "go"),
        ("launch.signed", {"go": False}, "no_go"),
        ("launch.evaluated", {"standing": "needs_signoff"}, "needs_signoff"),
        ("launch.evaluated", {"verdict": "fail"}, ""),
        ("launch.opened", {"go": True}, ""),
        ("launch.signed", None, ""),
    ],
)
def test_decisions_of_the_gate_say_what_they_came_to(action, after, outcome):
    assert outcome_of(action, after) == outcome
