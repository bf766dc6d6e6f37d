"""Page parts: what they show, what they escape, and that no page breaks the content security policy."""

from __future__ import annotations

import re
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import django_tables2 as tables
import pytest
from django import forms
from django.core.paginator import Paginator
from django.db import OperationalError
from django.template import Context, Template
from django.template.loader import get_template
from django.test import RequestFactory
from django.utils import timezone, translation

from apps.core import error_pages
from apps.core.paging import arrange

ROOT = Path(__file__).resolve().parents[3]
TEMPLATES = sorted(str(path.relative_to(ROOT / "templates")) for path in (ROOT / "templates").rglob("*.html"))
# What style-src 'self' and script-src 'self' refuse: attributes, and elements with content of their own.
INLINE = re.compile(
    r"\sstyle=|\son[a-z]+=|<style|<script(?![^>]*(?:src=|application/json))|hx-on|javascript:"
)
AT = datetime(2026, 11, 29, 18, 30, tzinfo=UTC)


def shown(source: str, **values: Any) -> str:
    """The text that a template source gives."""
    request = RequestFactory().get("/nodes/?state=fail&page=2")
    return Template(source).render(Context({"request": request, **values})).strip()


class Sizes(forms.Form):
    nodes = forms.IntegerField(help_text="As on the racks.")
    note = forms.CharField(required=False)
    confirmed = forms.BooleanField()


def test_a_verdict_is_shown_by_icon_word_and_tone() -> None:
    text = shown("{% verdict 'fail' %}")
    assert "tone-fail" in text
    assert "#octagon-x" in text
    assert ">fail</span>" in text


def test_no_verdict_is_shown_as_unknown() -> None:
    assert "tone-unknown" in shown("{% verdict None %}")


def test_words_of_a_verdict_are_escaped() -> None:
    assert "&lt;b&gt;" in shown("{% verdict 'pass' label=word %}", word="<b>")


def test_a_time_says_its_offset_and_what_a_machine_reads() -> None:
    with timezone.override("Asia/Shanghai"):
        text = shown("{% when at show='absolute' %}", at=AT)
    assert text == '<time class="when" datetime="2026-11-29T18:30:00Z">2026-11-30 02:30 +08:00</time>'


def test_a_time_is_shown_to_the_second_where_that_is_asked_for() -> None:
    with timezone.override("Asia/Shanghai"):
        assert "2026-11-30 02:30:00 +08:00" in shown("{% when at to_the_second=True %}", at=AT)


def test_a_time_that_never_came_has_a_word() -> None:
    assert "never" in shown("{% when None none='never' %}")


def test_a_digest_is_cut_on_the_page_and_whole_in_the_button() -> None:
    text = shown("{% digest value %}", value="sha256:" + "a1" * 32)
    assert ">a1a1a1a1a1a1</code>" in text
    assert f'data-copy="{"a1" * 32}"' in text


@pytest.mark.parametrize(
    ("source", "expected"),
    [
        ("{% quantity 361.42 'GB/s' digits=1 %}", "361.4"),
        ("{% quantity 1234567 'B' %}", "1,234,567"),
        ("{% quantity None 'B' %}", "?"),
        ("{% quantity 0 'B' %}", ">0<"),
    ],
)
def test_a_quantity_shows_what_is_known_and_zero_only_where_it_is_zero(source: str, expected: str) -> None:
    assert expected in shown(source)


def test_progress_without_a_total_only_moves() -> None:
    assert "value=" not in shown("{% progress 3 None %}")
    assert 'value="3" max="9"' in shown("{% progress 3 9 %}")


def test_the_pager_keeps_the_filters_of_the_address() -> None:
    text = shown("{% pager page %}", page=Paginator(range(300), 25).page(2))
    assert "?state=fail&amp;page=3" in text
    assert "26–50 of 300" in text


class Nodes(tables.Table):
    name = tables.Column()
    bandwidth = tables.Column(attrs={"td": {"class": "number"}})

    class Meta:
        order_by = "-name"


