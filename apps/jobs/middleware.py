"""Idempotency-Key: the same request sent twice counts once, and gets the first answer again."""

from __future__ import annotations

import hashlib
from collections.abc import Callable
from datetime import timedelta

from django.core.exceptions import RequestDataTooBig
from django.db import IntegrityError, transaction
from django.db.models import Q
from django.http import HttpRequest, HttpResponse

from apps.core import clock, error_pages
from apps.core.errors import Busy, Conflict, Invalid, KeyReused, PortalError, TooLarge
from apps.core.texts import say
from apps.jobs.models import IdempotencyKey
from apps.jobs.services.tidying import KEEP_KEYS

ABANDONED = timedelta(minutes=10)  # a request that died while it was under way
_KEPT_HEADERS = ("Content-Type", "Location", "ETag", "Retry-After")
_UNSAFE = frozenset({"POST", "PUT", "PATCH", "DELETE"})
_SECRET = "X-Held-Secret"  # in the kept headers of an answer that must not be stored


class IdempotencyMiddleware:
    """For unsafe requests under /api/v1/ that carry the header; file uploads are idempotent by their digest.

    Only answers below 400 are kept: what was refused changed nothing, and may be sent again under its key.
    """

    def __init__(self, get_response: Callable[[HttpRequest], HttpResponse]) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        key = request.headers.get("Idempotency-Key")
        actor = getattr(request, "actor", None)
        upload = (request.content_type or "") not in ("", "application/json")
        applies = request.method in _UNSAFE and not upload and request.path.startswith("/api/v1/")
        if key is None or actor is None or not applies:
            return self.get_response(request)
        try:
            row, first = _claim(request, key, actor.token_key or f"person:{actor.person_id}")
            if not first:
                return _again(row)
        except PortalError as error:
            return error_pages.page_of(request, error)
        response = self.get_response(request)
        _keep(row, response)
        return response


def _claim(request: HttpRequest, key: str, caller: str) -> tuple[IdempotencyKey, bool]:
    """The row of this key and whether it is new. Raises Invalid, TooLarge, KeyReused, Conflict and Busy."""
    if not 1 <= len(key) <= 200 or not key.isprintable():
        raise Invalid(say("Idempotency-Key: 1 to 200 printable characters"), code="idempotency_key")
    try:
        body_digest = hashlib.sha256(request.body).hexdigest()
    except RequestDataTooBig as error:
        raise TooLarge(say("a request's body may have 10 MiB")) from error
    now = clock.now()
    same = {"caller": caller, "method": request.method or "", "path": _path(request), "key": key}
    rows = IdempotencyKey.objects.filter(**same)
    old = Q(created_at__lt=now - KEEP_KEYS) | Q(status__isnull=True, created_at__lt=now - ABANDONED)
    rows.filter(old).delete()
    try:
        with transaction.atomic():
            return IdempotencyKey.objects.create(**same, body_digest=body_digest, created_at=now), True
    except IntegrityError:
        row = rows.first()
    if row is None:  # the first request was refused in this very moment
        raise Busy(say("the first request with this Idempotency-Key has just ended; try again"))
    if row.body_digest != body_digest:
        raise KeyReused(say("this Idempotency-Key was used with another body"))
    if row.status is None:
        raise Conflict(
            say("the first request with this Idempotency-Key is still under way"), code="in_progress"
        )
    return row, False


def _path(request: HttpRequest) -> str:
    """The address with its query; of a very long one its digest, so that it stays its own."""
    path = request.get_full_path()
    return path if len(path) <= 300 else f"sha256:{hashlib.sha256(path.encode()).hexdigest()}"


def _again(row: IdempotencyKey) -> HttpResponse:
    """The first answer. Raises Conflict (shown_once) where it held a secret."""
    if _SECRET in row.headers:
        raise Conflict(say("the first answer held a secret, which is shown only once"), code="shown_once")
    response = HttpResponse(row.body.encode(), status=row.status)
    for name, value in row.headers.items():
        response[name] = value
    response["Idempotent-Replayed"] = "true"
    return response


def _keep(row: IdempotencyKey, response: HttpResponse) -> None:
    if response.status_code >= 400 or response.streaming:
        row.delete()
        return
    secret = "no-store" in response.get("Cache-Control", "")
    row.status = response.status_code
    row.headers = {name: response[name] for name in _KEPT_HEADERS if name in response}
    row.headers |= {_SECRET: "1"} if secret else {}
    row.body = "" if secret else response.content.decode()
    row.save(update_fields=["status", "headers", "body"])
