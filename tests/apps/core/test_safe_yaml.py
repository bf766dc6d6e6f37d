"""YAML from people is read as plain values, or refused with the line."""

from __future__ import annotations

import json
from typing import Any

import pytest
import yaml
from hypothesis import given
from hypothesis import strategies as st

from apps.core.safe_yaml import Document, UnsafeYaml, load, load_all


def test_each_document_comes_with_the_line_of_its_value() -> None:
    text = "# a comment\n---\na: 1\n---\n---\n- b\n"
    assert list(load_all(text)) == [Document(value={"a": 1}, line=3), Document(value=["b"], line=6)]


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("06", "06"),
        ("12:30", "12:30"),
        ("no", "no"),
        ("on", "on"),
        ("2025-01-31", "2025-01-31"),
        ("0x1f", "0x1f"),
        ("1_000", "1_000"),
        ("6e5", "6e5"),
        ("9" * 30, "9" * 30),
        ("18", 18),
        ("-3", -3),
        ("1.5", 1.5),
        ("1e+3", 1000.0),
        ("true", True),
        ("False", False),
        ("~", None),
        ('"18"', "18"),
        ("!!str 18", "18"),
    ],
)
def test_a_value_is_what_yaml_1_2_says(text: str, value: Any) -> None:
    assert load(f"key: {text}") == {"key": value}


def test_an_alias_stands_for_what_its_anchor_holds() -> None:
    assert load("a: &one {x: 1}\nb: *one\nc: {<<: *one, y: 2}") == {
        "a": {"x": 1},
        "b": {"x": 1},
        "c": {"x": 1, "y": 2},
    }


def test_a_key_may_replace_a_merged_one_but_not_stand_twice() -> None:
    text = "base: &b {x: 1}\nmid: &m {<<: *b, x: 2}\ntop: {<<: *m, x: 3}"
    assert load(text) == {"base": {"x": 1}, "mid": {"x": 2}, "top": {"x": 3}}


def bomb(levels: int = 9) -> str:
    lines = ["a0: &a0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"a{n}: &a{n} [{', '.join([f'*a{n - 1}'] * 10)}]" for n in range(1, levels)]
    return "\n".join(lines)


@pytest.mark.parametrize(
    ("text", "code", "line"),
    [
        ("x: {a: 1, b: {a: 2}, a: 3}", "duplicate_key", 1),
        (bomb(), "yaml_too_many_nodes", 7),
        ("a: &a [x]\nb: [" + "*a, " * 1001 + "]", "yaml_too_many_aliases", 2),
        ("[" * 65, "yaml_too_deep", 1),
        ("\n" + "{a: " * 5000, "yaml_too_deep", 2),
        ("a: &a\n  b: *a", "bad_yaml", 2),
        ("a: *b", "bad_yaml", 1),
        ("a: !!python/object/apply:os.getcwd []", "yaml_tag", 1),
        ("a: !!binary aGk=", "yaml_tag", 1),
        ("a: !!int x", "yaml_tag", 1),
        ("a: 1\nb: 2\na: 3", "duplicate_key", 3),
        ("a: b: c", "bad_yaml", 1),
        ("a: [1, 2\n", "bad_yaml", 2),
        ("a:\n\t- b", "bad_yaml", 2),
        ("? [a]\n: b", "bad_yaml", 1),
    ],
)
def test_what_is_not_safe_or_not_clear_is_refused_with_its_line(text: str, code: str, line: int) -> None:
    with pytest.raises(UnsafeYaml) as refused:
        load(text)
    assert (refused.value.code, refused.value.fields["line"]) == (code, line)


def test_documents_before_a_fault_are_given_before_it_is_raised() -> None:
    documents = load_all("a: 1\n---\nb: [\n")
    assert next(documents).value == {"a": 1}
    with pytest.raises(UnsafeYaml, match="line 4"):
        next(documents)


def test_a_second_document_is_refused_where_one_is_expected() -> None:
    with pytest.raises(UnsafeYaml, match="line 3: a second document"):
        load("a: 1\n---\nb: 2")


def test_an_empty_text_has_no_value() -> None:
    assert load("# nothing\n") is None


_PLAIN = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-(10**17), 10**17)
    | st.text(st.characters(codec="utf-8", exclude_categories=["Cc"]), max_size=12),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text("abc", min_size=1), inner, max_size=4)
    ),
    max_leaves=12,
)


@given(_PLAIN.filter(lambda value: value is not None))
def test_plain_values_come_back_from_what_was_written(value: Any) -> None:
    assert load(json.dumps(value, ensure_ascii=False)) == value
    assert load(yaml.safe_dump(value)) == value


@given(st.text(alphabet="ab:-[]{}&*!?|>'\"%#,~<\n 01\t\x00", max_size=60))
def test_any_text_is_read_as_json_values_or_refused(text: str) -> None:
    try:
        documents = list(load_all(text))
    except UnsafeYaml as refused:
        assert refused.code
    else:
        json.dumps([document.value for document in documents], allow_nan=False, skipkeys=True)


@pytest.mark.parametrize("text", ['a:\n- "5\\0"', 'a: 1\n"\\0": 2', 'a: 1\nb: "\\ud800"'])
def test_what_no_database_holds_is_refused_with_its_line(text: str) -> None:
    with pytest.raises(UnsafeYaml, match="line 2") as refused:
        load(text)
    assert refused.value.code in ("unstorable", "bad_yaml")
