"""A run beside its baseline, size by size."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from apps.benchmarks.engine.acceptance import TRUSTED_SIZE_BYTES
from apps.benchmarks.engine.ladder import MAX_SCALING_LOSS
from apps.core.verdicts import Verdict

NOISE_SHARE = 0.05  # runs of one system differ by a few percent without a cause


@dataclass(frozen=True, slots=True, kw_only=True)
class PointPair:
    """One size that both runs measured; bandwidths in bytes/s. ratio: run over baseline."""

    size_bytes: int
    busbw_bytes_per_s: float
    baseline_bytes_per_s: float

    @property
    def ratio(self) -> float:
        return self.busbw_bytes_per_s / self.baseline_bytes_per_s


@dataclass(frozen=True, slots=True, kw_only=True)
class Comparison:
    """All sizes that both measured, and the verdict at the largest of them."""

    pairs: tuple[PointPair, ...]

    @property
    def at_largest(self) -> PointPair | None:
        return self.pairs[-1] if self.pairs else None

    @property
    def worst(self) -> PointPair | None:
        """The size with the lowest ratio among those where latency no longer shapes the figure."""
        trusted = [pair for pair in self.pairs if pair.size_bytes >= TRUSTED_SIZE_BYTES]
        return min(trusted or self.pairs, key=lambda pair: pair.ratio, default=None)

    @property
    def verdict(self) -> Verdict:
        """fail for a loss above 15 % at the largest size, warn above 5 %, unknown where no size is shared."""
        if self.at_largest is None:
            return Verdict.UNKNOWN
        loss = round(1.0 - self.at_largest.ratio, 9)  # exactly the limit is not above it
        if loss > MAX_SCALING_LOSS:
            return Verdict.FAIL
        return Verdict.WARN if loss > NOISE_SHARE else Verdict.PASS


def lower_busbw(point: Mapping[str, Any]) -> float | None:
    """The lower of a row's two bus bandwidths in bytes/s, None where neither was printed or both are zero."""
    columns = [(point.get(column) or {}).get("busbw_gbps") for column in ("out_of_place", "in_place")]
    known = [float(value) * 1e9 for value in columns if isinstance(value, int | float) and value > 0]
    return min(known) if known else None


def curve(points: Sequence[Mapping[str, Any]]) -> dict[int, float]:
    """Bus bandwidth in bytes/s by message size in bytes, ascending; the lower one where a size is there twice."""
    found: dict[int, float] = {}
    for point in points:
        size, busbw = point.get("size_bytes"), lower_busbw(point)
        if isinstance(size, int) and size > 0 and busbw is not None:
            found[size] = min(busbw, found.get(size, busbw))
    return dict(sorted(found.items()))


def compare(points: Sequence[Mapping[str, Any]], baseline: Sequence[Mapping[str, Any]]) -> Comparison:
    """Both runs at the sizes that they share."""
    own, other = curve(points), curve(baseline)
    return Comparison(
        pairs=tuple(
            PointPair(size_bytes=size, busbw_bytes_per_s=busbw, baseline_bytes_per_s=other[size])
            for size, busbw in own.items()
            if size in other
        )
    )
