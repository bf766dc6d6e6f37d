"""The portal's real processes for a test: a database and a data folder of its own, `manage.py serve`, the client."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import socket
import sqlite3
import subprocess
import sys
import time
import urllib.error
import urllib.request
import uuid
from collections.abc import Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path

import psycopg

ROOT = Path(__file__).resolve().parents[2]
PATIENCE_S = 120
_PR_SET_PDEATHSIG = 1
_libc = ctypes.CDLL(None)


@dataclass
class Portal:
    """One portal that is set up; it answers between start() and stop().

    env: variables of all of its processes. log: what they say. logins: role to (email, password) of the
    demonstration's people.
    """

    url: str
    env: dict[str, str]
    log: Path
    logins: dict[str, tuple[str, str]] = field(default_factory=dict)
    process: subprocess.Popen[bytes] | None = None

    def manage(self, *arguments: str, expect: int = 0) -> str:
        """What a manage.py command prints. Fails where it ends with another code than expected."""
        done = subprocess.run(
            [sys.executable, "manage.py", *arguments],
            **(self._common() | {"stdout": subprocess.PIPE, "stderr": subprocess.PIPE}),
            text=True,
        )
        assert done.returncode == expect, f"{arguments}: {done.returncode}\n{done.stdout}\n{done.stderr}"
        return done.stdout

    def load_demo(self) -> None:
        """Load the demonstration fleet and keep its logins."""
        printed = self.manage("load_demo")
        rows = re.findall(r"^\s+(\w+)\s+(\S+@\S+)\s+(\S+)$", printed, re.MULTILINE)
        self.logins |= {role: (email, password) for role, email, password in rows}

    def start(self) -> None:
        """Start web, worker and scheduler, and wait until all are at hand."""
        command = [sys.executable, "manage.py", "serve", "--bind", self.url.removeprefix("http://")]
        with self.log.open("ab") as out:
            self.process = subprocess.Popen(command, **self._common(), stdout=out, stderr=out)
        self.wait(lambda: self.status("/readyz") == 200, "the portal to be ready")

    def stop(self, how: int = signal.SIGINT) -> int:
        """Stop it as Ctrl+C does; gives the exit code of `serve`."""
        assert self.process is not None
        if self.process.poll() is None:
            self.process.send_signal(how)
        code = self.process.wait(60)
        self.process = None
        return code

    def child(self, name: str) -> int:
        """The process id of "web", "worker" or "beat"."""
        assert self.process is not None
        serve = self.process.pid
        word = {"web": b"gunicorn"}.get(name, name.encode())
        for pid in Path(f"/proc/{serve}/task/{serve}/children").read_text().split():
            if word in Path(f"/proc/{pid}/cmdline").read_bytes().split(b"\0"):
                return int(pid)
        raise AssertionError(f"there is no {name}")

    def everything(self) -> set[int]:
        """Process ids of `serve` and all that it started."""
        assert self.process is not None
        found, waiting = set(), [self.process.pid]
        while waiting:
            pid = waiting.pop()
            found.add(pid)
            with suppress(FileNotFoundError):
                waiting += map(int, Path(f"/proc/{pid}/task/{pid}/children").read_text().split())
        return found

    def freeze(self, name: str) -> int:
        """Stop one of the processes where it is, but not while it holds SQLite's only place to write; its group."""
        group = self.child(name)
        for _attempt in range(100):
            os.killpg(group, signal.SIGSTOP)
            if self._others_may_write():
                return group
            os.killpg(group, signal.SIGCONT)
            time.sleep(0.1)
        raise AssertionError(f"{name} writes without end")

    def _others_may_write(self) -> bool:
        if self.env.get("DATABASE_URL"):
            return True
        database = Path(self.env["PORTAL_DATA_DIR"]) / "portal.sqlite3"
        with closing(sqlite3.connect(database, timeout=0.2, isolation_level=None)) as connection:
            try:
                connection.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError:
                return False
            connection.execute("ROLLBACK")
        return True

    @contextmanager
    def paused(self, name: str) -> Iterator[None]:
        """One of the processes does nothing for a while, with all of its own children."""
        group = self.freeze(name)
        try:
            yield
        finally:
            os.killpg(group, signal.SIGCONT)

    def client(self, *arguments: str, token: str, url: str = "") -> subprocess.CompletedProcess[str]:
        """Run the client as a node or CI does, with the token in its environment."""
        return subprocess.run(
            [sys.executable, str(ROOT / "apps/portal/client/snp.py"), *arguments, "--url", url or self.url],
            env={"SNP_TOKEN": token, "PATH": os.environ["PATH"]},
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=PATIENCE_S,
        )

    def status(self, path: str) -> int:
        """The HTTP status of a page without signing in; 0 where nobody answers."""
        try:
            with urllib.request.urlopen(self.url + path, timeout=10) as answer:
                return answer.status
        except urllib.error.HTTPError as error:
            return error.code
        except OSError:
            return 0

    def wait(self, condition, what: str) -> None:
        """Look again and again until it holds. Fails with the log's end where it never does."""
        deadline = time.monotonic() + PATIENCE_S
        while not condition():
            ended = self.process is not None and self.process.poll() is not None
            if ended or time.monotonic() > deadline:
                raise AssertionError(f"waited for {what}; the log ends:\n{self.log.read_text()[-4000:]}")
            time.sleep(0.2)

    def _common(self) -> dict:
        return {
            "cwd": ROOT,
            "env": self.env,
            "stdin": subprocess.DEVNULL,
            "start_new_session": True,
            "preexec_fn": _end_with_the_test,
        }


