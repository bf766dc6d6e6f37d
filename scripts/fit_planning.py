"""Fit the planning engine's general coefficients on published runs and write them to its data file.

Robust least squares on the logarithm of step time, with a prior around each stated guess. Only the sources in
TRAINING are fitted; all others stay unseen and are what docs/planning-validation.md reports as held out.
scripts/calibrate_intervals.py comes after it.
Usage: python scripts/fit_planning.py [--write | --leave-out]
"""

from __future__ import annotations

import csv
import dataclasses
import re
import sys
from pathlib import Path

import numpy as np

ROOT = Path(__file__).resolve().parent.parent
sys.path.insert(0, str(ROOT))

from apps.planning.engine.bars import FITTED  # noqa: E402
from apps.planning.engine.coefficients import DATA, Coefficients, shipped_coefficients  # noqa: E402
from apps.planning.engine.published_run import PublishedRun, read_run  # noqa: E402
from apps.planning.engine.step_time import step_time  # noqa: E402

RUNS = ROOT / "apps" / "planning" / "data" / "published_runs.csv"
TRAINING = FITTED
# noise of a source on a logarithmic scale: the bar that it is held against, about
NOISE = {"Korthikanti": 0.04, "vTrain": 0.05, "MosaicML": 0.09, "Megatron-Bridge": 0.12}
NOISE_MOE = 0.22
# coefficient -> (scale, prior guess, width of the prior on that scale)
FREE: dict[str, tuple[str, float, float]] = {
    "gemm_peak_share": ("logit", 0.9, 0.7),
    "picojoule_per_flop_16": ("log", 0.5, 0.5),
    "picojoule_per_flop_8": ("log", 0.15, 0.5),
    "picojoule_per_flop_4": ("log", 0.05, 0.7),
    "wave_share": ("log", 0.4, 0.5),
    "flash_share": ("logit", 0.65, 0.4),
    "eager_flash_share": ("logit", 0.6, 0.5),
    "softmax_flops": ("log", 12.0, 0.5),
    "unfused_share": ("log", 0.8, 0.3),
    "elementwise_scale": ("log", 1.0, 0.3),
    "eager_scale": ("log", 1.5, 0.5),
    "quantise_bytes_8": ("log", 6.0, 0.5),
    "quantise_bytes_block": ("log", 8.0, 0.5),
    "quantise_bytes_4": ("log", 10.0, 0.5),
    "narrow_share_4": ("logit", 0.85, 0.5),
    "launch_s": ("log", 8e-6, 0.5),
    "moe_sync_s": ("log", 1.5e-3, 1.0),
    "graph_host_share": ("logit", 0.5, 0.6),
    "scale_up_share": ("logit", 0.77, 0.3),
    "scale_out_share": ("logit", 0.8, 0.4),
    "tp_hidden_share": ("logit", 0.5, 0.7),
    "dp_hidden_share": ("logit", 0.7, 0.7),
    "jitter_per_doubling": ("log", 0.004, 0.7),
    "step_fixed_s": ("log", 0.01, 0.7),
}
DEGREES = 8.0  # of Student's t: a run that does not fit pulls less
Vector = np.ndarray


def forward(scale: str, value: float) -> float:
    return float(np.log(value) if scale == "log" else np.log(value / (1 - value)))


def backward(scale: str, value: float) -> float:
    return float(np.exp(value) if scale == "log" else 1 / (1 + np.exp(-value)))


def predicted(runs: list[PublishedRun], coefficients: Coefficients) -> Vector:
    times = [
        step_time(r.plan.model, r.plan.system, r.plan.workload, r.plan.layout, coefficients).total[0]
        for r in runs
    ]
    return np.array(times, dtype=float)


def noise_of(run: PublishedRun) -> float:
    if run.plan.model.is_moe:
        return NOISE_MOE
    return next(value for name, value in NOISE.items() if name in run.source)


