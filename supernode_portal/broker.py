"""The embedded broker: kombu's filesystem transport, with messages that are never seen half-written.

kombu makes a message's file first and writes into it afterwards, so that a worker may take an empty file and end
over it; and it takes messages by way of /tmp, which is no single step where that is another file system.
"""

from __future__ import annotations

import logging
import time
import uuid
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps, loads

log = logging.getLogger(__name__)
_TABLE_TRIES = 40
_TABLE_PAUSE_S = 0.05
_LONGEST_WAIT_S = 0.3


class Channel(filesystem.Channel):
    """Messages as files; each gets its name when it is whole, and is taken by renaming it."""

    def _put(self, queue: str, payload: dict[str, Any], **_options: Any) -> None:
        folder = Path(self.data_folder_out)
        name = f"{time.time_ns():020}_{uuid.uuid4()}.{queue}.msg"
        partial = folder / f"{name}.part"
        partial.write_text(dumps(payload), encoding="utf-8")
        partial.rename(folder / name)

    def _get(self, queue: str) -> Any:
        folder = Path(self.data_folder_in)
        for name in sorted(path.name for path in folder.iterdir()):
            if name.partition(".")[2] != f"{queue}.msg":
                continue
            taken = folder / f"{name}.taken"
            try:
                (folder / name).rename(taken)
            except FileNotFoundError:  # another worker was faster
                continue
            text = taken.read_text(encoding="utf-8")
            taken.unlink()
            try:
                return loads(text)
            except ValueError:  # the job is a row and is sent again
                log.warning("a message that cannot be read was put away: %s", name)
        raise Empty

    def get_table(self, exchange: str) -> Any:
        """Which queues an exchange feeds; who makes the file locks it only after making it empty."""
        for _try in range(_TABLE_TRIES):
            try:
                return super().get_table(exchange)
            except ValueError:
                time.sleep(_TABLE_PAUSE_S)
        return super().get_table(exchange)


class Transport(filesystem.Transport):
    """What `filesystem://` stands for in this project."""

    Channel = Channel

    def drain_events(self, connection: Any, timeout: float | None = None) -> Any:
        """Waits for a message, but never long: a worker that is told to stop notices it between two waits."""
        if timeout is not None:
            timeout = min(timeout, _LONGEST_WAIT_S)
        return super().drain_events(connection, timeout=timeout)
