"""Every page that somebody can reach: it opens, scripts and policy are content, and all can use it."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Error, ViewportSize

from tests.browser.deeds import ask_for_change, open_launch
from tests.browser.portal_process import ROOT, Portal
from tests.browser.visitor import Visitor, visit
from tests.tours import kind_of

pytestmark = pytest.mark.browser
AXE = (ROOT / "tests/vendor/axe.min.js").read_text()
GO_DARK = """async () => {
  document.documentElement.dataset.bsTheme = "dark";
  document.dispatchEvent(new Event("portal:theme"));
  await new Promise((done) => requestAnimationFrame(() => setTimeout(done)));
}"""
EXCESS = """async () => {
  const excess = () => document.documentElement.scrollWidth - window.innerWidth;
  for (let turn = 0; turn < 60 && excess() > 0; turn += 1) {
    await new Promise((done) => requestAnimationFrame(() => setTimeout(done, 16)));
  }
  return excess();
}"""
SMALL_LAPTOP: ViewportSize = {"width": 1024, "height": 768}
REPEATED = [["tbody tr:nth-child(n+4)"], ["li:nth-child(n+9)"]]  # rows like those before them
SAMPLES = 1  # pages of one kind, such as that of a node
NO_PAGES = re.compile(r"\.(csv|json|jsonl|py|yml|yaml|xml|conf|txt|svg)$|/raw/$|/export/|/sign-out/|^/api/")


@pytest.fixture(scope="module")
def furnished(chromium: Browser, running: Portal) -> Portal:
    """The demonstration with a change that waits and a launch that is stopped."""
    operator = visit(chromium, running.url)
    operator.sign_in(*running.logins["operator"])
    ask_for_change(operator)
    open_launch(operator)
    operator.context.close()
    return running


def test_every_page_is_calm_and_without_serious_barrier_in_either_theme(
    chromium: Browser, furnished: Portal
) -> None:
    """The administrator sees most pages; what others are offered is toured without a browser."""
    found: dict[str, list[str]] = {}
    admin = visit(chromium, furnished.url)
    admin.open("/sign-in/")
    for barrier in barriers_on(admin):
        found.setdefault(barrier, []).append("/sign-in/")
    admin.sign_in(*furnished.logins["admin"])
    visited = 0
    for path in pages_of(admin):
        visited += 1
        for barrier in barriers_on(admin):
            found.setdefault(barrier, []).append(path)
    assert found == {}
    assert visited > 60
    admin.assert_calm()
    admin.context.close()


def pages_of(person: Visitor) -> Iterator[str]:
    """Open each page that can be reached by links, a few of each kind; gives its path while it is shown."""
    waiting, seen = ["/"], {"/"}
    kinds: Counter[tuple[str, ...]] = Counter()
    while waiting:
        path = waiting.pop(0)
        if not shows_page(person, path):
            continue
        yield path
        for link in person.page.locator("a[href]").evaluate_all("links => links.map(link => link.href)"):
            parts = urlsplit(link)
            target = parts.path + (f"?{parts.query}" if parts.query else "")
            if not link.startswith(person.url) or target in seen or NO_PAGES.search(parts.path):
                continue
            seen.add(target)
            kind = kind_of(target)
            kinds[kind] += 1
            if kinds[kind] <= SAMPLES:
                waiting.append(target)


def shows_page(person: Visitor, path: str) -> bool:
    """Open the address; False where it gives a file to keep instead of a page."""
    try:
        person.open(path)
    except Error as error:
        if "Download is starting" in error.message:
            return False
        raise
    return True


def barriers_on(person: Visitor) -> Iterator[str]:
    """Each rule of axe, serious or critical, that is broken, with the first element that breaks it.

    The dark theme differs by its colours only, so the page that is shown is put into it. On the window of a small
    laptop nothing stands beyond its edge.
    """
    if (wider := excess_at(person, SMALL_LAPTOP)) > 0:
        yield f"{wider} px wider than a window of {SMALL_LAPTOP['width']}"
    person.page.evaluate(AXE)
    yield from broken_rules(person, "light")
    person.page.evaluate(GO_DARK)
    yield from broken_rules(person, "dark", only=["color-contrast"])


def excess_at(person: Visitor, size: ViewportSize) -> int:
    """Pixels by which the page is wider than a window of the size; the window is given back its own."""
    usual = person.page.viewport_size
    assert usual is not None
    person.page.set_viewport_size(size)
    excess: int = person.page.evaluate(EXCESS)
    person.page.set_viewport_size(usual)
    return excess


def broken_rules(person: Visitor, theme: str, only: list[str] | None = None) -> Iterator[str]:
    # Without preloading, for which axe would write styles into the page that the policy forbids.
    options = {"resultTypes": ["violations"], "preload": False} | ({"runOnly": only} if only else {})
    asked = [{"exclude": REPEATED}, options]
    for rule in person.page.evaluate("([where, options]) => axe.run(where, options)", asked)["violations"]:
        if rule["impact"] in ("serious", "critical"):
            yield f"{theme}: {rule['id']}: {rule['nodes'][0]['html'][:300]}"
