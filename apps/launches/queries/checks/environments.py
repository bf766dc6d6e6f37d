"""Do the nodes run what they must, and does the job's own environment make sense?"""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse

from apps.core.texts import kept, say
from apps.core.verdicts import Verdict
from apps.environments.engine import drift, job_env
from apps.environments.engine.rules import Reason
from apps.environments.queries import intent_of, known_good, policy_of, reported_versions
from apps.launches.engine.checklist import Found, Proof
from apps.launches.queries.checks.subject import Subject


def matrix_locked(subject: Subject) -> Found:
    """An environment matrix is locked for the domain."""
    if subject.matrix is None:
        return Found(
            verdict=Verdict.UNKNOWN,
            code="no_matrix",
            message="no environment matrix is locked for this domain",
        )
    proof = Proof(label=str(subject.matrix), url=reverse("environments:version", args=[subject.matrix.pk]))
    return Found(
        verdict=Verdict.PASS,
        code="locked",
        message=f"{subject.matrix} is in force",
        values={"matrix": str(subject.matrix)},
        proofs=(proof,),
    )


def no_drift(subject: Subject) -> Found:
    """The nodes match the matrix, compared now and not taken from an earlier check."""
    entries = intent_of(subject.launch.domain).entries
    stale_after_s = policy_of(subject.launch.cluster).stale_after_s
    versions = reported_versions(subject.node_ids, stale_after_s=stale_after_s)
    reports = [drift.NodeReport(node=node.name, reported=versions.get(node.pk, {})) for node in subject.nodes]
    result = drift.evaluate(entries=entries, nodes=reports, now=subject.now, stale_after_s=stale_after_s)
    proof = Proof(label=say("drift"), url=reverse("environments:drift", args=[subject.launch.domain_id]))
    if result.verdict is Verdict.PASS:
        return Found(
            verdict=Verdict.PASS,
            code="no_drift",
            message=f"nodes that match {subject.matrix}: {len(reports)}",
            values={"n": len(reports), "matrix": str(subject.matrix)},
            proofs=(proof,),
        )
    decisive = [one for one in result.findings if one.verdict is result.verdict and one.node]
    nodes = tuple(sorted({one.node for one in decisive if one.node}))
    said = "; ".join(_said(finding) for finding in decisive[:3]) or "nothing is asked for"
    more = f" and {len(decisive) - 3} more" if len(decisive) > 3 else ""
    return Found(
        verdict=result.verdict,
        code="drift" if result.verdict is Verdict.FAIL else "drift_unclear",
        message=said + more,
        values={
            "findings": [_parts_of(finding) for finding in decisive[:3]],
            "more": max(0, len(decisive) - 3),
        },
        nodes=nodes,
        proofs=(proof,),
        offer_rollback=result.verdict is Verdict.FAIL and known_good(subject.launch.domain) is not None,
    )


def reports_end(subject: Subject) -> datetime | None:
    """When the first report that the comparison rests on becomes stale; those that are stale already do not count."""
    stale_after_s = policy_of(subject.launch.cluster).stale_after_s
    stale_after = timedelta(seconds=stale_after_s)
    asked = {entry.component for entry in intent_of(subject.launch.domain).entries}
    versions = reported_versions(subject.node_ids, stale_after_s=stale_after_s)
    ends = (
        said.seen_at + stale_after
        for of_node in versions.values()
        for component, said in of_node.items()
        if component in asked
    )
    return min((end for end in ends if end > subject.now), default=None)


def job_environment(subject: Subject) -> Found:
    """The variables that the job exports are legal and keep the fast path."""
    text = subject.launch.job_environment
    if not text.strip():
        return Found(
            verdict=Verdict.UNKNOWN, code="not_declared", message="what the job exports was not declared"
        )
    report = job_env.check_text(text)
    if not report.settings:
        return Found(
            verdict=Verdict.WARN,
            code="nothing_set",
            message="no variable is set: library defaults apply",
        )
    said = "; ".join(f"{one.name}: {one.why}" for one in report.findings[:3])
    more = f" and {len(report.findings) - 3} more" if len(report.findings) > 3 else ""
    return Found(
        verdict=report.verdict,
        code="settings_checked",
        message=(said + more) or f"{len(report.settings)} settings, nothing found",
        values=_of_findings(report.findings) if report.findings else {"n": len(report.settings)},
    )


def _of_findings(findings: Sequence[job_env.JobEnvFinding]) -> dict[str, Any]:
    """The first three findings, each as what it takes to say it in another language, and how many more there are."""
    first = [{"name": one.name, "why": one.why, **kept(one.why)} for one in findings[:3]]
    return {"settings": first, "more": len(findings) - len(first)}


_SENTENCES = {
    drift.FindingKind.DRIFT: "{node}: {component} is {found}, {asked}",
    drift.FindingKind.LOADED_DIFFERS: "{node}: {component} {found} is loaded, its package declares {expected}",
    drift.FindingKind.CONTRADICTION: "{node}: reports of {component} contradict each other: {found}, but {expected}",
}


def _parts_of(finding: drift.Finding) -> dict[str, str]:
    """found: what was judged, expected: what it is held against, which depends on the kind."""
    cell, kind = finding.cell, finding.kind
    found, expected = " | ".join(cell.found), cell.expected
    if kind is drift.FindingKind.LOADED_DIFFERS:
        expected = " | ".join(cell.declared)
    elif kind is drift.FindingKind.CONTRADICTION:
        found, expected = "; ".join(cell.contradicted), "; ".join(cell.contradicting)
    return {
        "kind": kind.value,
        "node": finding.node or "",
        "component": cell.component,
        "found": found,
        "expected": expected,
        "reason": cell.reason.value,
    }


def _said(finding: drift.Finding) -> str:
    parts = _parts_of(finding)
    if finding.cell.reason is Reason.REPORT_TOO_OLD:
        asked = "by a report that is too old to count"
    elif parts["expected"]:
        asked = f"asked for is {parts['expected']}"
    elif finding.cell.reason is Reason.NOT_IN_MATRIX:
        asked = "the matrix names no version of it"
    else:
        asked = "all nodes are to run one version, and none has the majority"
    return _SENTENCES[finding.kind].format(
        **parts | {"found": parts["found"] or "not reported", "asked": asked}
    )
