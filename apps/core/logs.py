"""Logs: one JSON object per line with the request's id; secrets are masked."""

from __future__ import annotations

import json
import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime

request_id_var: ContextVar[str] = ContextVar("request_id", default="-")

_SECRET = re.compile(
    r"\bsnp_([0-9A-Za-z]{12})\.[0-9A-Za-z]+|(?i:(bearer|password|secret|authorization)(\W{1,3}))\S+"
)


def mask(text: str) -> str:
    """The text without token secrets and passwords."""
    return _SECRET.sub(
        lambda m: f"snp_{m.group(1)}.***" if m.group(1) else f"{m.group(2)}{m.group(3)}***", text
    )


class RequestIdFilter(logging.Filter):
    """Puts the request's id on each record."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.request_id = request_id_var.get()
        return True


class JsonFormatter(logging.Formatter):
    """A record as one line of JSON."""

    def format(self, record: logging.LogRecord) -> str:
        entry = {
            "at": datetime.fromtimestamp(record.created, UTC).isoformat(),
            "level": record.levelname,
            "logger": record.name,
            "message": mask(record.getMessage()),
            "request_id": getattr(record, "request_id", "-"),
        }
        if record.exc_info:
            entry["exception"] = mask(self.formatException(record.exc_info))
        return json.dumps(entry, ensure_ascii=False)
