"""Real tool output for tests, as bytes."""

from __future__ import annotations

from pathlib import Path

FOLDER = Path(__file__).parents[1] / "corpus"

XML = "nvidia-smi-xml/h100x8-570.86.15.xml"
COLLECT_ENV = "collect-env/h100x8-torch2.4.0.txt"
ALL_REDUCE = "nccl-tests/a100x8-allreduce-old-header.log"
KERNEL_LOG = "xid-dmesg/xid119-gsp-timeout.log"
KUBERNETES = "k8s-nodes/constructed-gb200-2racks.json"


def read(name: str) -> bytes:
    """The bytes of a file of the corpus."""
    return (FOLDER / name).read_bytes()
