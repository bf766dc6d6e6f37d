"""The clock: services ask once and pass the answer on."""

from __future__ import annotations

from datetime import datetime

from django.utils import timezone


def now() -> datetime:
    """The time, aware, in UTC."""
    return timezone.now()
