"""Raw evidence to take away: streamed, and never shown by the browser as a page of ours."""

from __future__ import annotations

from django.http import StreamingHttpResponse

from apps.core.errors import Missing
from apps.core.texts import say
from apps.evidence import store
from apps.evidence.models import Evidence


def fault_of(evidence: Evidence, *, up_to_bytes: int | None = None) -> Missing | None:
    """What is wrong with kept bytes (bytes_gone, bytes_damaged); those of larger files are only looked for."""
    if not store.are_there({evidence.sha256}):
        return Missing(say("the raw bytes are gone from the volume"), code="bytes_gone")
    if up_to_bytes is not None and evidence.size_bytes > up_to_bytes:
        return None
    if not store.is_whole(evidence.sha256):
        return Missing(say("the kept bytes on the volume are not those that arrived"), code="bytes_damaged")
    return None


def raw_response(evidence: Evidence, *, file_name: str = "") -> StreamingHttpResponse:
    """The bytes as they arrived, as an attachment. Raises Missing (thinned, bytes_gone, bytes_damaged)."""
    if evidence.thinned_at is not None:
        raise Missing(say("the raw bytes were removed by age; their reading is kept"), code="thinned")
    if (fault := fault_of(evidence)) is not None:
        raise fault
    chunks = store.chunks_of(evidence.sha256)
    name = "".join(char for char in file_name if char.isascii() and (char.isalnum() or char in "._-"))
    response = StreamingHttpResponse(chunks, content_type="application/octet-stream")
    response["Content-Disposition"] = f'attachment; filename="{name or evidence.sha256 + ".txt"}"'
    response["Content-Length"] = str(evidence.size_bytes)
    response["ETag"] = f'"{evidence.sha256}"'
    return response
