"""The gate of a stage: what it still waits for before the next one may start."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.conf import settings
from django.utils.translation import gettext as _
from django.utils.translation import ngettext

from apps.benchmarks.engine.acceptance import MIN_BUSBW_SHARE, TRUSTED_SIZE_BYTES
from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.queries import acceptance_of, baseline_of
from apps.benchmarks.words import REASONS
from apps.catalogue.engine.components import RuleKind, component
from apps.changes.models import Stage
from apps.changes.queries.targets import not_reaching
from apps.core.speech import listed, said
from apps.core.units import show_bandwidth, show_binary_bytes, show_share
from apps.core.verdicts import Verdict
from apps.environments.engine import drift
from apps.environments.engine.rules import entry_for
from apps.environments.queries import intent_of, reported_versions
from apps.environments.words import label_of
from apps.fleet.models import Node

COLLECTIVE = "all_reduce"
OPENS = (Verdict.PASS, Verdict.WARN)
# What an all-reduce needs to be accepted, for people.
ALL_REDUCE_NEEDS = {
    "size": show_binary_bytes(TRUSTED_SIZE_BYTES),
    "share": f"{MIN_BUSBW_SHARE * 100:.3g} %",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Wait:
    """One thing that a gate waits for: a stable code, a text for people, and the nodes that are the reason."""

    code: str
    message: str
    nodes: tuple[str, ...] = ()


def gate_of(stage: Stage, *, now: datetime) -> list[Wait]:
    """What a running stage still waits for; nothing where its gate is open."""
    if missing := not_reaching(stage.targets.all()).get(stage.change_id):
        message = ngettext(
            "%(n)s node does not report its target: %(nodes)s",
            "%(n)s nodes do not report their target: %(nodes)s",
            len(missing),
        ) % {"n": f"{len(missing):,}", "nodes": _some(missing)}
        return [Wait(code="not_reported", message=message, nodes=tuple(missing))]
    return [*_soak(stage, now), *_drift(stage, now), *_benchmark(stage)]


def _soak(stage: Stage, now: datetime) -> Iterator[Wait]:
    reached_at = stage.reached_at or now
    left_s = (reached_at + timedelta(seconds=stage.soak_s) - now).total_seconds()
    if left_s > 0:
        minutes = int(left_s // 60) + 1
        message = ngettext(
            "%(n)s minute of soak time is left", "%(n)s minutes of soak time are left", minutes
        ) % {"n": minutes}
        yield Wait(code="soak", message=message)


def _drift(stage: Stage, now: datetime) -> Iterator[Wait]:
    """The nodes match the matrix in all that the change does not touch; without a matrix nothing is asked."""
    intent = intent_of(stage.change.domain)
    if intent.version is None:
        return
    entries = {entry.component: entry for entry in intent.entries}
    for target in stage.targets.all():
        wanted = entry_for(component(target.component), *target.values, rule=RuleKind.ONE_OF)
        entries[target.component] = wanted
    nodes = dict(Node.objects.in_use().filter(pk__in=stage.targets.values("node")).values_list("pk", "name"))
    versions = reported_versions(nodes)
    reports = [drift.NodeReport(node=name, reported=versions.get(pk, {})) for pk, name in nodes.items()]
    result = drift.evaluate(
        entries=list(entries.values()), nodes=reports, now=now, stale_after_s=settings.STALE_AFTER_S
    )
    if result.verdict in OPENS:
        return
    decisive = [finding for finding in result.findings if finding.verdict is result.verdict]
    names = sorted({finding.node for finding in decisive if finding.node})
    parts = listed(label_of(name) for name in sorted({one.cell.component for one in decisive})[:5])
    message = _("drift on %(nodes)s: %(components)s") % {"nodes": _some(names), "components": parts}
    yield Wait(code="drift", message=message, nodes=tuple(names))


def _benchmark(stage: Stage) -> Iterator[Wait]:
    """Where the domain has a baseline, its nodes are measured again after the stage began."""
    if stage.started_at is None or baseline_of(stage.change.domain, COLLECTIVE) is None:
        return
    runs = BenchmarkRun.objects.filter(
        domain=stage.change.domain, collective=COLLECTIVE, received_at__gte=stage.started_at
    ).select_related("domain")
    run = runs.filter(nodes__in=stage.targets.values("node")).order_by("-received_at", "-pk").first()
    if run is None:
        message = _(
            "no all-reduce on these nodes since the stage began; it needs messages of at least %(size)s "
            "and %(share)s of the theoretical bandwidth"
        )
        yield Wait(code="no_benchmark", message=message % ALL_REDUCE_NEEDS)
    elif (accepted := acceptance_of(run)).verdict not in OPENS:
        message = _(
            "the newest all-reduce is not accepted: %(reason)s Found: %(found_size)s, %(found)s "
            "(%(found_share)s of theory); needed: at least %(size)s and %(share)s."
        ) % {
            "reason": said(REASONS[accepted.reason.value]),
            "found_size": show_binary_bytes(run.max_size_bytes),
            "found": show_bandwidth(run.busbw_bytes_per_s),
            "found_share": show_share(accepted.share),
            **ALL_REDUCE_NEEDS,
        }
        yield Wait(code="benchmark", message=message)


def _some(names: list[str]) -> str:
    return listed(names[:5]) + (" …" if len(names) > 5 else "")
