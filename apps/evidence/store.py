"""The raw store: compressed files named by their digest, on a volume that web and workers share.

A file is written whole and synced before the row that names it, so a row never points at nothing. A file
without a row is an orphan, and is swept. Plain paths instead of Django's storage API: that API can neither
sync nor put a finished file in place in one step.
"""

from __future__ import annotations

import gzip
import hashlib
import os
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, cast

from django.conf import settings

from apps.core.errors import TooLarge

_CHUNK = 1 << 20


@dataclass(frozen=True, slots=True)
class Spooled:
    """An upload on its way: complete on disk, not yet kept."""

    path: Path
    sha256: str
    size_bytes: int

    def open(self) -> BinaryIO:
        return self.path.open("rb")


def _folder(*parts: str) -> Path:
    folder = Path(settings.EVIDENCE_DIR).joinpath(*parts)
    folder.mkdir(parents=True, exist_ok=True)
    return folder


def path_of(sha256: str) -> Path:
    """Where the bytes of a digest lie."""
    return Path(settings.EVIDENCE_DIR) / sha256[:2] / f"{sha256}.gz"


@contextmanager
def spooled(chunks: Iterable[bytes], *, limit_bytes: int) -> Iterator[Spooled]:
    """Take an upload in, chunk by chunk; it is gone when the block ends. Raises TooLarge above the limit."""
    descriptor, name = tempfile.mkstemp(dir=_folder("incoming"))
    path = Path(name)
    try:
        digest, size = hashlib.sha256(), 0
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                size += len(chunk)
                if size > limit_bytes:
                    raise TooLarge(f"the file is above {limit_bytes // 2**20} MiB", limit_bytes=limit_bytes)
                digest.update(chunk)
                file.write(chunk)
        yield Spooled(path, digest.hexdigest(), size)
    finally:
        path.unlink(missing_ok=True)


def keep(upload: Spooled) -> None:
    """Compress the upload to its place, synced; bytes that lie there already stay as they are."""
    place = path_of(upload.sha256)
    if place.exists():
        place.touch()  # young again, so that no sweep takes it before its row is written
        return
    _folder(upload.sha256[:2])
    descriptor, name = tempfile.mkstemp(dir=_folder("incoming"))
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
        directory = os.open(place.parent, os.O_RDONLY)
        try:
            os.fsync(directory)
        finally:
            os.close(directory)
    finally:
        Path(name).unlink(missing_ok=True)


def open_bytes(sha256: str) -> BinaryIO:
    """The raw bytes of a digest, unpacked as they are read. Raises FileNotFoundError where they are gone."""
    return cast(BinaryIO, gzip.open(path_of(sha256), "rb"))


def discard(sha256: str) -> None:
    """Remove the bytes of a digest."""
    path_of(sha256).unlink(missing_ok=True)


def older_than_an_hour() -> Iterator[str]:
    """Digests of kept bytes that were last delivered more than an hour ago."""
    before = time.time() - 3600
    for place in Path(settings.EVIDENCE_DIR).glob("??/*.gz"):
        if place.stat().st_mtime < before:
            yield place.name.removesuffix(".gz")
