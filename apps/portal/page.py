"""What every page shows around its content: navigation, cluster switcher, running jobs."""

from __future__ import annotations

from typing import Any

from django.conf import settings
from django.http import HttpRequest


def context(request: HttpRequest) -> dict[str, Any]:
    """Django's context processor for the page shell."""
    return {"product_version": settings.VERSION, "request_id": getattr(request, "request_id", "-")}
