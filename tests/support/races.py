"""Calls at the same moment, in threads on a database in which commits are real."""

from __future__ import annotations

import threading
from collections.abc import Callable

from django.db import connection

from apps.core.errors import PortalError


def at_once(*calls: Callable[[], object]) -> list[object]:
    """What each call gave or which error of ours it raised (its code), all begun at the same moment."""
    results: list[object] = [None] * len(calls)
    ready = threading.Barrier(len(calls))

    def work(place: int) -> None:
        try:
            ready.wait(timeout=30)
            results[place] = calls[place]()
        except PortalError as error:
            results[place] = error.code
        finally:
            connection.close()

    threads = [threading.Thread(target=work, args=(place,)) for place in range(len(calls))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join(timeout=60)
    return results