def test_a_table_says_how_it_is_sorted_and_keeps_the_filters() -> None:
    request = RequestFactory().get("/nodes/?state=fail&page=2")
    rows = [{"name": f"a{n}", "bandwidth": n} for n in range(60)]
    table = Nodes(rows, request=request, order_by="-name")
    arrange(request, table)
    text = shown("{% load django_tables2 %}{% render_table table %}", table=table)
    assert 'aria-sort="descending"' in text
    assert 'aria-sort="none"' in text
    assert "26–50 of 60" in text
    assert "state=fail&amp;" in text
    assert '<td data-label="Bandwidth" class="number">' in text


@pytest.mark.parametrize(
    ("asked", "rows"),
    [
        ("", 25),
        ("per_page=50", 50),
        ("per_page=-5", 25),
        ("per_page=1000000", 25),
        ("page=99", 10),
        ("page=x", 25),
        ("page=-1", 10),
    ],
)
def test_a_table_gives_no_more_than_a_page_whatever_the_address_asks(asked: str, rows: int) -> None:
    table = Nodes([{"name": f"a{n}", "bandwidth": n} for n in range(60)])
    arrange(RequestFactory().get(f"/nodes/?{asked}"), table)
    assert len(table.page.object_list) == rows


def test_a_field_shows_help_and_errors_and_says_which_are_its_own() -> None:
    text = shown("{% field form.nodes unit='GB' %}", form=Sizes({"nodes": "many"}))
    assert 'for="id_nodes"' in text
    assert "As on the racks." in text
    assert 'aria-invalid="true"' in text
    assert 'id="id_nodes_error"' in text


def test_the_error_summary_links_to_each_field_that_is_wrong() -> None:
    text = shown("{% form_errors form %}", form=Sizes({}))
    assert "There are 2 things to correct" in text
    assert 'href="#id_nodes"' in text
    assert "id_note" not in text


def test_a_form_without_errors_has_no_summary() -> None:
    assert shown("{% form_errors form %}", form=Sizes({"nodes": 1, "confirmed": "on"})) == ""


def test_the_tab_of_the_address_is_the_current_one() -> None:
    text = shown(
        "{% tabs label='x' %}{% tab label='A' url='/a/' %}{% tab label='B' url='/nodes/' %}{% endtabs %}"
    )
    assert '<a href="/nodes/" aria-current="page">B' in text
    assert text.count("aria-current") == 1


def test_a_page_beneath_a_tab_is_of_that_tab() -> None:
    tabs = "{% tab label='A' url='/' %}{% tab label='B' url='/node' %}{% tab label='C' url='/node' beneath=True %}"
    text = shown(tabs)
    assert '<a href="/node" aria-current="page">C' in text
    assert text.count("aria-current") == 1


def test_a_difference_hides_what_is_the_same_below_what_is_not() -> None:
    rows = [
        {"key": "kernel", "old": "6.8", "new": "6.8", "kind": "same"},
        {"key": "driver", "old": "570.1", "new": "570.2", "kind": "changed"},
    ]
    text = shown("{% diff rows %}", rows=rows)
    assert text.index("driver") < text.index("1 unchanged") < text.index("kernel")


def test_what_a_block_holds_is_escaped_once() -> None:
    assert "a &amp; b" in shown("{% snippet label='x' %}{{ value }}{% endsnippet %}", value="a & b")
    assert "&lt;b&gt;" in shown("{% card title=title %}x{% endcard %}", title="<b>")


def test_a_command_that_wraps_keeps_its_options_and_addresses_whole() -> None:
    text = shown(
        "{% snippet label='x' wrap=True %}snp.py collect --url {{ url }}{% endsnippet %}", url="http://a/b"
    )
    assert 'collect <span class="whole">--url</span> <span class="whole">http://a/b</span>' in text
    assert "whole" not in shown("{% snippet label='x' wrap=True %}{{ x }}{% endsnippet %}", x="-" * 200)


def test_blocks_may_stand_inside_each_other() -> None:
    text = shown(
        "{% card title='A' %}{% callout tone='warn' %}{% verdict 'warn' %}{% endcallout %}{% endcard %}"
    )
    assert text.index("card-content") < text.index("notice tone-warn") < text.index("chip tone-warn")


def test_a_stacked_bar_is_drawn_to_the_scale_of_what_it_is_compared_with() -> None:
    parts = [
        {"label": "weights", "value": 20, "shown": "20 GB"},
        {"label": "rest", "value": 20, "shown": "20 GB"},
    ]
    text = shown("{% stacked parts label='memory' limit=72 limit_label='usable' scale=80 %}", parts=parts)
    assert 'x="250.00" y="0" width="250.00"' in text
    assert 'x1="900.00"' in text
    assert "is-over" not in text


