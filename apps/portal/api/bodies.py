"""The bytes of a request that carries a file: streamed, never whole in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from django.conf import settings
from django.http import HttpRequest, UnreadablePostError
from gunicorn.http.errors import ParseException

from apps.core.errors import FieldError, Incomplete, Invalid, WrongMedia
from apps.core.texts import say
from apps.evidence import store
from apps.evidence.uploads import refused_uploads, require_whole
from apps.portal.forms import failing

RAW_TYPES = ("application/octet-stream", "text/plain")
_CHUNK = 1 << 20


def file_of(request: HttpRequest) -> tuple[str, Iterable[bytes]]:
    """Name (empty for a raw body) and bytes of the one file that a request carries.

    Raises WrongMedia for other content types and encodings, Invalid where a form holds none or several files.
    """
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise WrongMedia(say("send the file as it is, without Content-Encoding"))
    if request.content_type == "multipart/form-data":
        return _in_form(request)
    if request.content_type not in RAW_TYPES:
        raise WrongMedia(
            say("send the file as %(raw_types)s, or as multipart/form-data", raw_types=" or ".join(RAW_TYPES))
        )
    return "", _raw(_stream(request), expected_bytes=_expected(request))


def _in_form(request: HttpRequest) -> tuple[str, Iterable[bytes]]:
    found: list[tuple[str, Iterable[bytes]]] = [
        (file.name or "", file.chunks()) for files in request.FILES.lists() for file in files[1]
    ]
    require_whole(request)
    found += [(name, failing(error)) for name, error in refused_uploads(request).items()]
    if len(found) != 1:
        message = say("the form holds %(count)s files; send one", count=len(found))
        raise Invalid(message, code="files", errors=[FieldError(pointer="/file", message=message)])
    return found[0]


def _raw(stream: Any, *, expected_bytes: int | None) -> Iterator[bytes]:
    """The body. Raises TooLarge above the limit, Incomplete where the connection broke.

    What lies above the limit is read to its end (up to the limit again) and dropped: a client that is still
    sending would otherwise see a broken connection instead of the answer.
    """
    limit, done = settings.EVIDENCE_LIMIT_BYTES, 0
    try:
        while chunk := stream.read(_CHUNK):
            done += len(chunk)
            if done <= limit:
                yield chunk
            elif done > 2 * limit:
                break
    except (
        UnreadablePostError,
        OSError,
        ParseException,
    ) as error:  # the last two are the server's, of broken chunks
        raise Incomplete from error
    if done > limit:
        raise store.above(limit)
    if expected_bytes is not None and done < expected_bytes:
        raise Incomplete


def _expected(request: HttpRequest) -> int | None:
    """The length that the client announced; None for a chunked body, whose end the server checks."""
    return None if _is_chunked(request) else int(request.headers.get("Content-Length") or 0)


def _is_chunked(request: HttpRequest) -> bool:
    return "chunked" in request.headers.get("Transfer-Encoding", "").lower()


def _stream(request: HttpRequest) -> Any:
    """The request itself; for a chunked body the server's own stream, where the server ends it.

    Django reads nothing without a Content-Length.
    """
    if not _is_chunked(request):
        return request
    if not request.META.get("wsgi.input_terminated"):
        raise Invalid(
            say("send Content-Length: this server does not read chunked bodies"), code="length_required"
        )
    return request.META["wsgi.input"]
