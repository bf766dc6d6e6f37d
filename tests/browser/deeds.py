"""What people do on the pages of the demonstration, for the story and for whoever needs pages with something on."""

from __future__ import annotations

import re

from playwright.sync_api import expect

from tests.browser.visitor import Visitor


def make_token(person: Visitor) -> str:
    """A token for CI; gives its bearer text, which the page shows once."""
    person.open("/")
    person.page.locator("summary", has_text="Signed in as").click()
    person.page.get_by_role("link", name="API tokens").click()
    person.field("Name").fill("CI of the training team")
    for scope in ("evidence:write", "gate:evaluate", "read"):
        person.main.locator(f"input[name=scopes][value='{scope}']").check()
    person.press("Make the token")
    return re.search(r"snp_\w{12}\.\w+", person.main.inner_text())[0]


def ask_for_change(operator: Visitor) -> str:
    """A change of NCCL on all nodes, handed in for approval; gives its address."""
    operator.open("/changes/")
    operator.follow("New change")
    operator.main.get_by_label("Kind").select_option(label="NCCL")
    operator.field("Title").fill("NCCL 2.21.5 on all nodes")
    operator.field("Reason").fill("Fixes a hang that was seen twice.")
    operator.main.get_by_label("Component 1").fill("nccl")
    operator.main.get_by_label("Version 1").fill("2.21.5")
    operator.press("Keep as a draft")
    operator.press("Hand in for approval")
    return operator.page.url.removeprefix(operator.url)


def open_launch(operator: Visitor) -> str:
    """A launch of the plan on the whole domain, its manual items answered; gives its id. The odd node stops it."""
    operator.open("/launches/open/?cluster=demo-144")
    operator.field("Domain").select_option(label="Demo cluster · sn")
    operator.field("What is launched").fill("Llama 3 70B, second run")
    operator.field("Plan").select_option(label="Llama 3 70B on 144 v1")
    operator.field("Environment of the job").fill("export NCCL_DEBUG=WARN")
    operator.press("Open the launch")
    operator.page.wait_for_url(re.compile(r"/launches/[0-9a-f-]{36}/"))
    launch = re.search(r"[0-9a-f-]{36}", operator.page.url)[0]
    expect(operator.page.locator("#gate")).not_to_contain_text("is being evaluated")
    for item in operator.page.locator("#answers fieldset").all():
        item.locator("input[value=pass]").check()
        item.get_by_label("What you saw").fill("Looked at, and it is as it should be.")
    operator.press("Keep the answers")
    operator.sees("Answered by people")
    operator.reload_until("NO-GO")
    return launch
