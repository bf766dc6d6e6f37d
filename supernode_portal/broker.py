"""The embedded broker: kombu's filesystem transport, with files that are never seen half-written.

kombu makes a file first, and locks and fills it afterwards: of two processes that start together one may read an empty
message or an empty table of queues, and end over it. It also takes messages by way of /tmp, which is no single step
where that is another file system.
"""

from __future__ import annotations

import fcntl
import logging
import time
import uuid
from contextlib import suppress
from pathlib import Path
from queue import Empty
from typing import Any

from kombu.transport import filesystem
from kombu.utils.json import dumps, loads

log = logging.getLogger(__name__)
_LOOK_EVERY_S = 0.1


def _write(file: Path, content: Any) -> None:
    """The file appears under its name, or in its older self's place, when it is whole."""
    file.parent.mkdir(parents=True, exist_ok=True)
    partial = file.with_name(f"{file.name}.{uuid.uuid4()}.part")
    partial.write_text(dumps(content), encoding="utf-8")
    partial.replace(file)


class Channel(filesystem.Channel):
    """Messages as files; each gets its name when it is whole, and is taken by renaming it."""

    def _put(self, queue: str, payload: dict[str, Any], **_options: Any) -> None:
        _write(Path(self.data_folder_out) / f"{time.time_ns():020}_{uuid.uuid4()}.{queue}.msg", payload)

    def _get(self, queue: str) -> Any:
        folder = Path(self.data_folder_in)
        for message in sorted(folder.glob(f"*.{queue}.msg")):
            taken = message.with_name(f"{message.name}.taken")
            try:
                message.rename(taken)
            except FileNotFoundError:  # another worker was faster
                continue
            text = taken.read_text(encoding="utf-8")
            taken.unlink()
            try:
                return loads(text)
            except ValueError:  # the job is a row and is sent again
                log.warning("a message that cannot be read was put away: %s", message.name)
        raise Empty

    def get_table(self, exchange: str) -> Any:
        """Which queues an exchange feeds: none where its table cannot be read, until the next worker writes it anew."""
        try:
            return super().get_table(exchange)
        except ValueError:
            log.warning("the table of the exchange %s cannot be read", exchange)
            return []

    def _queue_bind(self, exchange: str, routing_key: str, pattern: str, queue: str) -> None:
        row = filesystem.exchange_queue_t(routing_key or "", pattern or "", queue or "")
        control = Path(self.control_folder)
        control.mkdir(parents=True, exist_ok=True)
        with (control / "lock").open("w") as lock:
            fcntl.flock(lock, fcntl.LOCK_EX)
            table = self.get_table(exchange)
            if row not in table:
                _write(self._exchange_file(exchange), [row, *table])


class Transport(filesystem.Transport):
    """What `filesystem://` stands for in this project.

    A worker looks for messages from its event loop. Without one, its children would share one pipe behind a lock,
    which a child that is killed while it waits takes with it, so that no other would ever be given work.
    """

    Channel = Channel
    implements = filesystem.Transport.implements.extend(asynchronous=True)

    def register_with_event_loop(self, connection: Any, loop: Any) -> None:
        loop.call_repeatedly(_LOOK_EVERY_S, self._look)

    def _look(self) -> None:
        """Take what is there, as far as the worker has room for it."""
        with suppress(Empty):
            while True:
                self.cycle.get(self._deliver)
