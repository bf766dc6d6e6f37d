"""Reliability: failures over a period, checkpoint intervals, goodput, spares and time-outs.

Times are seconds, rates are per node. Failures are independent and without memory. Sources: Young 1974; Daly
2006; Saxena et al. 2024 (arXiv 2410.18124).
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, inf, lgamma, log, log1p, sqrt

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.states import CHECKPOINT_BYTES

WEEK_S = 7 * 86_400.0
PRIOR = 0.005  # failures per node and week where nobody has a history


@dataclass(frozen=True, slots=True, kw_only=True)
class FailureModel:
    """How a job fails: nodes alone, and whole domains at once (switch tray, power, re-initialisation).

    `per_node_week` is a probability per node and week, `per_domain_week` one per domain and week.
    """

    nodes: int
    per_node_week: float
    domains: int = 0
    per_domain_week: float = 0.0

    def __post_init__(self) -> None:
        if self.nodes < 1 or self.domains < 0:
            raise OutOfRange(say("nodes must be at least 1 and domains at least 0"))
        if not 0.0 <= self.per_node_week < 1.0 or not 0.0 <= self.per_domain_week < 1.0:
            raise OutOfRange(say("a failure probability must lie between 0 and 1"))

    @property
    def rate_per_s(self) -> float:
        """Failures of the whole job per second."""
        node = -log(1.0 - self.per_node_week) * self.nodes
        domain = -log(1.0 - self.per_domain_week) * self.domains
        return (node + domain) / WEEK_S

    @property
    def mtbf_s(self) -> float:
        """Mean time between failures of the job; infinite where nothing fails."""
        return 1.0 / self.rate_per_s if self.rate_per_s else inf

    def p_any(self, period_s: float) -> float:
        """Probability of at least one failure in a period: 1 - exp(-T/M), which is 1 - (1 - p)^n for a week."""
        return 1.0 - exp(-period_s * self.rate_per_s)


def rate_from_history(*, failures: int, node_seconds: float) -> float:
    """Probability per node and week from an own fault history, with one failure of the prior weighed in.

    The prior counts as 1/PRIOR node-weeks with one failure, so an empty history gives about the prior.
    """
    if failures < 0 or node_seconds < 0:
        raise OutOfRange(say("a history has no negative counts"))
    weeks = node_seconds / WEEK_S
    return 1.0 - exp(-(failures + 1.0) / (weeks + 1.0 / PRIOR))


@dataclass(frozen=True, slots=True, kw_only=True)
class Checkpointing:
    """How state is saved: the stall of a save, the time until it is safely stored, and a restart.

    Synchronous saves have drain_s = stall_s; asynchronous ones stall only for a copy to host memory.
    """

    stall_s: float
    restart_s: float
    drain_s: float = 0.0

    def __post_init__(self) -> None:
        if self.stall_s <= 0 or self.restart_s < 0 or self.drain_s < 0:
            raise OutOfRange(say("a stall must be above zero, restart and drain not below"))

    @property
    def shortest_interval_s(self) -> float:
        """The next save cannot start before the last one has drained."""
        return max(self.stall_s, self.drain_s)


def checkpoint_bytes(params: float) -> float:
    """Bytes of a checkpoint: 2 of weights and 12 of optimizer per parameter."""
    return CHECKPOINT_BYTES * params


def young_interval_s(stall_s: float, mtbf_s: float) -> float:
    """Young's interval: sqrt(2 stall M)."""
    return sqrt(2.0 * stall_s * mtbf_s)


def daly_interval_s(stall_s: float, mtbf_s: float) -> float:
    """Daly's higher-order interval; M where a save takes longer than half of M."""
    if stall_s >= 2.0 * mtbf_s:
        return mtbf_s
    ratio = stall_s / (2.0 * mtbf_s)
    return sqrt(2.0 * stall_s * mtbf_s) * (1.0 + sqrt(ratio) / 3.0 + ratio / 9.0) - stall_s


def availability_interval_s(stall_s: float, mtbf_s: float, restart_s: float) -> float:
    """Interval of best availability: stall + sqrt(2 (M + R) stall + stall^2)."""
    return stall_s + sqrt(2.0 * (mtbf_s + restart_s) * stall_s + stall_s**2)


def goodput(model: FailureModel, saving: Checkpointing, interval_s: float) -> float:
    """Share of time that is useful work, to first order: 1 - stall/T - (T/2 + drain + restart)/M.

    The work since the last stored checkpoint is lost: half an interval on average, and what was still draining
    beyond the stall. Not below 0.
    """
    if interval_s <= 0:
        raise OutOfRange(say("an interval must be above zero"))
    interval_s = max(interval_s, saving.shortest_interval_s)
    unsafe = max(0.0, saving.drain_s - saving.stall_s)
    lost = (interval_s / 2.0 + unsafe + saving.restart_s) * model.rate_per_s
    return max(0.0, 1.0 - saving.stall_s / interval_s - lost)


def best_interval_s(model: FailureModel, saving: Checkpointing) -> float:
    """Young's interval, not shorter than the drain allows; infinite where nothing fails."""
    if model.mtbf_s == inf:
        return inf
    return max(young_interval_s(saving.stall_s, model.mtbf_s), saving.shortest_interval_s)


def p_enough_nodes(*, needed: int, spares: int, p_down: float) -> float:
    """Probability that at least `needed` of `needed + spares` nodes are up, each down with probability p."""
    if p_down <= 0.0:
        return 1.0
    total = needed + spares
    log_down, log_up = log(p_down), log1p(-p_down)
    ways = lgamma(total + 1)
    return min(
        1.0,
        sum(
            exp(ways - lgamma(k + 1) - lgamma(total - k + 1) + k * log_down + (total - k) * log_up)
            for k in range(spares + 1)
        ),
    )


def spares_for(*, needed: int, p_down: float, target: float) -> int:
    """Fewest spare nodes with which at least `needed` are up with the target probability."""
    if needed < 1 or not 0.0 <= p_down < 1.0 or not 0.0 < target < 1.0:
        raise OutOfRange(say("needed is at least 1, and probabilities lie between 0 and 1"))

    def enough(spares: int) -> bool:
        return p_enough_nodes(needed=needed, spares=spares, p_down=p_down) >= target

    too_few, most = -1, 0
    while not enough(most):
        too_few, most = most, 2 * most + 1
    while most - too_few > 1:
        middle = (too_few + most) // 2
        too_few, most = (too_few, middle) if enough(middle) else (middle, most)
    return most


def timeout_range_s(baseline_s: float) -> tuple[float, float]:
    """Communication time-out from the slowest healthy collective: 50 to 100 % above it."""
    if baseline_s <= 0:
        raise OutOfRange(say("a baseline must be above zero"))
    return 1.5 * baseline_s, 2.0 * baseline_s
