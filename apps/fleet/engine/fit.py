"""For which work a fabric fits: dense all-reduce or MoE all-to-all, training or inference, with reasons.

Rules: the convergence ratio is at most 2:1 for training and 4:1 for inference.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from apps.core.units import show_bandwidth
from apps.core.verdicts import Verdict, combine
from apps.fleet.engine.graph import Graph, TopologyKind
from apps.fleet.engine.metrics import TopologyMetrics, worst_ratio

FAR_LINKS = 8  # a ring or a corner of a torus; from here on small messages wait for the way, not for the link


class Pattern(StrEnum):
    ALL_REDUCE = "dense_all_reduce"
    ALL_TO_ALL = "moe_all_to_all"


class Purpose(StrEnum):
    TRAINING = "training"
    INFERENCE = "inference"


MAX_CONVERGENCE = {Purpose.TRAINING: 2.0, Purpose.INFERENCE: 4.0}


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """One thing that speaks for (pass) or against (warn, fail) the fabric.

    code: stable; values: what a sentence in another language is made of.
    """

    code: str
    verdict: Verdict
    message: str
    values: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True, slots=True, kw_only=True)
class Fit:
    pattern: Pattern
    purpose: Purpose
    verdict: Verdict
    reasons: tuple[Reason, ...]


def fits(graph: Graph, metrics: TopologyMetrics) -> tuple[Fit, ...]:
    """The four judgements of one fabric."""
    return tuple(
        fit_of(graph, metrics, pattern=pattern, purpose=purpose) for pattern in Pattern for purpose in Purpose
    )


def fit_of(graph: Graph, metrics: TopologyMetrics, *, pattern: Pattern, purpose: Purpose) -> Fit:
    """Judge one pattern for one purpose. A fabric that is not connected fits nothing."""
    if not metrics.distances.connected:
        reasons = [
            Reason(code="not_connected", verdict=Verdict.FAIL, message="some endpoints are not joined")
        ]
    else:
        reasons = [*_convergence(metrics, purpose), *_pattern_reasons(graph, metrics, pattern, purpose)]
    return Fit(
        pattern=pattern,
        purpose=purpose,
        verdict=combine(reason.verdict for reason in reasons),
        reasons=tuple(reasons),
    )


def all_to_all_share(metrics: TopologyMetrics) -> float:
    """Share (0 to 1) of its injection rate r that every endpoint can keep up in a uniform all-to-all.

    Across the middle go ⌊n/2⌋·⌈n/2⌉ of the pairs one way, r/(n−1) each, so r ≤ bisection·(n−1)/(⌊n/2⌋·⌈n/2⌉);
    and nobody gets more through a tier than its convergence ratio leaves.
    """
    n = metrics.endpoints
    across = (n // 2) * (n - n // 2)
    rate = metrics.bisection.bandwidth_bytes_per_s * (n - 1) / across
    return min(1.0, rate / metrics.injection_bytes_per_s, 1.0 / worst_ratio(metrics.tiers))


def _convergence(metrics: TopologyMetrics, purpose: Purpose) -> Iterator[Reason]:
    limit = MAX_CONVERGENCE[purpose]
    for tier in metrics.tiers:
        values = {"level": str(tier.level), "ratio": f"{tier.ratio:.2f}", "limit": f"{limit:g}"}
        if tier.ratio > limit:
            yield Reason(
                code="oversubscribed",
                verdict=Verdict.FAIL,
                message=f"switch level {tier.level} is {tier.ratio:.2f}:1, "
                f"above {limit:g}:1 for {purpose.value}",
                values=values,
            )
        elif tier.ratio > 1.0:
            yield Reason(
                code="oversubscribed_within_rule",
                verdict=Verdict.PASS,
                message=f"switch level {tier.level} is {tier.ratio:.2f}:1, within {limit:g}:1",
                values=values,
            )


def _pattern_reasons(
    graph: Graph, metrics: TopologyMetrics, pattern: Pattern, purpose: Purpose
) -> Iterator[Reason]:
    if pattern is Pattern.ALL_REDUCE:
        yield Reason(
            code="neighbours_suffice",
            verdict=Verdict.PASS,
            message="a ring all-reduce talks to neighbours only, so bisection does not limit it",
        )
    else:
        yield _all_to_all(metrics, purpose)
    if metrics.distances.diameter_links >= FAR_LINKS:
        yield Reason(
            code="far_apart",
            verdict=Verdict.WARN,
            message=f"up to {metrics.distances.diameter_links} links between two endpoints: "
            "small messages wait for the way",
            values={"links": str(metrics.distances.diameter_links)},
        )
    if graph.kind is TopologyKind.FULL_MESH and graph.endpoints > 2:
        whole = metrics.injection_bytes_per_s
        pair = whole / (graph.endpoints - 1)
        yield Reason(
            code="pair_is_narrow",
            verdict=Verdict.PASS,
            message=f"one pair sees {show_bandwidth(pair)} of the {show_bandwidth(whole)} of an endpoint: "
            "groups smaller than the mesh get their share of the links only",
            values={"pair": show_bandwidth(pair), "whole": show_bandwidth(whole)},
        )


def _all_to_all(metrics: TopologyMetrics, purpose: Purpose) -> Reason:
    share, limit = all_to_all_share(metrics), 1.0 / MAX_CONVERGENCE[purpose]
    if share >= 0.999:
        verdict, code = Verdict.PASS, "full_all_to_all"
    elif share >= limit:
        verdict, code = Verdict.WARN, "reduced_all_to_all"
    else:
        verdict, code = Verdict.FAIL, "narrow_all_to_all"
    text = f"all-to-all keeps up {share:.0%} of the injection rate (limit for {purpose.value} {limit:.0%})"
    return Reason(
        code=code, verdict=verdict, message=text, values={"share": f"{share:.0%}", "limit": f"{limit:.0%}"}
    )
