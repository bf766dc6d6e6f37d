"""Documents are found in what was pasted, each with its line, and what is not read is named."""

from __future__ import annotations

from typing import Any

import pytest

from apps.evidence.engine.parsers._notes import LIMIT_PER_CODE, Notes
from apps.evidence.engine.parsers._objects import load_objects
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Source


def loaded(text: str) -> tuple[list[tuple[Any, int]], list[tuple[str, int | None]]]:
    notes = Notes()
    found = load_objects(Source.of_text(text), notes)
    return [(document.value, document.line) for document in found], [
        (note.code, note.line) for note in notes.all()
    ]


@pytest.mark.parametrize(
    ("text", "documents"),
    [
        ("a: 1\n---\nb: 2\n", [({"a": 1}, 1), ({"b": 2}, 3)]),
        ('{"a": 1}\n{"b": 2}\n', [({"a": 1}, 1), ({"b": 2}, 2)]),
        ('{"a": 1}{"b": 2}', [({"a": 1}, 1), ({"b": 2}, 1)]),
        ('\n\n  [{"a": 1}]\n', [([{"a": 1}], 3)]),
        ('WARNING: low power: yes: no\n\n{"a": {"b": [1, 2.5]}}\n', [({"a": {"b": [1, 2.5]}}, 3)]),
        ("words: and: more\n```yaml\na: 1\n```\nand\n```\nb: 2\n```\n", [({"a": 1}, 3), ({"b": 2}, 7)]),
        ("$ kubectl get nodes -o yaml\na: 1\n", [({"a": 1}, 2)]),
        ("<details>\n<summary>mine</summary>\n<pre>\n  a: 1\n</pre>\n</details>\n", [({"a": 1}, 4)]),
        ("{&quot;a&quot;: &quot;&lt;b&gt;&quot;}", [({"a": "<b>"}, 1)]),
        ("a:\xa01\n", [({"a": 1}, 1)]),
        ("    a: 1\n    ---\n    b: 06\n", [({"a": 1}, 1), ({"b": "06"}, 3)]),
    ],
)
def test_every_document_is_found_with_its_line(text: str, documents: list[tuple[Any, int]]) -> None:
    assert loaded(text) == (documents, [])


@pytest.mark.parametrize(
    ("text", "documents", "notes"),
    [
        ("a: 1\n---\nb: [\n", [({"a": 1}, 1)], [("not_read", 4)]),
        ("```\na: 1\n```\n```\nb: [\n```\n", [({"a": 1}, 2)], [("not_read", 5)]),
        ('{"a": 1}\n[oops]\n', [({"a": 1}, 1)], [("not_read", 2)]),
        ('{"a": 1, "a": 2}', [({"a": 2}, 1)], [("duplicate_key", None)]),
        ("a: 1\nb: 2", [({"a": 1, "b": 2}, 1)], [("last_line_not_ended", None)]),
        ("0: a: 1\n1: a: 1\n0: b: 2\n", [({"a": 1, "b": 2}, 1)], [("other_processes", 2)]),
    ],
)
def test_what_is_not_read_is_named(
    text: str, documents: list[tuple[Any, int]], notes: list[tuple[str, int | None]]
) -> None:
    assert loaded(text) == (documents, notes)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("only words\n", "no_document"),
        ("a: [1\n", "bad_yaml"),
        ("a: 1\na: 2\n", "duplicate_key"),
        ('{"a": 1', "bad_json"),
        ('{"a": ' + "[" * 100 + "]" * 100 + "}", "too_deep"),
        ("a: !!python/name:os.system x\n", "yaml_tag"),
        ("a: &a [x, x]\nb: &b [*a, *a]\nc: [" + "*b, " * 1001 + "]\n", "yaml_too_many_aliases"),
    ],
)
def test_what_cannot_be_read_is_refused_with_a_code(text: str, code: str) -> None:
    with pytest.raises(Unreadable) as refused:
        loaded(text)
    assert refused.value.code == code


def test_text_that_no_store_takes_does_not_come_out() -> None:
    documents, _ = loaded('{"a\\u0000": "\\ud800b", "c": 1e999, "d": NaN, "e": 12345678901234567890}')
    assert documents == [({"a": "b", "c": "1e999", "d": None, "e": "12345678901234567890"}, 1)]


def test_warnings_of_one_kind_are_bounded() -> None:
    notes = Notes()
    for number in range(LIMIT_PER_CODE + 5):
        notes.add("odd", "an odd line", line=number)
    notes.add("other", "another")
    assert len(notes.all()) == LIMIT_PER_CODE + 2
    assert notes.all()[-1].message == "more warnings of this kind: 5"
