"""What pages about one cluster tell the page shell, and how files leave the portal."""

from __future__ import annotations

from typing import Any

from django.http import StreamingHttpResponse

from apps.fleet.models import Cluster
from apps.fleet.queries.exports import ExportFile


def cluster_context(cluster: Cluster) -> dict[str, Any]:
    """The cluster that the page is about."""
    return {"current_cluster": cluster}


def download(file: ExportFile) -> StreamingHttpResponse:
    """A file as an attachment."""
    answer = StreamingHttpResponse(file.chunks, content_type=f"{file.media_type}; charset=utf-8")
    answer["Content-Disposition"] = f'attachment; filename="{file.name}"'
    return answer
