"""Every page part in a real browser: policy, accessibility, narrow screens, and what the scripts do."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from datetime import UTC, datetime
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django import forms
from django.core.paginator import Paginator
from django.template import Context, Template
from django.test import RequestFactory
from playwright.sync_api import Browser, Page

ROOT = Path(__file__).resolve().parents[2]
AXE = (ROOT / "tests/vendor/axe.min.js").read_text()
POLICY = "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; connect-src 'self'"
AT = datetime(2026, 11, 29, 18, 30, tzinfo=UTC)

pytestmark = pytest.mark.browser


class Everything(forms.Form):
    name = forms.CharField(help_text="As on the racks.")
    note = forms.CharField(widget=forms.Textarea, required=False)
    kind = forms.ChoiceField(choices=[("a", "driver"), ("b", "firmware")], widget=forms.RadioSelect)
    drained = forms.BooleanField(label="Nodes are drained", required=False)


def style_values() -> dict[str, Any]:
    """What the style page shows: some of everything."""
    sizes = [2**step for step in range(10, 34)]
    bandwidths = [361 / (1 + 3e7 / size) for size in sizes]
    items = [
        {"name": "Overview", "url": "/", "icon": "layout-dashboard", "active": True},
        {"name": "Launches", "url": "/launches/", "icon": "rocket", "active": False},
    ]
    return {
        "navigation": [{"name": "", "items": items[:1]}, {"name": "Decisions", "items": items[1:]}],
        "clusters": [{"name": "aurora-144", "url": "/", "active": True, "demo": True}],
        "current_cluster": {"name": "aurora-144", "slug": "aurora-144"},
        "demo_slugs": {"aurora-144"},
        "now": AT,
        "sha": "sha256:" + "a1" * 32,
        "verdicts": ["pass", "warn", "fail", "unknown", "waived", "running"],
        "states": ["draft", "submitted", "quarantined", "stale", "maintenance", "needs_signoff"],
        "page": Paginator(range(300), 25).page(3),
        "figure": {
            "data": [{"x": sizes, "y": bandwidths, "name": "run 41"}],
            "layout": {"xaxis": {"type": "log", "title": "message size (B)"}},
        },
        "columns": ["size", "busbw"],
        "rows": [[size, round(bandwidth, 1)] for size, bandwidth in zip(sizes, bandwidths, strict=True)],
        "numbers": range(1, 9),
        "memory": [{"label": "weights", "value": 14.2, "shown": "14.2 GB"}],
        "diff_rows": [{"key": "driver", "old": "570.1", "new": "570.2", "kind": "changed"}],
        "form": Everything({"name": "a"}),
    }


class Handler(SimpleHTTPRequestHandler):
    """The style page at /, the static files below it, all of it under the policy."""

    pages: dict[str, str] = {}

    def end_headers(self) -> None:
        self.send_header("Content-Security-Policy", POLICY)
        super().end_headers()

    def do_GET(self) -> None:
        theme = self.path.removeprefix("/?theme=")
        if theme not in self.pages:
            super().do_GET()
            return
        body = self.pages[theme].encode()
        self.send_response(200)
        self.send_header("Content-Type", "text/html; charset=utf-8")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, format: str, *args: Any) -> None:
        """Say nothing."""


def style_page(theme: str) -> str:
    request = RequestFactory().get("/")
    request.COOKIES["theme"] = theme
    request.user = SimpleNamespace(name="Bo", is_authenticated=True)  # type: ignore[assignment]
    source = (ROOT / "tests/apps/core/style_page.html").read_text()
    return Template(source).render(Context({"request": request, **style_values()}))


@pytest.fixture(scope="module")
def address() -> Iterator[str]:
    Handler.pages = {theme: style_page(theme) for theme in ("light", "dark")}
    server = ThreadingHTTPServer(("127.0.0.1", 0), partial(Handler, directory=str(ROOT)))
    thread = threading.Thread(target=server.serve_forever, daemon=True)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.shutdown()
    server.server_close()
    thread.join()


@pytest.fixture(params=[("light", 1440), ("dark", 1440), ("light", 390), ("dark", 390)], ids=str)
def page(request: pytest.FixtureRequest, chromium: Browser, address: str) -> Iterator[Page]:
    theme, width = request.param
    context = chromium.new_context(viewport={"width": width, "height": 900})
    page = context.new_page()
    page.add_init_script(
        "window.refused = []; document.addEventListener('securitypolicyviolation', "
        "(event) => window.refused.push(event.violatedDirective + ' ' + event.blockedURI));"
    )
    page.goto(f"{address}/?theme={theme}")
    yield page
    context.close()


def test_nothing_on_the_page_is_refused_by_the_policy_and_the_chart_is_drawn(page: Page) -> None:
    page.locator(".chart-canvas").scroll_into_view_if_needed()
    page.locator(".chart-canvas svg.main-svg").first.wait_for()
    assert page.evaluate("window.refused") == []


def test_what_a_job_brings_is_drawn_as_what_was_there(page: Page) -> None:
    brought = Template(
        '{% chart figure id="brought" title="Queue" summary="All ran." columns=columns rows=rows %}'
    )
    html = brought.render(Context(style_values()))
    page.route("**/reading", lambda route: route.fulfill(body=html, content_type="text/html"))
    page.evaluate(
        """() => {
          const part = Object.assign(document.createElement("div"), {id: "part"});
          part.dataset.poll = "/reading";
          document.querySelector("main").append(part);
          document.dispatchEvent(new CustomEvent("htmx:load", {detail: {elt: part}}));
        }"""
    )
    page.locator("#part .chart-canvas").scroll_into_view_if_needed()
    page.locator("#part svg.main-svg").first.wait_for()


def test_no_serious_accessibility_rule_is_broken(page: Page) -> None:
    page.evaluate(AXE)
    found = page.evaluate("axe.run()")["violations"]
    assert [
        (rule["id"], rule["nodes"][0]["html"]) for rule in found if rule["impact"] in ("serious", "critical")
    ] == []


def test_the_page_is_no_wider_than_the_screen(page: Page) -> None:
    assert page.evaluate("document.documentElement.scrollWidth <= window.innerWidth")


def test_the_palette_finds_pages_of_the_navigation(page: Page) -> None:
    page.locator("main").click(position={"x": 2, "y": 2})
    page.keyboard.press("Control+k")
    page.keyboard.type("laun")
    page.locator("#palette [role=option]", has_text="Overview").wait_for(state="detached")
    assert page.locator("#palette [role=option]").all_inner_texts() == ["Launches"]


def test_a_legend_hides_what_was_not_chosen_and_keeps_the_choice_in_the_address(page: Page) -> None:
    page.locator(".value-legend button[data-value=fail]").click()
    assert page.locator("#v .rack-node:visible").count() == page.locator("#v [data-value=fail]").count()
    assert "show-v=fail" in page.url


def test_a_part_of_a_form_is_shown_for_the_answers_that_need_it(page: Page) -> None:
    firmware, nameless = page.locator("[data-when='kind=b']"), page.locator("[data-when='!name']")
    assert firmware.is_hidden()
    page.locator("input[name=kind][value=b]").check()
    assert firmware.is_visible()
    page.locator("input[name=name]").fill("rack 7")
    page.locator("input[name=name]").blur()
    assert nameless.is_hidden()
    page.locator("input[name=name]").fill("")
    page.locator("input[name=name]").blur()
    assert nameless.is_visible()


def test_the_theme_changes_without_a_reload(page: Page) -> None:
    before = page.evaluate("getComputedStyle(document.body).backgroundColor")
    other = "light" if page.evaluate("document.documentElement.dataset.bsTheme") == "dark" else "dark"
    page.locator("details:has([data-theme-menu]) > summary").click()
    page.locator(f"[data-theme-menu] button[value={other}]").click()
    assert page.evaluate("getComputedStyle(document.body).backgroundColor") != before
    assert f"theme={other}" in page.evaluate("document.cookie")
