"""System: the cards, their scale-up domain, their network, and what was measured on them."""

from __future__ import annotations

from dataclasses import dataclass

from apps.catalogue.engine.accelerators import Accelerator
from apps.core.errors import FieldError, OutOfRange
from apps.core.texts import say
from apps.planning.engine.coefficients import Coefficients, default_scale_out
from apps.planning.engine.workload import Precision

TYPICAL_W_PER_FLOPS = 700.0 / 989e12  # an H100, for parts whose power is not known
TYPICAL_MATRIX_TO_VECTOR = 16.0  # 16-bit matrix over fp32 vector peak, an A100 or H100
PCIE_BYTES_PER_S = 25e9  # one way, PCIe 4 x16, for parts without scale-up links


@dataclass(frozen=True, slots=True, kw_only=True)
class Measured:
    """Figures of the cluster itself that replace coefficients; None where nothing was measured.

    Bus bandwidths are per card and one way, in bytes per second, as nccl-tests prints them. `compute_scale` is
    measured over predicted compute time.
    """

    scale_up_bytes_per_s: float | None = None
    scale_out_bytes_per_s: float | None = None
    compute_scale: float | None = None
    step_scale: float | None = None
    source: str = say("measured on this cluster")


@dataclass(frozen=True, slots=True, kw_only=True)
class System:
    """Cards of one kind in domains of `domain_size`. Bandwidths are per card, one way, in bytes per second.

    A domain may fall into sub-domains of `sub_domain_size` cards, joined by uplinks with `convergence` times
    less bandwidth (2 for 2:1); None where it does not.
    """

    accelerator: Accelerator
    accelerators: int
    domain_size: int
    scale_up_bytes_per_s: float
    scale_out_bytes_per_s: float
    sub_domain_size: int | None = None
    convergence: float = 1.0
    measured: Measured = Measured()

    def __post_init__(self) -> None:
        if self.accelerators < 1 or self.domain_size < 1:
            raise OutOfRange(say("accelerators and domain_size must be at least 1"))
        if self.scale_up_bytes_per_s <= 0 or self.scale_out_bytes_per_s <= 0:
            raise OutOfRange(say("bandwidths must be above zero"))
        if self.sub_domain_size is not None and not 1 <= self.sub_domain_size <= self.domain_size:
            raise _refused("sub_domain_size", say("sub_domain_size must lie between 1 and domain_size"))
        if self.convergence < 1.0:
            raise _refused("convergence_ratio", say("convergence must be at least 1, as in 2 for 2:1"))

    @property
    def capacity_bytes(self) -> float:
        """Memory of one card, decimal GB as the vendor states it. Raises OutOfRange where it is not known."""
        if self.accelerator.memory_bytes is None:
            raise OutOfRange(say("memory of %(id)s is not known", id=self.accelerator.id))
        return self.accelerator.memory_bytes


def _refused(name: str, message: str) -> OutOfRange:
    return OutOfRange(message, errors=[FieldError(pointer=f"/{name}", message=message, code="out_of_range")])


def default_scale_up(part: Accelerator) -> float:
    """One-way scale-up bytes per second of a part, or of PCIe where it has no such links."""
    return part.scale_up.unidirectional_bytes_per_s or PCIE_BYTES_PER_S


