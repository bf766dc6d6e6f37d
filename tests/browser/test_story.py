"""A launch decided on real input, end to end: real processes, a real browser, on both engines.

The tests of this file are one story; each goes on where the one before it ended.
"""

from __future__ import annotations

import re
import shutil
import sqlite3
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

import httpx
import psycopg
import pytest
from playwright.sync_api import Browser, expect

from tests.browser.conftest import EMBEDDED, PASSED, SERVERS
from tests.browser.deeds import ask_for_change, make_token, open_launch
from tests.browser.portal_process import ROOT, Portal
from tests.browser.visitor import Visitor, visit

pytestmark = [
    pytest.mark.browser,
    pytest.mark.parametrize("running", [EMBEDDED, SERVERS], indirect=True, scope="module"),
]
DEMO = ROOT / "apps/portal/demo"
ODD, NODE = "sn-n07", "sn-n03"
SUN_SAYS = "Looked at the drift and the rollback."


@dataclass
class Story:
    """What the story remembers from one chapter to the next."""

    browser: Browser
    portal: Portal
    folder: Path
    people: dict[str, Visitor] = field(default_factory=dict)
    token: str = ""
    launch: str = ""
    change: str = ""
    rollback: str = ""
    checkpoint: Path | None = None
    stopped_at: str = ""

    def person(self, role: str) -> Visitor:
        """The person with this role, signed in."""
        if role not in self.people:
            self.people[role] = visit(self.browser, self.portal.url)
            self.people[role].sign_in(*self.portal.logins[role])
        return self.people[role]

    def gate(self, *more: str, token: str = "", url: str = "") -> int:
        """The exit code of the client that CI runs."""
        done = self.portal.client("gate", "--launch", self.launch, *more, token=token or self.token, url=url)
        return done.returncode

    def fresh(self, source: Path, name: str = "") -> str:
        """A copy of a file as if a tool had just written it."""
        return shutil.copyfile(source, self.folder / (name or source.name))


@pytest.fixture(scope="module")
def story(chromium: Browser, running: Portal, tmp_path_factory) -> Iterator[Story]:
    one = Story(browser=chromium, portal=running, folder=tmp_path_factory.mktemp("files"))
    yield one
    for person in one.people.values():
        person.context.close()


@pytest.fixture(autouse=True)
def _chapter(story: Story, request: pytest.FixtureRequest) -> Iterator[None]:
    """A chapter is not begun where an earlier one did not end well, and none may upset the browser."""
    if story.stopped_at:
        pytest.skip(f"the story stopped at: {story.stopped_at}")
    story.stopped_at = request.node.name
    yield
    for person in story.people.values():
        person.assert_calm()
    if request.node.stash[PASSED]:
        story.stopped_at = ""


def test_the_fleet_is_there_and_says_that_it_is_a_demonstration(story: Story) -> None:
    bo = story.person("operator")
    bo.sees_heading("Overview")
    bo.navigate("Clusters")
    bo.follow("Demo cluster")
    bo.sees("144", "accelerators", "18")
    expect(bo.page.get_by_label("Origin of the data")).to_contain_text("Demonstration")
    bo.follow("Topology")
    bo.sees_heading("sn")
    expect(bo.main.get_by_role("link", name=re.compile(NODE)).first).to_be_visible()
    expect(bo.page.get_by_label("Origin of the data")).to_be_visible()
    bo.page.keyboard.press("Control+k")
    bo.page.get_by_role("combobox", name="Go to").fill(ODD)
    expect(bo.page.get_by_role("option").first).to_contain_text(ODD)
    bo.page.keyboard.press("Enter")
    bo.sees_heading(ODD)


def test_a_token_is_shown_once(story: Story) -> None:
    bo = story.person("operator")
    story.token = make_token(bo)
    bo.open("/tokens/")
    bo.sees("CI of the training team", story.token.split(".")[0])
    assert story.token not in bo.page.content()


