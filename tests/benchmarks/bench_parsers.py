"""How fast the streaming parsers are, on generated input: prints figures, exits 1 where a bar is missed.

Bars: 200 MB of kernel log in 20 s, 10 MB of NCCL debug log in 2 s, 10 MB of nccl-tests output in 2 s; memory
of the parser below 200 MiB above the start. Time is that of the CPU, so that what else runs does not count.
Run: python tests/benchmarks/bench_parsers.py
"""

from __future__ import annotations

import resource
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path
from types import ModuleType

sys.path.insert(0, str(Path(__file__).parents[2]))

from apps.evidence.engine.parsers import kernel_log, nccl_debug_log, nccl_tests
from apps.evidence.engine.source import Source

MEGABYTE = 10**6
MEMORY_BAR_MIB = 200


def quiet_kernel_lines() -> Iterator[str]:
    """An ordinary dmesg with an Xid in every thousandth line."""
    for i in count():
        if i % 1000:
            yield f"[{i / 50:.6f}] eth0: link becomes ready, some ordinary kernel message number {i} of the day\n"
        else:
            yield (
                f"[{i / 50:.6f}] NVRM: Xid (PCI:0000:{i % 8:02x}:00): 31, pid={i}, name=python3, "
                "Ch 00000008, intr 00000000. MMU Fault\n"
            )


def burst_kernel_lines() -> Iterator[str]:
    """Nothing but Xids: bursts of code 13 with texts that differ."""
    for i in count():
        yield (
            f"[{i / 500:.6f}] NVRM: Xid (PCI:0000:{i // 900 % 8:02x}:00): 13, pid='<unknown>', name=<unknown>, "
            f"Graphics SM Warp Exception on (GPC {i % 8}, TPC {i % 9}, SM {i % 2}): Out Of Range Address\n"
        )


def differing_kernel_lines() -> Iterator[str]:
    """Nothing but Xids no two of which are alike, with the kernel's own times."""
    for i in count():
        yield (
            f"2025-02-{i // 86400 % 28 + 1:02d}T{i // 3600 % 24:02d}:{i // 60 % 60:02d}:{i % 60:02d},284433+00:00 "
            f"NVRM: Xid (PCI:0000:{i % 8:02x}:00): 31, pid={i}, name=python{i}, Ch {i:08x}, intr 00000000. MMU Fault\n"
        )


def debug_log_lines() -> Iterator[str]:
    """Channels of 64 ranks on 8 nodes, as with NCCL_DEBUG=INFO."""
    for i in count():
        host, rank = f"node-{i // 8 % 8:02d}", i % 64
        yield (
            f"{host}:{4000 + rank}:{5000 + rank} [{rank % 8}] NCCL INFO Channel {i % 16:02d}/0 : "
            f"{rank}[{rank % 8}] -> {(rank + 1) % 64}[{(rank + 1) % 8}] via P2P/CUMEM/read\n"
        )


def table_lines() -> Iterator[str]:
    """Sweeps of all_reduce_perf one after the other, with a line of NCCL between the rows."""
    while True:
        yield "# nThread 1 nGpus 8 minBytes 8 maxBytes 134217728 step: 2(factor) warmup iters: 5 iters: 20\n"
        for rank in range(8):
            yield (
                f"#  Rank  {rank} Group  0 Pid  20836 on    gpunode device  {rank} [0000:4{rank}:00] NVIDIA A100\n"
            )
        group = "    time   algbw   busbw #wrong"
        yield f"#       size         count      type   redop    root {group} {group}\n"
        for power in range(3, 28):
            size = 1 << power
            time_us = 30 + size / 8000
            cells = f"{time_us:8.2f} {size / time_us / 1000:7.2f} {size / time_us / 1000 * 1.75:7.2f}      0"
            yield f"{size:12d} {size // 4:13d}     float     sum      -1 {cells} {cells}\n"
            yield "gpunode:20836:20836 [0] NCCL INFO some message between the rows of the table\n"
        yield "# Out of bounds values : 0 OK\n"


CASES: tuple[tuple[str, ModuleType, Callable[[], Iterator[str]], int, float], ...] = (
    ("kernel log, ordinary", kernel_log, quiet_kernel_lines, 200, 20.0),
    ("kernel log, only Xids", kernel_log, burst_kernel_lines, 200, 20.0),
    ("kernel log, Xids that differ", kernel_log, differing_kernel_lines, 200, 20.0),
    ("NCCL debug log", nccl_debug_log, debug_log_lines, 10, 2.0),
    ("nccl-tests output", nccl_tests, table_lines, 10, 2.0),
)


def write(path: Path, lines: Iterator[str], size_mb: int) -> None:
    written = 0
    with path.open("w") as file:
        while written < size_mb * MEGABYTE:
            written += file.write(next(lines))


def peak_mib() -> float:
    """Highest memory of this process so far, in MiB."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


def main() -> int:
    missed = 0
    start_mib = peak_mib()
    with tempfile.TemporaryDirectory() as folder:
        for name, parser, lines, size_mb, bar_s in CASES:
            path = Path(folder) / "evidence"
            write(path, lines(), size_mb)
            began_s, began_cpu_s = time.perf_counter(), time.process_time()
            parser.read(Source(lambda path=path: path.open("rb")))
            took_s, cpu_s = time.perf_counter() - began_s, time.process_time() - began_cpu_s
            grown_mib = peak_mib() - start_mib
            good = cpu_s <= bar_s and grown_mib <= MEMORY_BAR_MIB
            missed += not good
            print(
                f"{'ok  ' if good else 'MISS'} {name}: {size_mb} MB in {cpu_s:.2f} s of CPU (bar {bar_s:g} s), "
                f"{took_s:.2f} s by the clock, memory +{grown_mib:.0f} MiB (bar {MEMORY_BAR_MIB} MiB)"
            )
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
