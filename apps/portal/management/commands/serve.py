"""Starts web, worker and scheduler together and stops them together."""

from __future__ import annotations

import ctypes
import os
import re
import signal
import socket
import subprocess
import sys
import time
from argparse import ArgumentParser
from collections.abc import Callable
from types import FrameType
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

_GRACE_S = 15
# Web answers what it is asked within this time and then closes connections that browsers keep open.
_WEB_GRACE_S = 3
# Celery warns of root because tasks that come pickled would run as root; ours take JSON only (celery.py), and the
# worker may do no more than the web beside it. Python's own way to silence one warning: -W action:message.
_NO_WORD_ABOUT_ROOT = "ignore:You're running the worker with superuser privileges"
_PR_SET_PDEATHSIG = 1
_HOST_AND_PORT = re.compile(r"(?:\[[0-9a-fA-F:.]+\]|[\w.-]*):([0-9]{1,5})")
_ALL_ADDRESSES = frozenset({"", "0.0.0.0", "[::]"})  # noqa: S104  they are read, not bound


class Command(BaseCommand):
    help = "Run web, worker and scheduler until Ctrl+C; where one of them ends, all of them stop."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--bind", default="", help="address:port; default is that of PORTAL_PUBLIC_URL")
        parser.add_argument("--workers", type=int, default=1, help="worker processes")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["bind"] and not _is_bindable(options["bind"]):
            raise CommandError("--bind takes HOST:PORT, such as 127.0.0.1:8000 or 0.0.0.0:8000")
        bind = options["bind"] or f"127.0.0.1:{urlsplit(settings.PUBLIC_URL).port or 8000}"
        address = address_to_open(options["bind"])
        told = ["env", f"PORTAL_PUBLIC_URL={address}"] if address != settings.PUBLIC_URL else []
        children = {  # their pages say the address too
            name: self._start([*told, *command])
            for name, command in _commands(bind, options["workers"]).items()
        }
        # SIGINT too: a shell script that starts us in the background has it ignored otherwise.
        for number in (signal.SIGINT, signal.SIGTERM):
            signal.signal(number, _as_interrupt)
        try:
            ended = _wait(children, lambda: _listens(bind))
            if not ended:
                bound = "" if urlsplit(address).netloc == bind else f", bound to {bind}"
                line = f"The portal is at {address}{bound}   (Ctrl+C stops it)"
                self.stdout.write(self.style.SUCCESS(line))
                ended = _wait(children, lambda: False)
        except KeyboardInterrupt:
            ended = ""
            self.stdout.write(
                f"Stopping: what is under way may end, for {_GRACE_S} s. Ctrl+C again stops at once."
            )
        _stop(children)
        if ended:
            raise CommandError(f"{ended} ended by itself; everything was stopped")

    def _start(self, command: list[str]) -> subprocess.Popen[bytes]:
        # A group of its own: Ctrl+C reaches this command only, which then stops its children in order.
        return subprocess.Popen(command, start_new_session=True, preexec_fn=_end_with_parent)  # noqa: S603  ours


def _is_bindable(bind: str) -> bool:
    found = _HOST_AND_PORT.fullmatch(bind)
    return found is not None and 0 < int(found[1]) < 65_536


def address_to_open(bind: str) -> str:
    """What a person types: the address that is set, or else where we are told to listen.

    What listens on all addresses of the machine listens on 127.0.0.1 too.
    """
    if not bind or settings.PUBLIC_URL_AS_SAID:
        return str(settings.PUBLIC_URL)
    host, _, port = bind.rpartition(":")
    return f"http://{'127.0.0.1' if host in _ALL_ADDRESSES else host}:{port}"


def _commands(bind: str, workers: int) -> dict[str, list[str]]:
    python, project = sys.executable, "supernode_portal"
    celery = [python, "-W", _NO_WORD_ABOUT_ROOT, "-m", "celery", "--quiet", "-A", project]
    return {
        "web": [
            *(python, "-m", "gunicorn", f"{project}.wsgi", "--bind", bind, "--worker-class", "gthread"),
            *("--workers", "2", "--threads", "8", "--timeout", "60", "--worker-tmp-dir", "/dev/shm"),  # noqa: S108  gunicorn's own advice
            *("--log-level", "warning", "--graceful-timeout", str(_WEB_GRACE_S)),
        ],
        "worker": [
            *celery,
            "worker",
            "--concurrency",
            str(workers),
            "--loglevel",
            "WARNING",
            "--without-gossip",
        ],
        "scheduler": [*celery, "beat", "--loglevel", "WARNING", "--pidfile="],
    }


def _end_with_parent() -> None:
    """In the child: SIGTERM when this command ends, however it ends (Linux only)."""
    if sys.platform == "linux":
        ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)


def _as_interrupt(_signal: int, _frame: FrameType | None) -> None:
    raise KeyboardInterrupt


def _wait(children: dict[str, subprocess.Popen[bytes]], until: Callable[[], bool]) -> str:
    """The name of the first child that ends; empty where what is waited for comes before."""
    while not until():
        for name, child in children.items():
            if child.poll() is not None:
                return name
        time.sleep(0.2)
    return ""


def _listens(bind: str) -> bool:
    host, _, port = bind.rpartition(":")
    try:
        socket.create_connection((host.strip("[]"), int(port)), timeout=1).close()
    except OSError:
        return False
    return True


def _stop(children: dict[str, subprocess.Popen[bytes]]) -> None:
    """Ask all of them at once to end what they do; who has not ended in time, or by the next Ctrl+C, is ended."""
    for child in children.values():
        if child.poll() is None:
            child.send_signal(signal.SIGTERM)
    deadline = time.monotonic() + _GRACE_S
    try:
        for child in children.values():
            child.wait(max(0.1, deadline - time.monotonic()))
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        for child in children.values():
            if child.poll() is None:
                os.killpg(child.pid, signal.SIGKILL)
