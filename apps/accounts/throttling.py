"""The API's limit of requests, for each token or person; a view with `rate_bucket` counts by itself."""

from __future__ import annotations

from typing import TYPE_CHECKING

from django.conf import settings
from rest_framework.request import Request
from rest_framework.throttling import BaseThrottle

from apps.accounts.services import limits
from apps.core.api import actor_of

if TYPE_CHECKING:  # DRF's views read the settings, which name this module
    from rest_framework.views import APIView


class CallerThrottle(BaseThrottle):
    """Raises TooMany (retry_after_s) where the caller's minute is full.

    `rate_bucket = "gate"` on a view takes from the gate's own limit, so that CI cannot lock out people.
    """

    def allow_request(self, request: Request, view: APIView) -> bool:
        actor = actor_of(request)
        bucket = getattr(view, "rate_bucket", "api")
        limit = settings.GATE_RATE_PER_MINUTE if bucket == "gate" else settings.API_RATE_PER_MINUTE
        limits.take_api(actor.token_key or f"person-{actor.person_id}", bucket=bucket, limit=limit)
        return True
