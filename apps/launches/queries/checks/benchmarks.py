"""Is the domain as fast as it should be, measured lately and on what it runs now?"""

from __future__ import annotations

from datetime import datetime, timedelta

from django.urls import reverse

from apps.benchmarks.queries import acceptance_of, newest_whole_domain_run
from apps.core.units import show_bandwidth, show_share
from apps.core.verdicts import Verdict
from apps.environments.models import MatrixVersion
from apps.launches.engine.checklist import Found, Proof
from apps.launches.queries.checks.subject import Subject

FRESH_FOR = timedelta(days=14)


def benchmark_accepted(subject: Subject) -> Found:
    """The newest all-reduce over the whole domain was accepted, is fresh, and ran on this matrix."""
    run = newest_whole_domain_run(subject.launch.domain)
    if run is None:
        return Found(
            verdict=Verdict.UNKNOWN,
            code="no_benchmark",
            message="there is no all-reduce over all accelerators of this domain",
        )
    proof = Proof(label=str(run), url=reverse("benchmarks:run", args=[run.pk]), sha256=run.sha256)
    accepted = acceptance_of(run)
    values = {"busbw": show_bandwidth(run.busbw_bytes_per_s), "share": show_share(accepted.share)}
    said = f"busbw {values['busbw']} is {values['share']} of theory"
    verdict, code = accepted.verdict, accepted.reason.value
    if verdict in (Verdict.PASS, Verdict.WARN):
        if run.received_at < subject.now - FRESH_FOR:
            verdict, code, said = Verdict.UNKNOWN, "benchmark_old", f"{said}, but it is older than 14 days"
        elif subject.matrix is not None and not _asks_the_same(run.matrix_version, subject.matrix):
            verdict, code = Verdict.UNKNOWN, "benchmark_of_another_matrix"
            said = f"{said}, but it ran on {run.matrix_version or 'no locked matrix'}"
            values["matrix"] = str(run.matrix_version or "—")
    return Found(verdict=verdict, code=code, message=said, values=values, proofs=(proof,))


def benchmark_ends(subject: Subject) -> datetime | None:
    """When the newest all-reduce over the whole domain is no longer fresh."""
    run = newest_whole_domain_run(subject.launch.domain)
    return run.received_at + FRESH_FOR if run is not None else None


def _asks_the_same(ran_on: MatrixVersion | None, in_force: MatrixVersion) -> bool:
    """Whether a run was made under what is asked for now; a version that was locked anew unchanged counts."""
    return ran_on is not None and ran_on.digest == in_force.digest
