"""The raw store: compressed files named by their digest, on a volume that web and workers share.

A file is written whole and synced before the row that names it, so a row never points at nothing. A file
without a row is an orphan, and is swept. Plain paths instead of Django's storage API: that API can neither
sync nor put a finished file in place in one step.
"""

from __future__ import annotations

import errno
import gzip
import hashlib
import io
import logging
import os
import tempfile
import time
import zlib
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from django.conf import settings

from apps.core.errors import Busy, TooLarge
from apps.core.texts import say

log = logging.getLogger(__name__)

_CHUNK = 1 << 20
DAMAGED = (OSError, EOFError, zlib.error)  # what reading raw bytes raises that are gone, cut or overwritten
_FULL = frozenset({errno.ENOSPC, errno.EDQUOT})
YOUNG_S = 3600  # what was touched within this time may belong to a delivery under way


@dataclass(frozen=True, slots=True)
class Spooled:
    """An upload on its way: complete on disk, not yet kept."""

    path: Path
    sha256: str
    size_bytes: int

    def open(self) -> BinaryIO:
        return self.path.open("rb")


@contextmanager
def room() -> Iterator[None]:
    """Turn a volume that is full, or that takes no file for another reason, into the error that says so."""
    try:
        yield
    except OSError as error:
        log.error("evidence volume: %s", error)
        if error.errno in _FULL:
            raise Busy(say("the evidence volume has no room; nothing was kept"), code="disk_full") from error
        raise Busy(
            say("the evidence volume does not take the file; nothing was kept"), code="volume"
        ) from error


def incoming() -> Path:
    """The folder of uploads that are not complete, or not yet kept."""
    return _folder("incoming")


def path_of(sha256: str) -> Path:
    """Where the bytes of a digest lie."""
    return Path(settings.EVIDENCE_DIR) / sha256[:2] / f"{sha256}.gz"


@contextmanager
def spooled(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[Spooled]:
    """Take an upload in, chunk by chunk; it is gone when the block ends.

    Raises TooLarge above the limit and Busy (disk_full, volume) where the volume does not take it.
    """
    with room():
        descriptor, name = tempfile.mkstemp(dir=incoming())
    path = Path(name)
    try:
        digest, size = hashlib.sha256(), 0
        with room(), os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                if size > limit_bytes:
                    raise above(limit_bytes)
                digest.update(chunk)
                file.write(chunk)
        yield Spooled(path, digest.hexdigest(), size)
    finally:
        path.unlink(missing_ok=True)


def above(limit_bytes: int) -> TooLarge:
    """The error of a file above the limit."""
    return TooLarge(
        say("the file is above %(limit_bytes)s MiB", limit_bytes=limit_bytes // 2**20),
        limit_bytes=limit_bytes,
    )


@room()
def keep(upload: Spooled) -> None:
    """Compress the upload to its place, synced; bytes that lie there already stay as they are.

    Damaged ones are put in order. Raises Busy (disk_full, volume) where the volume does not take them; nothing is
    left behind then.
    """
    if not (_is_young_again(upload.sha256) and is_whole(upload.sha256)):
        _pack(upload)


@room()
def keep_on(upload: Spooled) -> None:
    """Have what was kept just now still there: a sweep may have taken it. Raises as `keep`."""
    if not _is_young_again(upload.sha256):
        _pack(upload)


def _pack(upload: Spooled) -> None:
    place = _folder(upload.sha256[:2]) / path_of(upload.sha256).name
    descriptor, name = tempfile.mkstemp(dir=incoming())
    try:
        with os.fdopen(descriptor, "wb") as raw:
            with (
                gzip.GzipFile(fileobj=raw, mode="wb", compresslevel=5, mtime=0) as packed,
                upload.open() as source,
            ):
                while chunk := source.read(_CHUNK):
                    packed.write(chunk)
            raw.flush()
            os.fsync(raw.fileno())
        Path(name).replace(place)
        _sync(place.parent)
    finally:
        Path(name).unlink(missing_ok=True)


def open_bytes(sha256: str) -> BinaryIO:
    """The raw bytes of a digest, unpacked as they are read. Raises FileNotFoundError where they are gone."""
    return cast(BinaryIO, gzip.open(path_of(sha256), "rb"))


def chunks_of(sha256: str) -> Iterator[bytes]:
    """The raw bytes of a digest, a mebibyte at a time. Raises FileNotFoundError at once where they are gone."""
    stream = open_bytes(sha256)

    def parts() -> Iterator[bytes]:
        with stream:
            while chunk := stream.read(_CHUNK):
                yield chunk

    return parts()


def is_whole(sha256: str) -> bool:
    """Whether the raw bytes of a digest are there, and still those that arrived."""
    digest = hashlib.sha256()
    try:
        for chunk in chunks_of(sha256):
            digest.update(chunk)
    except DAMAGED:
        return False
    return digest.hexdigest() == sha256


def are_there(digests: Iterable[str]) -> set[str]:
    """Those digests under which bytes are kept; whether they are whole still is not looked at."""
    return {sha256 for sha256 in digests if path_of(sha256).is_file()}


def watched(stream: BinaryIO, seen: Callable[[int], None]) -> BinaryIO:
    """The same stream; `seen` is told how many bytes were read so far, about every 4 MiB."""
    return cast(BinaryIO, io.BufferedReader(_Watched(stream, seen), _CHUNK))


class _Watched(io.RawIOBase):
    """A stream that tells how far it was read."""

    def __init__(self, stream: BinaryIO, seen: Callable[[int], None]) -> None:
        self._stream, self._seen, self._done, self._told = stream, seen, 0, 0

    def readable(self) -> bool:
        return True

    def readinto(self, buffer: memoryview) -> int:  # type: ignore[override]
        chunk = self._stream.read(len(buffer))
        buffer[: len(chunk)] = chunk
        self._done += len(chunk)
        if self._done - self._told >= 4 * _CHUNK:
            self._told = self._done
            self._seen(self._done)
        return len(chunk)

    def close(self) -> None:
        self._stream.close()
        super().close()


def discard(sha256: str) -> None:
    """Remove the bytes of a digest; what else stands in their place, a folder, is left to people."""
    place = path_of(sha256)
    if place.is_file():
        place.unlink(missing_ok=True)


def not_young() -> Iterator[str]:
    """Digests of kept bytes that were last delivered more than an hour ago."""
    before = time.time() - YOUNG_S
    for place in Path(settings.EVIDENCE_DIR).glob("??/*.gz"):
        if place.is_file() and _touched_at(place) < before:
            yield place.name.removesuffix(".gz")


def clear_incoming() -> int:
    """Remove what uploads left behind whose process was killed. Returns how many files."""
    before, removed = time.time() - YOUNG_S, 0
    for place in incoming().iterdir():
        if place.is_file() and _touched_at(place) < before:
            place.unlink(missing_ok=True)
            removed += 1
    return removed


def _folder(*parts: str) -> Path:
    folder = Path(settings.EVIDENCE_DIR).joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def _is_young_again(sha256: str) -> bool:
    """Whether the bytes are there; then they count as just delivered, so that no sweep takes them."""
    try:
        os.utime(path_of(sha256))
    except FileNotFoundError:
        return False
    return True


def _touched_at(place: Path) -> float:
    """Seconds since 1970; what vanished meanwhile counts as touched just now."""
    try:
        return place.stat().st_mtime
    except FileNotFoundError:
        return time.time()


def _sync(folder: Path) -> None:
    """Make a rename in the folder last."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
