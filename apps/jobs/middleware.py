"""Idempotency-Key: the same request sent twice counts once, and gets the first answer again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta

from django.db import IntegrityError, transaction
from django.http import HttpRequest, HttpResponse

from apps.core import clock, error_pages
from apps.core.errors import Conflict, Invalid, KeyReused, PortalError
from apps.jobs.models import IdempotencyKey

KEEP = timedelta(hours=72)
ABANDONED = timedelta(minutes=10)  # a request that died while it was under way
_KEPT_HEADERS = ("Content-Type", "Location", "ETag", "Retry-After")


class IdempotencyMiddleware:
    """For unsafe requests under /api/v1/ that carry the header; file uploads are idempotent by their digest."""

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = request.headers.get("Idempotency-Key")
        actor = getattr(request, "actor", None)
        unsafe = request.method in ("POST", "PUT", "PATCH", "DELETE")
        upload = (request.content_type or "") not in ("", "application/json")
        if key is None or actor is None or not unsafe or upload or not request.path.startswith("/api/v1/"):
            return self.get_response(request)
        caller = actor.token_key or f"person:{actor.person_id}"
        try:
            row, first = _claim(request, key, caller)
        except PortalError as error:
            return error_pages.page_of(request, error)
        if not first:
            return _again(row)
        response = self.get_response(request)
        _keep(row, response)
        return response


def _claim(request: HttpRequest, key: str, caller: str) -> tuple[IdempotencyKey, bool]:
    """The row of this key and whether it is new. Raises Invalid, KeyReused, Conflict."""
    if not 1 <= len(key) <= 200 or not key.isprintable():
        raise Invalid("Idempotency-Key: 1 to 200 printable characters", code="idempotency_key")
    body_digest = hashlib.sha256(request.body).hexdigest()
    now = clock.now()
    same = {
        "caller": caller,
        "method": request.method or "",
        "path": request.get_full_path()[:300],
        "key": key,
    }
    IdempotencyKey.objects.filter(**same, created_at__lt=now - KEEP).delete()
    IdempotencyKey.objects.filter(**same, status__isnull=True, created_at__lt=now - ABANDONED).delete()
    try:
        with transaction.atomic():
            return IdempotencyKey.objects.create(**same, body_digest=body_digest, created_at=now), True
    except IntegrityError:
        row = IdempotencyKey.objects.get(**same)
    if row.body_digest != body_digest:
        raise KeyReused("this Idempotency-Key was used with another body")
    if row.status is None:
        raise Conflict("the first request with this Idempotency-Key is still under way", code="in_progress")
    return row, False


def _again(row: IdempotencyKey) -> HttpResponse:
    response = HttpResponse(row.body.encode(), status=row.status)
    for name, value in row.headers.items():
        response[name] = value
    response["Idempotent-Replayed"] = "true"
    return response


def _keep(row: IdempotencyKey, response: HttpResponse) -> None:
    if response.status_code >= 500 or response.streaming:
        row.delete()
        return
    row.status = response.status_code
    row.headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
    row.body = response.content.decode()
    row.save(update_fields=["status", "headers", "body"])