def test_output_comes_by_rest_with_a_token(story: Story) -> None:
    report = (DEMO / "h100x8-torch2.4.0.txt").read_bytes()
    receipt = hand_in(story.portal, story.token, "demo-144", NODE, "collect-env.txt", report)
    assert receipt["kind"] == "collect_env"
    bo = story.person("operator")
    bo.open(f"/evidence/receipts/{receipt['id']}/")
    bo.sees("collect-env.txt", NODE)


def hand_in(portal: Portal, token: str, cluster: str, node: str, name: str, report: bytes) -> dict:
    """Hand a report in as a script does; gives its receipt."""
    answer = httpx.post(
        f"{portal.url}/api/v1/clusters/{cluster}/evidence/",
        params={"node": node, "file_name": name},
        headers={"Authorization": f"Bearer {token}", "Content-Type": "application/octet-stream"},
        content=report,
        trust_env=False,
    )
    assert answer.status_code == 201, answer.text
    return answer.json()


def test_output_dropped_on_the_page_is_read_and_a_binary_is_refused(story: Story) -> None:
    bo = story.person("operator")
    bo.open("/clusters/demo-144/hand-in/")
    bo.main.locator("input[type=file]").set_input_files(story.fresh(DEMO / "h100x8-570.86.15.xml"))
    bo.main.locator("[name=node]").fill(NODE)
    bo.press("Hand in")
    bo.sees("h100x8-570.86.15.xml", "nvidia-smi -q -x", NODE)
    odd = story.folder / "core.bin"
    odd.write_bytes(bytes(range(256)) * 64)
    bo.open("/clusters/demo-144/hand-in/")
    bo.main.locator("input[type=file]").set_input_files(odd)
    bo.main.locator("[name=node]").fill(NODE)
    bo.press("Hand in")
    bo.sees("core.bin", "refused")


def test_output_comes_by_the_client_that_the_portal_serves(story: Story) -> None:
    client = httpx.get(f"{story.portal.url}/client/snp.py", trust_env=False)
    assert client.content == (ROOT / "apps/portal/client/snp.py").read_bytes()
    log = story.fresh(DEMO / "gb200x144-2rack-allreduce-rank-list-cut.log")
    done = story.portal.client("push", "--cluster", "demo-144", "--node", "sn", log, token=story.token)
    assert (done.returncode, "nccl_tests" in done.stdout) == (0, True), done.stdout + done.stderr
    unknown = story.portal.client("push", "--cluster", "elsewhere", "--node", "sn", log, token=story.token)
    assert (unknown.returncode, "no cluster" in unknown.stderr) == (2, True)


def test_a_new_cluster_is_built_from_a_template_and_its_nodes_report(story: Story) -> None:
    ada = story.person("admin")
    ada.open("/create-cluster/")
    ada.field("Name").fill("Hall 2")
    ada.main.get_by_label("Short name").fill("hall-2")
    ada.press("Create the cluster")
    ada.open("/clusters/hall-2/build-domain/")
    ada.field("Name of the domain").fill("north")
    ada.main.get_by_label("Accelerator", exact=True).select_option("nvidia-h100-sxm5-80gb")
    ada.press("Build the domain")
    ada.open("/clusters/hall-2/nodes/")
    ada.sees("north-n18")
    token = make_token(ada)
    usual = (DEMO / "h100x8-570.86.15.xml").read_bytes()
    odd = (DEMO / "h100x8-535.161.08.txt").read_bytes()
    for number in range(1, 19):
        report = odd if number == 11 else usual
        hand_in(story.portal, token, "hall-2", f"north-n{number:02}", "nvidia-smi", report)


