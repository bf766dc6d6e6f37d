"""Speed of a diagnosis: seconds for a log of 50 MB. Run: python tests/benchmarks/bench_diagnose.py"""

from __future__ import annotations

import sys
import time
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parents[2]))

from apps.evidence.engine.source import Source
from apps.health.engine.diagnose import diagnose_source

SIZE_BYTES = 50 * 10**6
LINE = "node{:04} [{}] NCCL INFO Channel {:02}/16 : 0[0] -> 1[1] via P2P/CUMEM/read comm 0x55d5c0de\n"


def main() -> None:
    lines = [LINE.format(number % 64, number % 8, number % 16) for number in range(SIZE_BYTES // 85)]
    lines.insert(len(lines) // 2, "NVRM: Xid (PCI:0000:9b:00): 79, GPU has fallen off the bus.\n")
    data = "".join(lines).encode()
    started = time.perf_counter()
    diagnosis = diagnose_source(Source.of_bytes(data))
    took_s = time.perf_counter() - started
    print(
        f"{len(data) / 1e6:.0f} MB, {diagnosis.lines} lines: {took_s:.1f} s, {len(diagnosis.symptoms)} symptoms"
    )


if __name__ == "__main__":
    main()
