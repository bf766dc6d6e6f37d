"""Matrix products: time by shape. Small or thin products waste tiles and wait for memory."""

from __future__ import annotations

from dataclasses import dataclass

from apps.planning.engine.coefficients import Coefficients
from apps.planning.engine.layouts import Floats
from apps.planning.engine.system import Rates

WAVE_OUTPUTS = 128.0 * 128.0 * 256.0  # outputs that about 128 multiprocessors work on at once
HALF = 2.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Product:
    """`count` products of (rows x inner) by (inner x columns), each number an array or a plain figure."""

    rows: Floats
    columns: Floats | float
    inner: Floats | float
    count: Floats | float = 1.0


def product_s(
    product: Product, *, rate: float, operand_bytes: float, rates: Rates, coefficients: Coefficients
) -> Floats:
    """Seconds of one product on one card.

    The tensor units work through whole waves of tiles, so part of a wave is lost at the end; operands and the
    16-bit result pass memory once, and that does not overlap fully at the edges of a kernel.
    """
    outputs = product.rows * product.columns + coefficients.wave_share * WAVE_OUTPUTS / product.count
    compute = 2.0 * outputs * product.inner / rate
    operands = operand_bytes * product.inner * (product.rows + product.columns)
    moved = operands + HALF * product.rows * product.columns
    return product.count * (compute + moved / rates.memory_bytes_per_s)