class Fit:
    """Levenberg-Marquardt on transformed coefficients with reweighting."""

    def __init__(self, runs: list[PublishedRun], start: Coefficients) -> None:
        self.runs, self.start = runs, start
        self.measured = np.log([r.measured_s for r in runs])
        self.weight = 1 / np.array([noise_of(r) for r in runs])
        self.mean = np.array([forward(scale, guess) for scale, guess, _ in FREE.values()])
        self.width = np.array([width for _, _, width in FREE.values()])

    def coefficients(self, point: Vector) -> Coefficients:
        values = {
            name: backward(scale, x) for (name, (scale, _, _)), x in zip(FREE.items(), point, strict=True)
        }
        return dataclasses.replace(self.start, **values)

    def residuals(self, point: Vector) -> Vector:
        return (np.log(predicted(self.runs, self.coefficients(point))) - self.measured) * self.weight

    def loss(self, residuals: Vector, point: Vector) -> float:
        data = (DEGREES + 1) * np.log1p(residuals**2 / DEGREES).sum() / 2
        return float(data + (((point - self.mean) / self.width) ** 2).sum() / 2)

    def run(self, rounds: int = 20) -> Coefficients:
        point = self.mean.copy()
        residuals = self.residuals(point)
        best, damping = self.loss(residuals, point), 1e-2
        for _ in range(rounds):
            slopes = self.slopes(point, residuals)
            weight = (DEGREES + 1) / (DEGREES + residuals**2)
            normal = slopes.T @ (slopes * weight[:, None]) + np.diag(1 / self.width**2)
            gradient = slopes.T @ (weight * residuals) + (point - self.mean) / self.width**2
            before = best
            while damping < 1e4:
                step = np.linalg.solve(normal + damping * np.diag(np.diag(normal)), gradient)
                trial = point - np.clip(step, -1, 1)
                trial_residuals = self.residuals(trial)
                loss = self.loss(trial_residuals, trial)
                if loss < best:
                    point, residuals, best, damping = trial, trial_residuals, loss, damping / 5
                    break
                damping *= 5
            print(f"loss {best:.2f}", flush=True)
            if before - best < 0.01:
                break
        return self.coefficients(point)

    def slopes(self, point: Vector, residuals: Vector, step: float = 1e-4) -> Vector:
        columns = []
        for index in range(len(point)):
            moved = point.copy()
            moved[index] += step
            columns.append((self.residuals(moved) - residuals) / step)
        return np.stack(columns, axis=1)


def leave_out(runs: list[PublishedRun]) -> None:
    """Fit without each family of training sources in turn and print the error on the one left out."""
    for family in NOISE:
        kept = [run for run in runs if family not in run.source]
        left = [run for run in runs if family in run.source]
        found = Fit(kept, shipped_coefficients()).run()
        off = predicted(left, found) / np.array([run.measured_s for run in left]) - 1
        print(f"without {family}: mean absolute error {np.abs(off).mean():.3f}, bias {off.mean():+.3f}")


def write(coefficients: Coefficients) -> None:
    text = DATA.read_text(encoding="utf-8")
    for field in dataclasses.fields(coefficients):
        value = float(f"{getattr(coefficients, field.name):.4g}")
        shown = repr(value) if "e" not in repr(value) else f"{value:.3e}"
        text = re.sub(rf"(  {field.name}: {{value: )[^,]+,", rf"\g<1>{shown},", text)
    DATA.write_text(text, encoding="utf-8")


def main() -> None:
    with RUNS.open(encoding="utf-8", newline="") as file:
        read = [read_run(row) for row in csv.DictReader(file)]
    runs = [r for r in read if isinstance(r, PublishedRun) and any(name in r.source for name in TRAINING)]
    print(f"{len(runs)} runs of {', '.join(TRAINING)}")
    if "--leave-out" in sys.argv:
        leave_out(runs)
        return
    found = Fit(runs, shipped_coefficients()).run()
    for name in FREE:
        print(f"{name} {getattr(found, name):.5g}")
    if "--write" in sys.argv:
        write(found)


if __name__ == "__main__":
    main()