def test_a_stacked_bar_is_said_in_words_with_the_marks_of_the_readers_language() -> None:
    parts = [{"label": name, "value": 2, "shown": "2 GB"} for name in ("权重", "其他")]
    with translation.override("zh-hans"):
        text = shown("{% stacked parts label='显存' legend=False %}", parts=parts)
    assert "权重 2 GB、其他 2 GB" in text


def test_a_stacked_bar_says_when_it_is_over_its_limit() -> None:
    parts = [{"label": "weights", "value": 90, "shown": "90 GB"}]
    assert "is-over" in shown("{% stacked parts label='memory' limit=72 %}", parts=parts)


@pytest.mark.parametrize(("cookie", "theme"), [("dark", "dark"), ("", "auto"), ('"><b>', "auto")])
def test_the_theme_is_that_of_the_cookie_where_it_is_one(cookie: str, theme: str) -> None:
    request = RequestFactory().get("/")
    request.COOKIES["theme"] = cookie
    assert Template("{% theme %}").render(Context({"request": request})) == theme


@pytest.mark.parametrize("name", TEMPLATES)
def test_a_template_compiles_and_holds_nothing_inline(name: str) -> None:
    get_template(name)
    markup = re.sub(r"{%.*?%}", "", (ROOT / "templates" / name).read_text())
    assert INLINE.findall(markup) == []


@pytest.mark.parametrize("status", [400, 403, 404, 409, 412, 413, 429, 503])
def test_an_error_page_says_what_happened_and_under_which_request(status: int) -> None:
    request = RequestFactory().get("/x/")
    text = get_template(f"errors/{status}.html").render(
        {"message": "It is so.", "request_id": "7f3c9d2e"}, request
    )
    assert "It is so." in text
    assert "7f3c9d2e" in text
    assert str(status) in text


def test_the_page_of_a_fault_of_ours_asks_nothing_of_the_database() -> None:
    request = RequestFactory().get("/x/")
    request.request_id = "7f3c9d2e"  # type: ignore[attr-defined]
    answer = error_pages.server_error(request)
    assert answer.status_code == 500
    assert "7f3c9d2e" in answer.content.decode()


@pytest.mark.parametrize(
    ("referrer", "again"),
    [
        ("http://testserver/x/?tab=1", "/x/?tab=1"),
        ("http://testserver", "/"),
        ("http://elsewhere.example/x/", "/"),
        ("http://testserver//elsewhere.example/x/", "/"),
        ("http://testserver/\\elsewhere.example/x/", "/"),
        ("http://[testserver/x/", "/"),
        ("", "/"),
    ],
)
def test_what_can_only_be_sent_is_not_offered_to_be_opened_again(referrer: str, again: str) -> None:
    request = RequestFactory().post("/x/approve/", headers={"Referer": referrer})
    assert f'href="{again}">' in error_pages.server_error(request).content.decode()


@pytest.mark.parametrize("status", [409, 412, 503])
def test_who_is_refused_is_led_back_to_the_page_that_was_shown(status: int) -> None:
    request = RequestFactory().post("/x/approve/")
    text = get_template(f"errors/{status}.html").render({"message": "It is so.", "again_url": "/x/"}, request)
    assert '<a class="btn" href="/x/">' in text
    assert "approve" not in text


@pytest.mark.parametrize("path", ["/x/", "/api/v1/x/"])
@pytest.mark.parametrize(
    ("fault", "status"),
    [
        (OperationalError("database or disk is full"), 503),
        (OperationalError("disk I/O error"), 503),
        (OperationalError("no such table: x"), 500),
        (ValueError("x"), 500),
    ],
)
def test_a_database_that_fails_is_no_fault_of_ours(fault: Exception, status: int, path: str) -> None:
    request = RequestFactory().get(path)
    try:
        raise fault
    except type(fault):
        answer = error_pages.server_error(request)
    assert answer.status_code == status
    assert str(status) in answer.content.decode()
    assert answer.has_header("Retry-After") is (status == 503)