def default_system(
    part: Accelerator,
    accelerators: int,
    *,
    domain_size: int | None = None,
    scale_up_bytes_per_s: float | None = None,
    scale_out_bytes_per_s: float | None = None,
    sub_domain_size: int | None = None,
    convergence: float = 1.0,
    measured: Measured | None = None,
) -> System:
    """A system with catalogue figures wherever nothing is given."""
    return System(
        accelerator=part,
        accelerators=accelerators,
        domain_size=domain_size or part.scale_up.max_domain or 1,
        scale_up_bytes_per_s=scale_up_bytes_per_s or default_scale_up(part),
        scale_out_bytes_per_s=scale_out_bytes_per_s or default_scale_out(part.architecture),
        sub_domain_size=sub_domain_size,
        convergence=convergence,
        measured=measured or Measured(),
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Rates:
    """What one card can sustain: FLOPs per second of large matrix products, and bytes per second of memory.

    `peak_flops` is the dense vendor figure of the chosen format, for MFU only.
    """

    peak_flops: float
    matrix_flops: float
    half_flops: float
    operand_bytes: float
    memory_bytes_per_s: float
    vector_flops: float


FORMATS = {
    Precision.FP16: ("fp16", "bf16"),
    Precision.BF16: ("bf16", "fp16"),
    Precision.FP8: ("fp8",),
    Precision.MXFP8: ("fp8",),
    Precision.NVFP4: ("fp4",),
}
OPERAND_BYTES = {Precision.FP8: 1.0, Precision.MXFP8: 1.0, Precision.NVFP4: 0.5}


def peak_flops(part: Accelerator, precision: Precision) -> float:
    """Dense peak of a number format, FLOPs per second; of the other 16-bit format where only that is known.

    Raises OutOfRange where the part has none.
    """
    names = FORMATS[precision]
    if names[0] not in part.unsupported:
        for name in names:
            if name in part.dense_flops:
                return part.dense_flops[name]
    raise OutOfRange(say("%(id)s has no dense peak for %(precision)s", id=part.id, precision=precision))


def half_peak_flops(part: Accelerator) -> float:
    """Dense 16-bit peak, bf16 or fp16. Raises OutOfRange where neither is known."""
    for name in ("bf16", "fp16"):
        if name in part.dense_flops:
            return part.dense_flops[name]
    raise OutOfRange(say("16-bit peak of %(id)s is not known", id=part.id))


def require_figures(part: Accelerator, precision: Precision) -> None:
    """Raises OutOfRange where the part lacks what a prediction needs: memory, its bandwidth, or a peak."""
    if part.memory_bytes is None or part.memory_bytes_per_s is None:
        raise OutOfRange(say("memory or bandwidth of %(id)s is not known", id=part.id))
    peak_flops(part, precision)
    half_peak_flops(part)


def card_power_w(part: Accelerator) -> float:
    """Watts of a card at full load: its TDP, or as many per FLOP as an H100 draws. Raises as `half_peak_flops`."""
    return part.tdp_w or TYPICAL_W_PER_FLOPS * half_peak_flops(part)


def rates(part: Accelerator, precision: Precision, coefficients: Coefficients) -> Rates:
    """Sustained rates of a part.

    A large product is limited by the units and by power, TDP over the energy of a FLOP. `vector_flops` is the
    fp32 vector peak, which the exponentials of attention need.
    nvfp4 recipes leave some layers in 16 bit, so their rate is the harmonic mean of both.
    """
    if part.memory_bytes_per_s is None:
        raise OutOfRange(say("memory bandwidth of %(id)s is not known", id=part.id))
    half_peak = half_peak_flops(part)
    peak = peak_flops(part, precision)
    power = card_power_w(part)
    half = _sustained(half_peak, power, coefficients.picojoule_per_flop_16, coefficients)
    energy = {
        Precision.FP8: coefficients.picojoule_per_flop_8,
        Precision.MXFP8: coefficients.picojoule_per_flop_8,
        Precision.NVFP4: coefficients.picojoule_per_flop_4,
    }.get(precision, coefficients.picojoule_per_flop_16)
    matrix = _sustained(peak, power, energy, coefficients)
    if precision is Precision.NVFP4:
        share = coefficients.narrow_share_4
        matrix = 1.0 / (share / matrix + (1.0 - share) / half)
    return Rates(
        peak_flops=peak,
        matrix_flops=matrix,
        half_flops=half,
        operand_bytes=OPERAND_BYTES.get(precision, 2.0),
        memory_bytes_per_s=part.memory_bytes_per_s * coefficients.memory_share,
        vector_flops=part.dense_flops.get("fp32", half_peak / TYPICAL_MATRIX_TO_VECTOR),
    )


def _sustained(peak: float, power_w: float, picojoule: float, coefficients: Coefficients) -> float:
    """Units and power limit a product together: the norm of both times, sharp where one clearly rules.

    Never above the peak, whatever a what-if makes of the coefficients.
    """
    sharp = coefficients.power_sharpness
    units_s = 1.0 / (coefficients.gemm_peak_share * peak)
    power_s = picojoule * 1e-12 / power_w
    return min(peak, float((units_s**sharp + power_s**sharp) ** (-1.0 / sharp)))