def test_a_matrix_is_drafted_from_what_the_nodes_report_and_locked(story: Story) -> None:
    ada = story.person("admin")
    ada.open("/clusters/hall-2/environment/")
    ada.follow("New draft")
    ada.field("What it is for").first.fill("what runs today")
    ada.press("Draft from reports")
    ada.sees_heading("north environment v1")
    ada.sees("570.86.15")
    ada.press("Lock")
    dialog = ada.page.get_by_role("dialog")
    if dialog.get_by_role("textbox").count():  # an ended driver branch needs a reason
        dialog.get_by_role("textbox").first.fill("The newer branch is under test.")
    dialog.get_by_role("button", name=re.compile("^Lock")).click()
    ada.sees("locked")


def test_a_worker_checks_drift_and_the_odd_one_stands_out(story: Story) -> None:
    ada = story.person("admin")
    ada.open("/clusters/hall-2/environment/")
    ada.main.get_by_role("link", name="north", exact=True).first.click()
    drift = ada.page.url.removeprefix(story.portal.url)
    ada.press("Check now")
    ada.open(drift)
    ada.reload_until("The odd one out")
    ada.sees("north-n11", "535.161.08", "17 nodes run 570.86.15")


def test_the_plan_shows_where_the_memory_goes_and_that_it_fits(story: Story) -> None:
    bo = story.person("operator")
    bo.navigate("Plans")
    bo.follow("Llama 3 70B on 144")
    bo.main.get_by_role("link", name="v1", exact=True).first.click()
    # Nine of the 80 layers and the embedding, over eight ways of tensor parallelism: 1.094e9 parameters.
    layer = 2 * 8192**2 + 2 * 8192 * 1024 + 3 * 8192 * 28672
    parameters = (9 * layer + 128256 * 8192) / 8
    bytes_of_each = {
        "weights": 2,
        "gradients": 4,
        "optimizer": 12 / 2,
    }  # the optimizer is split over two replicas
    bo.sees("fits", "fullest, decides")
    text = re.sub(r"\s+", " ", bo.main.inner_text())
    for name, each in bytes_of_each.items():
        assert f"{name} {parameters * each / 1e9:.2f} GB" in text


def test_a_change_is_asked_for_by_one_person_and_approved_by_another(story: Story) -> None:
    bo, chen = story.person("operator"), story.person("approver")
    story.change = ask_for_change(bo)
    expect(bo.main.get_by_role("button", name="Approve")).to_have_count(0)
    chen.open(story.change)
    chen.press("Approve")
    chen.sees("Approve this change?", "2.21.5")
    chen.press("Yes, approve")
    chen.sees("Approved; it may start")


def test_the_launch_is_stopped_by_the_odd_node(story: Story) -> None:
    bo = story.person("operator")
    story.launch = open_launch(bo)
    bo.sees("stop", ODD)
    assert story.gate() == 1


def test_ci_gets_an_answer_for_every_way_it_can_go_wrong(story: Story) -> None:
    token = f"{story.token.split('.')[0]}.{'0' * 40}"
    assert story.gate(token=token) == 4
    assert story.gate(url="http://127.0.0.1:9") == 6
    done = story.portal.client("gate", "--launch", "0" * 8 + "-0000-4000-8000-" + "0" * 12, token=story.token)
    assert done.returncode == 3
    assert story.portal.client("gate", token=story.token).returncode == 2


def test_one_click_opens_the_rollback_to_the_last_known_good(story: Story) -> None:
    bo = story.person("operator")
    bo.open(f"/launches/{story.launch}/")
    bo.follow("Roll back to the last known-good")
    bo.sees(ODD, "535.161.08", "570.86.15")
    if bo.field("Name of the cluster").count():
        bo.field("Name of the cluster").fill("Demo cluster")
    bo.press("Start the rollback")
    bo.sees_heading("Back to sn environment v1")
    story.rollback = bo.page.url.removeprefix(story.portal.url)
    bo.sees("1 node does not report the restored version yet")


