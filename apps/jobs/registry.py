"""Which function does which kind of work; tasks.py of each app registers its own."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.jobs.running import RunningJob

Handler = Callable[["RunningJob"], Any]
_handlers: dict[str, Handler] = {}


def job(kind: str) -> Callable[[Handler], Handler]:
    """Register a function of one RunningJob under a kind such as "environments.check_drift"."""

    def register(handler: Handler) -> Handler:
        if kind in _handlers and _handlers[kind] is not handler:
            raise RuntimeError(f"two handlers for {kind}")
        _handlers[kind] = handler
        return handler

    return register


def handler_of(kind: str) -> Handler | None:
    return _handlers.get(kind)
