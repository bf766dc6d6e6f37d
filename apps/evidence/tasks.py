"""Work on the raw store that is due again and again."""

from __future__ import annotations

from apps.evidence import services
from apps.jobs.registry import job
from apps.jobs.running import RunningJob


@job("evidence.sweep", every_s=3600)
def sweep(_run: RunningJob) -> dict[str, int]:
    """Remove bytes that no row names, and uploads whose process was killed."""
    return {"removed": services.sweep()}


@job("evidence.thin", every_s=86400)
def thin(_run: RunningJob) -> dict[str, int]:
    """Remove raw bytes that are old, and that neither a decision nor a newest report rests on."""
    return {"thinned": services.thin()}
