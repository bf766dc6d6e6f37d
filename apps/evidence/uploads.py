"""Files in forms: written to the evidence volume as they arrive, of known callers only, up to the limit."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

from django.conf import settings
from django.core.files.uploadedfile import TemporaryUploadedFile
from django.core.files.uploadhandler import FileUploadHandler, SkipFile, TemporaryFileUploadHandler

from apps.core.errors import Busy, Incomplete, PortalError
from apps.evidence import store

REFUSED = "refused_uploads"  # attribute of the request: {file name: error}


class _Incoming(TemporaryUploadedFile):
    """Django's temporary file, on the evidence volume: /tmp may be small."""

    def __init__(self, name: str | None, content_type: str | None, charset: str | None, extra: Any) -> None:
        file = tempfile.NamedTemporaryFile(suffix=".upload", dir=store.incoming())  # noqa: SIM115 - closed with the request
        super(TemporaryUploadedFile, self).__init__(file, name, content_type, 0, charset, extra)

    def close(self) -> None:
        with suppress(OSError):  # what found no room while it was written finds none at the end either
            super().close()


class BoundedUploadHandler(TemporaryFileUploadHandler):
    """Django's handler that stops writing above EVIDENCE_LIMIT_BYTES, and never writes for strangers.

    What is not taken is read to its end and dropped, so that the answer still reaches the browser. A volume that
    takes no file refuses the request as a whole, whatever its address: whoever reads the form meets Busy.
    """

    _refusal: Busy | None = None

    def new_file(self, *args: Any, **kwargs: Any) -> None:
        if getattr(self.request, "actor", None) is None:
            raise SkipFile
        FileUploadHandler.new_file(self, *args, **kwargs)
        self._size_bytes = 0
        with self._volume():
            self.file = _Incoming(self.file_name, self.content_type, self.charset, self.content_type_extra)

    def receive_data_chunk(self, raw_data: bytes, start: int) -> None:
        self._size_bytes += len(raw_data)
        limit_bytes = settings.EVIDENCE_LIMIT_BYTES
        if self._size_bytes > limit_bytes:
            refused_uploads(self.request)[str(self.file_name or "")] = store.above(limit_bytes)
            raise SkipFile
        with self._volume():
            super().receive_data_chunk(raw_data, start)

    def file_complete(self, file_size: int) -> Any:
        """The file; None where its last bytes found no room."""
        with suppress(SkipFile), self._volume():
            return super().file_complete(file_size)
        self.file.close()
        return None

    def upload_complete(self) -> None:
        """Called when the form was read to its end."""
        if self._refusal is not None:
            raise self._refusal

    @contextmanager
    def _volume(self) -> Iterator[None]:
        """What the volume does not take skips the file, and is remembered."""
        try:
            with store.room():
                yield
        except Busy as refusal:
            self._refusal = refusal
            raise SkipFile from refusal


def refused_uploads(request: Any) -> dict[str, PortalError]:
    """File names of the request that were not taken, and why; read the form's files first."""
    refused: dict[str, PortalError] = request.__dict__.setdefault(REFUSED, {})
    return refused


def require_whole(request: Any) -> None:
    """Raises Incomplete where the connection broke before the end of a form that was read.

    Django takes what arrived for the whole file then, and a cut report must not count.
    """
    stream = getattr(request, "_stream", None)  # Django's LimitedStream
    if getattr(stream, "limit", 0) > getattr(stream, "_pos", 0):
        raise Incomplete
