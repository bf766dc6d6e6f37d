"""Times in front of log lines, as seconds that can be subtracted from each other."""

from __future__ import annotations

import re
from datetime import UTC, datetime

_SYSLOG_YEAR = 2000  # a syslog time has no year; a leap year takes 29 February


def seconds_of(at: str) -> float | None:
    """Seconds for an ISO time, a ctime, a syslog time or an uptime; None for anything else.

    The zero differs between the forms (an uptime counts from the boot, a syslog time has no year), so only
    differences within one log mean anything. A time without a zone is taken as UTC.
    """
    text = at.strip()
    if re.fullmatch(r"\d{1,12}\.\d{1,9}", text):
        return float(text)
    try:
        return _read(text).timestamp()
    except ValueError:
        return None


def _read(text: str) -> datetime:
    """Raises ValueError for a form that is not known."""
    if re.match(r"\d{4}-\d\d-\d\d", text):
        moment = datetime.fromisoformat(re.sub(r" UTC$|(?<=\d) (?=[+-]\d)", "", text.replace(",", ".")))
    elif re.match(r"[A-Z][a-z]{2} [A-Z][a-z]{2} ", text):
        moment = datetime.strptime(re.sub(r"\.\d+", "", text), "%a %b %d %H:%M:%S %Y")  # noqa: DTZ007  as below
    else:
        bare = re.sub(r"\.\d+$", "", text)
        moment = datetime.strptime(f"{_SYSLOG_YEAR} {bare}", "%Y %b %d %H:%M:%S")  # noqa: DTZ007  the zone is set below
    return moment if moment.tzinfo else moment.replace(tzinfo=UTC)
