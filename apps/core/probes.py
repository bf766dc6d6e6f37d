"""What machines ask without signing in: is the process alive, what did the browser refuse, may robots come."""

from __future__ import annotations

import json
import logging

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.views.decorators.cache import never_cache
from django.views.decorators.csrf import csrf_exempt
from django.views.decorators.http import require_POST, require_safe
from redis.exceptions import RedisError

from apps.core import clock

log = logging.getLogger(__name__)
_REPORT_BYTES = 8192
_REPORTS_A_MINUTE = 60  # a broken extension in many browsers must not fill the disk


@require_safe
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers. Nothing else is looked at."""
    return JsonResponse({"status": "ok"})


@csrf_exempt
@require_POST
def csp_report(request: HttpRequest) -> HttpResponse:
    """Log what a browser refused under the content security policy."""
    body = request.read(_REPORT_BYTES + 1)
    if len(body) <= _REPORT_BYTES and _fits_in_this_minute():
        log.warning("content security policy: %s", _facts_of(body))
    return HttpResponse(status=204)


@require_safe
def robots(request: HttpRequest) -> HttpResponse:
    """Nothing here is for search engines."""
    return HttpResponse("User-agent: *\nDisallow: /\n", content_type="text/plain")


def _fits_in_this_minute() -> bool:
    """False also while nobody counts, since Redis is away."""
    minute = f"csp-reports:{int(clock.now().timestamp()) // 60}"
    try:
        cache.add(minute, 0, timeout=120)
        return cache.incr(minute) <= _REPORTS_A_MINUTE
    except (RedisError, ValueError):
        return False


def _facts_of(body: bytes) -> str:
    """The parts of a report that say what was refused where, as JSON; of another body only its length."""
    try:
        report = json.loads(body)["csp-report"]
        names = ("document-uri", "violated-directive", "blocked-uri", "source-file", "line-number")
        return json.dumps({name: str(report[name])[:300] for name in names if name in report})
    except (ValueError, KeyError, TypeError, RecursionError):
        return f"a report of {len(body)} bytes that cannot be read"
