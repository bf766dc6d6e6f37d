"""JSON bodies: at most 10 MiB, and nothing in them that a database or UTF-8 cannot hold."""

from __future__ import annotations

import io
from collections.abc import Mapping
from typing import IO, Any

from django.conf import settings
from rest_framework.parsers import JSONParser

from apps.core.errors import Invalid, TooLarge
from apps.core.storable import require_storable_value
from apps.core.texts import say


class PlainJSONParser(JSONParser):
    """DRF's parser that refuses what is too long, NUL, halves of surrogate pairs, and numbers beyond 64 bits."""

    def parse(
        self,
        stream: IO[bytes],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        limit = settings.DATA_UPLOAD_MAX_MEMORY_SIZE
        body = stream.read(limit + 1)
        if len(body) > limit:
            raise TooLarge(say("a request's body may have %(limit)s MiB", limit=limit // 2**20))
        try:
            value = super().parse(io.BytesIO(body), media_type, parser_context)
            require_storable_value(value)
        except RecursionError as error:
            raise Invalid(say("the body is nested too deeply"), code="parse_error") from error
        return value
