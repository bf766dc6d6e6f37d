"""What each PyTorch release pins: CUDA, NCCL, cuDNN, Triton, and the CUDA builds it is offered in."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from apps.catalogue.engine.versions import Scheme, parse


@dataclass(frozen=True, slots=True, kw_only=True)
class TorchRelease:
    """One PyTorch release as its default Linux wheel declares it; None: not pinned or not known.

    version: the release (2.8.0), or one build of it (2.8.0+cu126) that a team knows the pins of. default_cuda:
    CUDA of the wheel of the public index, or of that build. nccl, cudnn and triton: pins of that wheel only; other
    CUDA builds may pin others. cuda_builds: None where they were not looked up.
    """

    version: str
    default_cuda: str
    nccl: str | None
    cudnn: str | None
    triton: str | None
    pythons: tuple[str, ...]
    cuda_builds: tuple[str, ...] | None
    source: str
    confidence: str
    note: str


def torch_release_of(torch: str, releases: Mapping[str, TorchRelease]) -> TorchRelease | None:
    """The build itself where it has a row, else its release (2.8.0 of 2.8.0+cu128); None for unknown ones."""
    version = parse(torch, Scheme.PEP440)
    if not version.is_known:
        return None
    own = releases.get(version.canonical)
    return own or releases.get(version.canonical.partition("+")[0])


def cuda_build_of(torch: str) -> str | None:
    """The CUDA that a torch build names (12.8 of 2.8.0+cu128); None where it names none."""
    local = parse(torch, Scheme.PEP440).qualifiers.get("local", "")
    digits = local.removeprefix("cu")
    if not local.startswith("cu") or not digits.isdigit() or len(digits) < 3:
        return None
    return f"{int(digits[:2])}.{int(digits[2:])}"
