"""The files of the demonstration: real tool output of other machines, with serial numbers masked."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_FOLDER = Path(__file__).parent


@dataclass(frozen=True, slots=True)
class DemoFile:
    """One file and what made it."""

    name: str
    origin: str

    @property
    def data(self) -> bytes:
        return (_FOLDER / self.name).read_bytes()


PACKAGES = DemoFile("h100x8-torch2.4.0.txt", "torch.utils.collect_env on a host with 8 × H100")
VERSIONS = DemoFile("h100x8-570.86.15.xml", "nvidia-smi -q -x on a host with 8 × H100, driver 570.86.15")
LAGGING = DemoFile("h100x8-535.161.08.txt", "nvidia-smi -q on a host with 8 × H100, driver 535.161.08")
ONE_RACK = DemoFile("gb200x72-1rack-allreduce-rank-list-cut.log", "all_reduce_perf over 72 × GB200")
TWO_RACKS = DemoFile("gb200x144-2rack-allreduce-rank-list-cut.log", "all_reduce_perf over 144 × GB200")
TWENTY_RACKS = DemoFile("gb200x1440-20rack-allreduce-rank-list-cut.log", "all_reduce_perf over 1,440 × GB200")