def test_the_rollback_closes_itself_when_the_node_reports(story: Story) -> None:
    bo = story.person("operator")
    report = story.fresh(DEMO / "h100x8-570.86.15.xml", "nvidia-smi-of-n07.xml")
    done = story.portal.client("push", "--cluster", "demo-144", "--node", ODD, report, token=story.token)
    assert done.returncode == 0, done.stderr
    bo.open(story.rollback)
    bo.reload_until("Every node reported the restored versions")
    chen = story.person("approver")
    chen.open(story.rollback)
    chen.field("What you found").fill("The driver is back; the node was reinstalled by hand.")
    chen.press("Record the review")


def test_a_new_evaluation_waits_for_a_signature_and_a_signature_makes_it_go(story: Story) -> None:
    bo, sun = story.person("operator"), story.person("signer")
    bo.open(f"/launches/{story.launch}/")
    bo.press("Evaluate again")
    bo.reload_until("a signature is missing")
    assert story.gate() == 10
    sun.open(f"/launches/{story.launch}/")
    sun.main.get_by_label(re.compile("^Comment")).fill(SUN_SAYS)
    sun.press("Sign GO")
    sun.sees("Sign GO for this launch?")
    sun.press("Yes, sign GO")
    sun.sees("The job may start")
    assert story.gate() == 0
    done = story.portal.client("gate", "--cluster", "demo-144", "--nodes", "sn-n[01-18]", token=story.token)
    assert done.returncode == 0, done.stdout


def test_without_a_worker_the_gate_says_unknown(story: Story) -> None:
    """An evaluation that nobody has made yet is not a go."""
    bo = story.person("operator")
    with story.portal.paused("worker"):
        bo.open(f"/launches/{story.launch}/")
        bo.press("Evaluate again")
        assert story.gate() == 0  # the signature would be lost, which is asked first
        bo.press("Yes, evaluate again")
        assert story.gate() == 3
    bo.open(f"/launches/{story.launch}/")
    bo.reload_until("a signature is missing")


def test_the_trail_tells_the_whole_story_and_holds(story: Story) -> None:
    dana = story.person("auditor")
    dana.navigate("Audit")
    text = ""
    for page in range(1, 5):
        text += dana.open(f"/audit/?page={page}").inner_text() if page > 1 else dana.main.inner_text()
    for action in ("launch.opened", "launch.signed", "change.approved", "matrix.locked"):
        assert action in text, action
    ada = story.person("admin")  # the auditor of one cluster does not see the whole chain
    ada.open("/audit/")
    ada.press("Verify the chain")
    ada.reload_until("succeeded")
    story.checkpoint = Path(story.portal.manage("audit_checkpoint").strip())
    assert "intact" in story.portal.manage("audit_verify", str(story.checkpoint))


def test_a_row_that_was_changed_past_the_triggers_is_found(story: Story) -> None:
    touched = change_a_row(story.portal)
    printed = story.portal.manage("audit_verify", str(story.checkpoint), expect=1)
    assert str(touched) in printed
    ada = story.person("admin")
    ada.open("/audit/")
    ada.press("Verify the chain")
    ada.reload_until(f"broken at event {touched}")
    ada.open("/audit/")
    ada.sees("The audit trail does not hold", f"Event {touched}")


def change_a_row(portal: Portal) -> int:
    """Rewrite the tenth event, without the triggers that forbid it; gives its number."""
    seq, update = 10, "UPDATE audit_auditevent SET body = body || ' ' WHERE seq = 10"
    if url := portal.env.get("DATABASE_URL"):
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER TABLE audit_auditevent DISABLE TRIGGER USER")
            connection.execute(update)
        return seq
    connection = sqlite3.connect(Path(portal.env["PORTAL_DATA_DIR"]) / "portal.sqlite3", timeout=30)
    triggers = connection.execute(
        "SELECT name FROM sqlite_master WHERE type = 'trigger' AND tbl_name = 'audit_auditevent'"
    )
    for (name,) in triggers.fetchall():
        connection.execute(f'DROP TRIGGER "{name}"')
    connection.execute(update)
    connection.commit()
    connection.close()
    return seq
