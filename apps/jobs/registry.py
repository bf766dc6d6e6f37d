"""Which function does which kind of work; tasks.py of each app registers its own."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, ExitStack, contextmanager
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from apps.jobs.running import RunningJob

Handler = Callable[["RunningJob"], Any]
_handlers: dict[str, Handler] = {}
_every_s: dict[str, int] = {}
_surroundings: list[Callable[[], AbstractContextManager[None]]] = []


def job(kind: str, *, every_s: int | None = None) -> Callable[[Handler], Handler]:
    """Register a function of one RunningJob under a kind such as "environments.check_drift".

    It computes first, then applies the effect inside of `with running.finishing() as outcome:`, so that effect
    and completion are one transaction. What it returns is the result where it never enters `finishing()`:
    right only for work without effect, or whose effect may happen twice.
    every_s: seconds after which the work is due again and again, until a team changes its schedule.
    """

    def register(handler: Handler) -> Handler:
        if kind in _handlers and _handlers[kind] is not handler:
            raise RuntimeError(f"two handlers for {kind}")
        _handlers[kind] = handler
        if every_s is not None:
            _every_s[kind] = every_s
        return handler

    return register


def run_inside(surrounding: Callable[[], AbstractContextManager[None]]) -> None:
    """Have every job done within a context, such as figures that an app lays over shipped ones."""
    _surroundings.append(surrounding)


@contextmanager
def surroundings() -> Iterator[None]:
    """All that jobs are done within."""
    with ExitStack() as stack:
        for surrounding in _surroundings:
            stack.enter_context(surrounding())
        yield


def handler_of(kind: str) -> Handler | None:
    return _handlers.get(kind)


def recurring() -> dict[str, int]:
    """Kinds of work that are due again and again, and the seconds between."""
    return dict(_every_s)
