"""Differences are by key, never by character."""

from __future__ import annotations

from apps.audit.engine.diff import key_changes


def test_each_key_is_added_removed_changed_or_the_same():
    found = key_changes(
        {"name": "a", "gone": 1, "same": True, "nested": {"x": 1, "y": [1, 2]}},
        {"name": "b", "same": True, "nested": {"x": 1, "y": [1, 3]}, "new": None},
    )
    assert [(change.key, change.kind, change.old, change.new) for change in found] == [
        ("gone", "removed", "1", ""),
        ("name", "changed", "a", "b"),
        ("nested.y", "changed", "[1, 2]", "[1, 3]"),
        ("new", "added", "", "null"),
        ("nested.x", "same", "1", "1"),
        ("same", "same", "true", "true"),
    ]


def test_lists_of_objects_are_compared_entry_by_entry():
    found = key_changes({"roles": [{"role": "viewer"}]}, {"roles": [{"role": "admin"}]})
    assert [(change.key, change.kind) for change in found] == [("roles.0.role", "changed")]


def test_nothing_before_makes_every_key_new():
    assert [change.kind for change in key_changes(None, {"a": 1})] == ["added"]
