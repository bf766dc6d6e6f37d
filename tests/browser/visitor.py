"""Somebody at a browser: signs in, goes about by what is written on the page, and notes whatever goes wrong."""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from playwright.sync_api import (
    Browser,
    BrowserContext,
    ConsoleMessage,
    Locator,
    Page,
    Request,
    Response,
    expect,
)

CHROMIUM = {
    "executable_path": "/usr/bin/chromium",
    "args": ["--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking"],
}
expect.set_options(timeout=30_000)


@dataclass
class Visitor:
    """One person with one window. trouble: what the console, the policy and the server complained about."""

    context: BrowserContext
    page: Page
    url: str
    trouble: list[str] = field(default_factory=list)

    def sign_in(self, email: str, password: str) -> None:
        self.open("/sign-in/")
        self.page.get_by_label("Email").fill(email)
        self.page.get_by_label("Password").fill(password)
        self.page.get_by_role("button", name="Sign in").click()
        self.page.wait_for_url(f"{self.url}/")

    def open(self, path: str, *, status: int = 200) -> Locator:
        """Go to an address; gives the main part of its page. A refusal that is meant is no trouble."""
        known = len(self.trouble)
        answer = self.page.goto(self.url + path)
        assert answer is not None
        assert answer.status == status, f"{path}: {answer.status} instead of {status}"
        if status >= 400:
            self.trouble[known:] = [
                line for line in self.trouble[known:] if f"status of {status}" not in line
            ]
        return self.main

    @property
    def main(self) -> Locator:
        return self.page.get_by_role("main")

    def press(self, name: str) -> None:
        """The button of this name in the main part, or in the dialog that is open."""
        self.main.get_by_role("button", name=name, exact=True).locator("visible=true").first.click()

    def follow(self, name: str) -> None:
        """The link of this name in the main part."""
        self.main.get_by_role("link", name=name, exact=True).first.click()

    def navigate(self, name: str) -> None:
        """The entry of this name in the navigation."""
        self.page.get_by_role("navigation").get_by_role("link", name=name).first.click()

    def field(self, label: str) -> Locator:
        return self.main.get_by_label(re.compile(rf"^{re.escape(label)}( optional)?$"))

    def sees(self, *texts: str) -> None:
        """Each text is in the main part, now or soon."""
        for text in texts:
            expect(self.main).to_contain_text(text)

    def sees_heading(self, text: str) -> None:
        expect(self.page.get_by_role("heading", level=1)).to_contain_text(text)

    def reload_until(self, text: str) -> None:
        """Look at the page again and again until a worker has done what puts the text there."""
        for _look in range(60):
            if text in self.main.inner_text():
                return
            self.page.wait_for_timeout(500)
            self.page.reload()
        raise AssertionError(f"{text!r} did not appear on {self.page.url}:\n{self.main.inner_text()[:3000]}")

    def assert_calm(self) -> None:
        """Nothing went wrong since the last look."""
        found, self.trouble[:] = list(self.trouble), []
        assert found == []


def visit(browser: Browser, url: str, *, theme: str = "light", width: int = 1440) -> Visitor:
    """A new window of a person who has not signed in."""
    context = browser.new_context(viewport={"width": width, "height": 900}, reduced_motion="reduce")
    context.add_cookies([{"name": "theme", "value": theme, "url": url}])
    page = context.new_page()
    one = Visitor(context=context, page=page, url=url)

    def on_console(message: ConsoleMessage) -> None:
        if message.type in ("error", "warning"):
            one.trouble.append(f"{page.url}: console {message.type}: {message.text}")

    def on_request(request: Request) -> None:
        if request.url.endswith("/csp-report/"):
            one.trouble.append(f"{page.url}: policy: {request.post_data}")
        elif not request.url.startswith((url, "data:", "blob:")):
            one.trouble.append(f"{page.url}: asks elsewhere: {request.url}")

    def on_response(response: Response) -> None:
        if response.status >= 500:
            one.trouble.append(f"{page.url}: {response.status} from {response.url}")

    page.on("console", on_console)
    page.on("pageerror", lambda error: one.trouble.append(f"{page.url}: script: {error}"))
    page.on("request", on_request)
    page.on("response", on_response)
    return one
