"""Logs: one JSON object per line, or lines for people, with the request's id; secrets are masked."""

from __future__ import annotations

import json
import logging
import re
from contextvars import ContextVar
from datetime import UTC, datetime

request_id_var: ContextVar[str] = ContextVar("request_id", default="-")

_SECRETS = (
    # The secret part of an API token; its key stays, so that the token can be found.
    (re.compile(r"\b(snp_[0-9A-Za-z]{12}\.)[0-9A-Za-z]+"), r"\1***"),
    # "password=…", "Authorization: Bearer …", '"secret": "…"'
    (
        re.compile(r"(?i)\b((?:authorization|bearer|password|secret)\W{1,3}(?:(?:bearer|basic)\s+)?)\S+"),
        r"\1***",
    ),
    # The password in an address such as postgresql://portal:…@host/name
    (re.compile(r"(://[^\s:/@]*:)[^\s/@]+(?=@)"), r"\1***"),
)


def mask(text: str) -> str:
    """The text without token secrets and passwords."""
    for pattern, instead in _SECRETS:
        text = pattern.sub(instead, text)
    return text


class RequestIdFilter(logging.Filter):
    """Puts the request's id on each record, also where Django logs the answer after every middleware."""

    def filter(self, record: logging.LogRecord) -> bool:
        request = getattr(record, "request", None)
        record.request_id = getattr(request, "request_id", "") or request_id_var.get()
        return True


class PlainFormatter(logging.Formatter):
    """A record as lines for people."""

    def format(self, record: logging.LogRecord) -> str:
        return mask(super().format(record))


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
