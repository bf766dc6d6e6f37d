"""Colours that the topology page of the fleet gets from the floors above it: drift and bandwidth."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from apps.benchmarks.models import BenchmarkRun
from apps.benchmarks.queries import acceptance_of
from apps.core.speech import listed
from apps.core.status import sign_of
from apps.core.units import show_bandwidth
from apps.core.verdicts import Verdict, combine
from apps.environments.models import DriftFinding
from apps.environments.queries import newest_check, open_findings
from apps.environments.words import label_of
from apps.fleet.models import Domain, Node
from apps.fleet.queries.layers import Colours, Layer, Shade, register_layer, state_shade

_STEPS = 10  # of the heat scale
_WORST_FIRST = ("drift", "missing", "unknown_form", "stale", "extra", "not_evaluated")


def register() -> None:
    """Offer both layers; called once, when the app starts."""
    register_layer(Layer(key="drift", title=gettext_lazy("Drift"), paint=_by_drift))
    register_layer(Layer(key="bandwidth", title=gettext_lazy("Bandwidth"), paint=_by_bandwidth))


def _by_drift(nodes: Sequence[Node]) -> Colours:
    """Open findings of each node; before the first check nothing is known, which is not a match."""
    check = newest_check(domain) if (domain := _domain_of(nodes)) else None
    if check is None or not check.components:
        why = _("no matrix asks for anything") if check else _("no drift check of this domain yet")
        unknown = state_shade("not_evaluated", note=why)
        return Colours(nodes={node.pk: unknown for node in nodes})
    findings: dict[int | None, list[DriftFinding]] = defaultdict(list)
    for finding in open_findings(domain=domain):
        findings[finding.node_id].append(finding)
    checked = {name for group in check.groups for name in group["nodes"]}
    shades = {node.pk: _drift_shade(findings[node.pk], checked=node.name in checked) for node in nodes}
    return Colours(nodes=shades, of=check.checked_at)


def _drift_shade(findings: Sequence[DriftFinding], *, checked: bool) -> Shade:
    if not findings:
        return state_shade("match") if checked else state_shade("not_evaluated")
    named = sorted({str(label_of(finding.component)) for finding in findings if finding.component})[:6]
    count = ngettext("%(number)d finding", "%(number)d findings", len(findings)) % {"number": len(findings)}
    return state_shade(_worst(findings), note=listed(filter(None, (count, listed(named))), ": "))


def _worst(findings: Sequence[DriftFinding]) -> str:
    """The outcome of the worst findings, or their verdict where the outcome would look better or worse than that."""
    verdict = combine(Verdict(finding.verdict) for finding in findings)
    outcomes = {finding.outcome for finding in findings if finding.verdict == verdict}
    alike = (one for one in _WORST_FIRST if one in outcomes and sign_of(one).tone == verdict)
    return next(alike, verdict.value)


def _by_bandwidth(nodes: Sequence[Node]) -> Colours:
    """The newest all-reduce that each node took part in, as a share of theory; a run counts for all its nodes."""
    newest: dict[int, BenchmarkRun] = {}
    through = BenchmarkRun.nodes.through.objects.filter(
        node__in=[node.pk for node in nodes],
        benchmarkrun__collective="all_reduce",
        benchmarkrun__busbw_bytes_per_s__gt=0,
    )
    for row in through.order_by("-benchmarkrun_id").select_related("benchmarkrun__domain"):
        newest.setdefault(row.node_id, row.benchmarkrun)
    shades = {run.pk: _bandwidth_shade(run) for run in newest.values()}
    unknown = state_shade("unknown", note=_("not measured"))
    times = [run.received_at for run in newest.values()]
    return Colours(
        nodes={node.pk: shades[newest[node.pk].pk] if node.pk in newest else unknown for node in nodes},
        of=min(times, default=None),
    )


def _bandwidth_shade(run: BenchmarkRun) -> Shade:
    share = acceptance_of(run).share
    speed = show_bandwidth(run.busbw_bytes_per_s)
    note = _("%(speed)s over %(ranks)s ranks, run %(run)s") % {
        "speed": speed,
        "ranks": run.ranks,
        "run": run.pk,
    }
    if share is None:
        return state_shade("unknown", note=note)
    step = min(int(max(share, 0.0) * _STEPS), _STEPS - 1)
    return Shade(value=f"run{run.pk}", word=speed, style=f"heat heat-{step}", note=note)


def _domain_of(nodes: Sequence[Node]) -> Domain | None:
    return nodes[0].domain if nodes else None
