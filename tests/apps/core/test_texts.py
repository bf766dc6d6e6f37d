"""Sentences that engines say: English as they stand, translated where a page shows them."""

from __future__ import annotations

import copy
import json
import pickle
from collections.abc import Iterator

import pytest
from django.template import Context, Template
from django.utils import translation

from apps.core.errors import FieldError, Invalid
from apps.core.problems import document
from apps.core.speech import listed, said
from apps.core.texts import Text, joined, kept, of_row, say

ASKED = say("%(key)s must be at least 1", key="tp")


@pytest.fixture
def _in_chinese() -> Iterator[None]:
    with translation.override("zh-hans"):
        yield


def test_a_text_is_its_english_sentence() -> None:
    assert ASKED == "tp must be at least 1"
    assert json.dumps({"message": ASKED}) == '{"message": "tp must be at least 1"}'


def test_a_share_without_values_is_no_placeholder() -> None:
    assert say("below 80 % of theory") == "below 80 % of theory"


@pytest.mark.parametrize("again", [copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))])
def test_copies_keep_the_template(again: object) -> None:
    copied = again(ASKED)  # type: ignore[operator]

    assert isinstance(copied, Text)
    assert (copied, copied.template, copied.values) == (ASKED, ASKED.template, ASKED.values)


@pytest.mark.usefixtures("_in_chinese")
def test_a_text_is_said_in_the_readers_language() -> None:
    assert said(ASKED) == "tp 至少为 1"
    assert ASKED == "tp must be at least 1"


@pytest.mark.usefixtures("_in_chinese")
def test_texts_within_a_text_are_said_too() -> None:
    inner = say("Sign in first.")

    assert said(joined("; ", [inner, ASKED])) == "请先登录。；tp 至少为 1"
    assert joined("; ", [inner, ASKED]) == "Sign in first.; tp must be at least 1"


@pytest.mark.usefixtures("_in_chinese")
def test_a_stored_row_is_said_in_the_readers_language() -> None:
    row = json.loads(json.dumps({"code": "low", "message": ASKED, **kept(ASKED)}))

    assert row["message"] == "tp must be at least 1"
    assert said(row) == "tp 至少为 1"


@pytest.mark.usefixtures("_in_chinese")
def test_a_row_of_texts_within_texts_is_said_in_the_readers_language() -> None:
    text = joined("; ", [ASKED, "free"])

    assert said(json.loads(json.dumps({"message": text, **kept(text)}))) == "tp 至少为 1；free"


@pytest.mark.usefixtures("_in_chinese")
@pytest.mark.parametrize(("between", "shown"), [(", ", "tp 至少为 1、sn-n01"), ("; ", "tp 至少为 1；sn-n01")])
def test_what_is_listed_has_the_marks_of_the_readers_language(between: str, shown: str) -> None:
    assert listed([ASKED, "sn-n01"], between) == shown
    assert (
        Template("{{ texts|listed:between }}").render(
            Context({"texts": [ASKED, "sn-n01"], "between": between})
        )
        == shown
    )


def test_names_that_are_listed_cannot_bring_markup_to_a_page() -> None:
    page = Template("{{ names|listed }}").render(Context({"names": ["<b>", "sn-n01"]}))

    assert page == "&lt;b&gt;, sn-n01"


@pytest.mark.usefixtures("_in_chinese")
def test_an_old_row_shows_its_english() -> None:
    assert (
        said({"code": "low", "message": "size 1 is below what was asked"}) == "size 1 is below what was asked"
    )
    assert of_row({}) == ""


@pytest.mark.usefixtures("_in_chinese")
def test_templates_say_texts_and_escape_their_values() -> None:
    shown = Template("{{ text|said }}").render(
        Context({"text": say("%(key)s must be at least 1", key="<b>")})
    )

    assert shown == "&lt;b&gt; 至少为 1"


@pytest.mark.usefixtures("_in_chinese")
def test_nothing_is_said_as_nothing() -> None:
    assert (said(""), said(None), said(say(""))) == ("", "", "")


@pytest.mark.usefixtures("_in_chinese")
def test_over_rest_errors_stay_english() -> None:
    error = Invalid(ASKED, errors=[FieldError(pointer="/tp", message=ASKED)])

    assert document(error)["detail"] == "tp must be at least 1"
    assert document(error)["errors"][0]["message"] == "tp must be at least 1"
