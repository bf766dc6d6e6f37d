"""The bytes of a request that carries a file: streamed, never whole in memory."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any, BinaryIO

from django.conf import settings
from django.http import HttpRequest

from apps.core.errors import FieldError, Invalid, WrongMedia
from apps.evidence import store
from apps.evidence.uploads import refused_uploads
from apps.portal.forms import failing

RAW_TYPES = ("application/octet-stream", "text/plain")
_CHUNK = 1 << 20


def file_of(request: HttpRequest) -> tuple[str, Iterable[bytes]]:
    """Name (empty for a raw body) and bytes of the one file that a request carries.

    Raises WrongMedia for other content types and encodings, Invalid where a form holds none or several files.
    """
    if request.headers.get("Content-Encoding", "identity") != "identity":
        raise WrongMedia("send the file as it is, without Content-Encoding")
    if request.content_type == "multipart/form-data":
        return _in_form(request)
    if request.content_type not in RAW_TYPES:
        raise WrongMedia(f"send the file as {' or '.join(RAW_TYPES)}, or as multipart/form-data")
    return "", _raw(request)


def _in_form(request: HttpRequest) -> tuple[str, Iterable[bytes]]:
    found: list[tuple[str, Iterable[bytes]]] = [
        (file.name or "", file.chunks()) for files in request.FILES.lists() for file in files[1]
    ]
    found += [(name, failing(error)) for name, error in refused_uploads(request).items()]
    if len(found) != 1:
        message = f"the form holds {len(found)} files; send one"
        raise Invalid(message, code="files", errors=[FieldError(pointer="/file", message=message)])
    return found[0]


def _raw(request: HttpRequest) -> Iterator[bytes]:
    """The body; what lies above the limit is read to its end (up to the limit again) and dropped.

    A client that is still sending would otherwise see a broken connection instead of the answer.
    """
    stream, done = _stream(request), 0
    limit = settings.EVIDENCE_LIMIT_BYTES
    while chunk := stream.read(_CHUNK):
        done += len(chunk)
        if done > limit:
            while done < 2 * limit and (rest := stream.read(_CHUNK)):
                done += len(rest)
            raise store.above(limit)
        yield chunk


def _stream(request: HttpRequest) -> BinaryIO | Any:
    """The request itself; for a chunked body the server's own stream, where the server ends it.

    Django reads nothing without a Content-Length.
    """
    is_chunked = "chunked" in request.headers.get("Transfer-Encoding", "").lower()
    if not is_chunked:
        return request
    if not request.META.get("wsgi.input_terminated"):
        raise Invalid("send Content-Length: this server does not read chunked bodies", code="length_required")
    return request.META["wsgi.input"]
