"""Other forms in which the gate answers."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from rest_framework.renderers import BaseRenderer, JSONRenderer

from apps.launches.engine.junit import junit


class JUnitRenderer(BaseRenderer):
    """?format=junit; a problem stays the problem document that it is."""

    media_type = "application/xml"
    format = "junit"

    def render(
        self,
        data: Any,
        accepted_media_type: str | None = None,
        renderer_context: Mapping[str, Any] | None = None,
    ) -> bytes:
        if "items" not in data:
            return bytes(JSONRenderer().render(data))
        report = junit(data["items"], class_name=data["suite"], standing=data["standing"])
        return report.encode()
