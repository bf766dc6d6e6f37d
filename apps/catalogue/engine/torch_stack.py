"""What each PyTorch release pins: CUDA, NCCL, cuDNN, Triton, and the CUDA builds it is offered in."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache

from apps.catalogue.engine.reference import table
from apps.catalogue.engine.versions import Scheme, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchRelease:
    """One PyTorch release as its default Linux wheel declares it; None: not pinned or not known.

    default_cuda: CUDA of the wheel of the public index. nccl and cudnn: pins of that wheel only;
    other CUDA builds may pin others. cuda_builds: None where they were not looked up.
    """

    version: str
    default_cuda: str
    nccl: str | None
    cudnn: str | None
    triton: str | None
    min_driver: str
    pythons: tuple[str, ...]
    cuda_builds: tuple[str, ...] | None
    source: str
    confidence: str
    note: str


@cache
def torch_releases() -> dict[str, TorchRelease]:
    """Release (2.8.0) to its pins."""
    return {row["version"]: _release(row) for row in table("torch_stack")["releases"]}


def _release(row: dict[str, object]) -> TorchRelease:
    builds, pythons = row["cuda_variants"], row["python_wheels_linux_x86_64"]
    assert isinstance(pythons, list)
    return TorchRelease(
        version=str(row["version"]),
        default_cuda=str(row["default_cuda"]),
        nccl=_text(row["nccl"]),
        cudnn=_text(row["cudnn"]),
        triton=_text(row["triton"]),
        min_driver=str(row["min_driver_linux"]),
        pythons=tuple(str(python) for python in pythons),
        cuda_builds=tuple(str(build) for build in builds) if isinstance(builds, list) else None,
        source=str(row["source"]),
        confidence=str(row["confidence"]),
        note=str(row.get("note", "")),
    )


def _text(value: object) -> str | None:
    return None if value is None else str(value)


def torch_release_of(torch: str) -> TorchRelease | None:
    """The release that a torch is a build of (2.8.0 of 2.8.0+cu128); None for nightlies and unknown ones."""
    version = parse(torch, Scheme.PEP440)
    if not version.is_known:
        return None
    return torch_releases().get(version.canonical.partition("+")[0])


def cuda_build_of(torch: str) -> str | None:
    """The CUDA that a torch build names (12.8 of 2.8.0+cu128); None where it names none."""
    local = parse(torch, Scheme.PEP440).qualifiers.get("local", "")
    digits = local.removeprefix("cu")
    if not local.startswith("cu") or not digits.isdigit() or len(digits) < 3:
        return None
    return f"{int(digits[:2])}.{int(digits[2:])}"
