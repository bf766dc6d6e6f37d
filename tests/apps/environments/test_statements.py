"""What counts of several statements of one component."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta

from apps.catalogue.engine.components import component
from apps.core.verdicts import Verdict
from apps.environments.engine import drift
from apps.environments.engine.facts import Standing
from apps.environments.engine.rules import MatrixEntry, RuleKind
from apps.environments.engine.statements import Statement, reported_from

NOW = datetime(2026, 1, 2, tzinfo=UTC)
DAY_S = 86_400.0


def stated(kind: str, version: str, *, since: datetime, seen_at: datetime) -> Statement:
    return Statement(kind=kind, standing=Standing.LOADED, values=(version,), since=since, seen_at=seen_at)


def test_reports_that_were_dated_back_before_they_said_it_say_nothing_and_let_nothing_pass() -> None:
    seen_at = NOW - timedelta(hours=3)
    statements = [
        stated("nvidia_smi_xml", "570.86.15", since=NOW, seen_at=seen_at),
        stated("dcgm_metrics", "535.161.08", since=NOW, seen_at=seen_at),
    ]

    said = reported_from(component("gpu_driver"), statements, stale_after_s=DAY_S)

    assert (said.values, said.seen_at) == ((), seen_at)
    entry = MatrixEntry(component="gpu_driver", rule=RuleKind.EXACT, values=("570.86.15",))
    report = drift.NodeReport(node="sn-01", reported={"gpu_driver": said})
    result = drift.evaluate(entries=[entry], nodes=[report], now=NOW, stale_after_s=DAY_S)
    assert result.verdict is Verdict.FAIL  # as what was never reported
