"""Pictures of the product for its documents: the demonstration with a launch that is stopped by the odd node.

Usage: python -m tests.browser.screenshots FOLDER [all]

Without "all" only the pictures that the documents show are taken.
"""

from __future__ import annotations

import sys
import tempfile
from dataclasses import dataclass
from pathlib import Path

from playwright.sync_api import Browser, sync_playwright

from tests.browser.deeds import ask_for_change, open_launch
from tests.browser.portal_process import Portal, portal
from tests.browser.visitor import CHROMIUM, visit

SHOWN = {"cluster-light-en", "launch-light-en", "drift-dark-en", "cluster-dark-zh", "launch-light-zh"}
LANGUAGES = {"en": "en", "zh": "zh-hans"}


@dataclass(frozen=True)
class Picture:
    """One page. path: with {launch}; height: of the window, in pixels."""

    name: str
    path: str
    height: int = 900


PICTURES = (
    Picture("overview", "/"),
    Picture("cluster", "/clusters/demo-144/"),
    Picture("topology", "/clusters/demo-144/topology/"),
    Picture("drift", "/environment/domains/1/drift/"),
    Picture("launch", "/launches/{launch}/", 1100),
    Picture("benchmark", "/benchmarks/2/"),
    Picture("plan", "/plans/1/versions/1/"),
    Picture("change", "/changes/1/"),
    Picture("audit", "/audit/"),
)


def main(folder: Path, names: set[str]) -> None:
    """Load the demonstration, do what makes its pages worth showing, and take the pictures (none named: all)."""
    folder.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as data, portal(Path(data)) as one, sync_playwright() as playwright:
        one.manage("collectstatic", "--noinput", "--verbosity", "0")
        one.load_demo()
        one.start()
        browser = playwright.chromium.launch(**CHROMIUM)
        operator = visit(browser, one.url)
        operator.sign_in(*one.logins["operator"])
        ask_for_change(operator)
        launch = open_launch(operator)
        for theme in ("light", "dark"):
            for language in LANGUAGES:
                take(browser, one, theme, language, launch, folder, names)


def take(
    browser: Browser, one: Portal, theme: str, language: str, launch: str, folder: Path, names: set[str]
) -> None:
    """Pages in one theme and one language, as the administrator sees them."""
    admin = visit(browser, one.url, theme=theme)
    admin.sign_in(*one.logins["admin"])
    admin.context.add_cookies([{"name": "language", "value": LANGUAGES[language], "url": one.url}])
    for picture in PICTURES:
        name = f"{picture.name}-{theme}-{language}"
        if names and name not in names:
            continue
        admin.page.set_viewport_size({"width": 1440, "height": picture.height})
        admin.open(picture.path.format(launch=launch))
        admin.page.wait_for_timeout(700)  # charts are drawn when they are seen
        admin.page.screenshot(path=folder / f"{name}.png")
    admin.context.close()


if __name__ == "__main__":
    main(Path(sys.argv[1]), set() if "all" in sys.argv[2:] else SHOWN)
