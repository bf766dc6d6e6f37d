"""Starting the portal's own processes for a test, and waiting for what they do."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 90


def environment(data_dir: Path, database_url: str, broker_url: str = "") -> dict[str, str]:
    """The variables of a process that works on the test's own database, with short spans."""
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    return kept | {
        "DJANGO_SETTINGS_MODULE": "supernode_portal.settings",
        "PYTHONPATH": str(ROOT),
        "PORTAL_DATA_DIR": str(data_dir),
        "DATABASE_URL": database_url,
        "CELERY_BROKER_URL": broker_url,
        "PORTAL_JOB_LEASE_S": "3",
        "PORTAL_JOB_RESEND_S": "1",
        "PORTAL_TICK_S": "1",
    }


@contextmanager
def worker(env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    """A worker and the scheduler, in process groups of their own; killed at the end."""
    options = ["--concurrency=1", "--without-mingle", "--without-gossip", "--loglevel=INFO"]
    times = ["-s", str(log.with_suffix(".beat")), "--pidfile="]
    with _celery(["beat", *times], env, log), _celery(["worker", *options], env, log) as process:
        yield process


@contextmanager
def _celery(arguments: list[str], env: dict[str, str], log: Path) -> Iterator[subprocess.Popen[bytes]]:
    command = [sys.executable, "-m", "celery", "-A", "tests.support.worker_app", *arguments]
    with log.open("ab") as out:
        process = subprocess.Popen(command, env=env, cwd=ROOT, stdout=out, stderr=out, start_new_session=True)
    try:
        yield process
    finally:
        kill(process)


def kill(process: subprocess.Popen[bytes]) -> None:
    """kill -9 of the process and all of its children."""
    if process.poll() is None:
        os.killpg(process.pid, signal.SIGKILL)
        process.wait()


def kill_children(process: subprocess.Popen[bytes]) -> None:
    """kill -9 of what the process has started, which itself goes on."""
    begun = [pid for pid, parent in _parents() if parent == process.pid]
    assert begun, "there is no child to kill"
    for pid in begun:
        os.kill(pid, signal.SIGKILL)


def _parents() -> Iterator[tuple[int, int]]:
    """Each process and the one that started it."""
    for place in Path("/proc").glob("[0-9]*/stat"):
        with suppress(FileNotFoundError, ProcessLookupError):  # it ended meanwhile
            yield int(place.parent.name), int(place.read_text().rpartition(")")[2].split()[1])


def until(condition: Callable[[], bool], what: str, *, by: subprocess.Popen[bytes], log: Path) -> None:
    """Look again and again until it holds. Fails with the log's end where it never does, or the process ends."""
    deadline = time.monotonic() + PATIENCE_S
    while not condition():
        if by.poll() is not None or time.monotonic() > deadline:
            raise AssertionError(f"waited for {what}; the log ends:\n{log.read_text()[-3000:]}")
        time.sleep(0.1)
