"""Work of health that a worker does."""

from __future__ import annotations

from typing import Any

from apps.health import services
from apps.jobs.registry import job
from apps.jobs.running import RunningJob


@job("health.forget_stale", every_s=3600)
def forget_stale(_run: RunningJob) -> dict[str, Any]:
    """Nodes that nothing was observed on for too long are unknown."""
    return {"nodes": services.forget_stale_health()}
