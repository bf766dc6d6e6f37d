"""Stopping and killing: nothing stays behind, nothing is lost."""

from __future__ import annotations

import os
import signal
from pathlib import Path

import httpx
import pytest
from playwright.sync_api import Browser

from tests.browser.deeds import open_launch
from tests.browser.portal_process import Portal
from tests.browser.visitor import visit

# On the embedded default, where one command starts and stops all; tests/apps/jobs/test_worker.py kills workers of both.
pytestmark = pytest.mark.browser


def alive(pids: set[int]) -> set[int]:
    """Those that still run; a process that only waits to be collected does not."""
    return {pid for pid in pids if Path(f"/proc/{pid}").exists() and state_of(pid) != "Z"}


def state_of(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0]
    except FileNotFoundError:
        return "Z"


@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGTERM, signal.SIGKILL])
def test_stopping_leaves_nothing_running_and_starting_again_keeps_the_data(running: Portal, how: int) -> None:
    pids = running.everything()
    assert len(pids) >= 4
    running.stop(how)
    running.wait(lambda: alive(pids) == set(), "every process to end")
    assert running.status("/healthz") == 0
    running.start()
    assert "loaded already" in running.manage("load_demo")


def test_a_job_whose_worker_was_killed_is_done_after_the_next_start(
    running: Portal, chromium: Browser
) -> None:
    operator = visit(chromium, running.url)
    operator.sign_in(*running.logins["operator"])
    launch = open_launch(operator)
    worker = running.freeze("worker")  # the evaluation is asked for while nobody can take it
    operator.open(f"/launches/{launch}/")
    operator.press("Evaluate again")
    operator.sees("is being evaluated")
    os.killpg(worker, signal.SIGKILL)
    assert running.process is not None
    assert running.process.wait(60) != 0  # one process that ends ends them all, and says so
    assert "worker ended by itself" in running.log.read_text()
    running.process = None
    running.start()
    operator.open(f"/launches/{launch}/")
    operator.reload_until("NO-GO")
    operator.context.close()


def test_the_web_answers_while_the_worker_is_busy(running: Portal) -> None:
    with running.paused("worker"):
        assert httpx.get(f"{running.url}/sign-in/", trust_env=False).status_code == 200