def _end_with_the_test() -> None:
    """In the child: SIGTERM when the test's process ends, however it ends."""
    _libc.prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def free_port() -> int:
    with socket.socket() as one:
        one.bind(("127.0.0.1", 0))
        return one.getsockname()[1]


@contextmanager
def portal(
    folder: Path, *, database_url: str = "", redis_url: str = "", **variables: str
) -> Iterator[Portal]:
    """A migrated portal without people; stopped at the end.

    database_url: empty for SQLite in the folder. redis_url: a server without database number that may be emptied;
    empty for the filesystem broker.
    """
    url = f"http://127.0.0.1:{free_port()}"
    kept = {name: value for name, value in os.environ.items() if not name.startswith("PORTAL_")}
    for name in ("DATABASE_URL", "CELERY_BROKER_URL", "REDIS_URL", "DJANGO_SETTINGS_MODULE"):
        kept.pop(name, None)
    env = kept | {
        "PORTAL_DATA_DIR": str(folder / "data"),
        "PORTAL_PUBLIC_URL": url,
        "PORTAL_LOG_LEVEL": "WARNING",
    }
    env |= {"PORTAL_TICK_S": "1", "PORTAL_JOB_RESEND_S": "2", "PYTHONPATH": str(ROOT)}
    if database_url:
        env["DATABASE_URL"] = database_url
    if redis_url:
        env |= {"CELERY_BROKER_URL": f"{redis_url}/3", "REDIS_URL": f"{redis_url}/4"}
    one = Portal(url=url, env=env | variables, log=folder / "portal.log")
    one.manage("migrate", "--verbosity", "0")
    try:
        yield one
    finally:
        if one.process is not None:
            one.stop(signal.SIGTERM)


@contextmanager
def own_postgresql(server_url: str) -> Iterator[str]:
    """An empty database of the test's own on a server; its address. Dropped at the end."""
    name = f"portal_{uuid.uuid4().hex[:10]}"
    with psycopg.connect(server_url, autocommit=True) as connection:
        connection.execute(f'CREATE DATABASE "{name}"')
    try:
        yield f"{server_url.rpartition('/')[0]}/{name}"
    finally:
        with psycopg.connect(server_url, autocommit=True) as connection:
            connection.execute(f'DROP DATABASE "{name}" WITH (FORCE)')
