"""Sensitivity: how a prediction moves with the figures that are least certain."""

from __future__ import annotations

from dataclasses import dataclass, replace

from apps.core.errors import OutOfRange
from apps.core.texts import say
from apps.planning.engine.coefficients import Coefficients, shipped_coefficients
from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.step_time import step_time


@dataclass(frozen=True, slots=True, kw_only=True)
class Swing:
    """Seconds per step with one figure lowered and raised by the same share."""

    name: str
    lowered_s: float
    raised_s: float

    @property
    def width_s(self) -> float:
        """How far apart they are."""
        return abs(self.raised_s - self.lowered_s)


def sensitivity(
    plan: PlanInput, *, change: float = 0.2, coefficients: Coefficients | None = None
) -> tuple[Swing, ...]:
    """Swings of scale-up and network bandwidth, product efficiency, memory bandwidth and launch time, widest
    first."""
    if not 0.0 < change < 1.0:
        raise OutOfRange(say("the change must lie between 0 and 1"))
    c = coefficients or shipped_coefficients()

    def seconds(name: str, factor: float) -> float:
        changed, values = scaled(plan, c, name, factor)
        return float(
            step_time(changed.model, changed.system, changed.workload, changed.layout, values).total[0]
        )

    names = (
        "scale_up_bandwidth",
        "scale_out_bandwidth",
        "matrix_efficiency",
        "memory_bandwidth",
        "launch_time",
    )
    swings = [
        Swing(name=name, lowered_s=seconds(name, 1 - change), raised_s=seconds(name, 1 + change))
        for name in names
    ]
    return tuple(sorted(swings, key=lambda swing: -swing.width_s))


def scaled(plan: PlanInput, c: Coefficients, name: str, factor: float) -> tuple[PlanInput, Coefficients]:
    """The plan and the coefficients with one figure multiplied; an unknown name changes nothing."""
    system, part = plan.system, plan.system.accelerator
    if name == "scale_up_bandwidth":
        measured = system.measured.scale_up_bytes_per_s
        system = replace(
            system,
            scale_up_bytes_per_s=system.scale_up_bytes_per_s * factor,
            measured=replace(system.measured, scale_up_bytes_per_s=measured and measured * factor),
        )
    elif name == "scale_out_bandwidth":
        measured = system.measured.scale_out_bytes_per_s
        system = replace(
            system,
            scale_out_bytes_per_s=system.scale_out_bytes_per_s * factor,
            measured=replace(system.measured, scale_out_bytes_per_s=measured and measured * factor),
        )
    elif name == "memory_bandwidth" and part.memory_bytes_per_s is not None:
        system = replace(
            system, accelerator=replace(part, memory_bytes_per_s=part.memory_bytes_per_s * factor)
        )
    elif name == "matrix_efficiency":
        energy = {
            key: getattr(c, key) / factor
            for key in ("picojoule_per_flop_16", "picojoule_per_flop_8", "picojoule_per_flop_4")
        }
        c = replace(c, gemm_peak_share=c.gemm_peak_share * factor, **energy)
    elif name == "launch_time":
        c = replace(c, launch_s=c.launch_s * factor, moe_sync_s=c.moe_sync_s * factor)
    return replace(plan, system=system), c
