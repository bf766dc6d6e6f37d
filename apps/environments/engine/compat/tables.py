"""Lookups that compatibility rules may use: one version of one component to versions of another.

None: nothing is known for that version. An empty tuple is never returned for a version that is known.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

from apps.catalogue.engine.cuda_driver import driver_branches, driver_floor_of, toolkit_of
from apps.catalogue.engine.torch_stack import TorchRelease, cuda_build_of, torch_release_of
from apps.catalogue.engine.versions import Scheme, parse, same_branch


def _driver_floor(cuda: str) -> tuple[str, ...] | None:
    floor = driver_floor_of(cuda)
    return (floor.min_driver,) if floor else None


def _toolkit_driver(cuda: str) -> tuple[str, ...] | None:
    toolkit = toolkit_of(cuda)
    return (toolkit.driver,) if toolkit and toolkit.driver else None


def _torch_cuda(torch: str) -> tuple[str, ...] | None:
    build = cuda_build_of(torch)
    if build:
        return (build,)
    release = torch_release_of(torch)
    return (release.default_cuda,) if release else None


def _torch_cuda_builds(torch: str) -> tuple[str, ...] | None:
    release = torch_release_of(torch)
    return release.cuda_builds if release else None


def _torch_driver_floor(torch: str) -> tuple[str, ...] | None:
    cuda = _torch_cuda(torch)
    return _driver_floor(cuda[0]) if cuda else None


def _torch_pythons(torch: str) -> tuple[str, ...] | None:
    release = torch_release_of(torch)
    # A trailing t marks the free-threaded build of the same Python.
    return tuple(dict.fromkeys(text.rstrip("t") for text in release.pythons)) if release else None


def _pin(of: Callable[[TorchRelease], str | None]) -> Callable[[str], tuple[str, ...] | None]:
    """A pin of the default wheel; nothing is known of it for builds with another CUDA."""

    def look_up(torch: str) -> tuple[str, ...] | None:
        release = torch_release_of(torch)
        if release is None or not _is_default_build(torch, release):
            return None
        pin = of(release)
        return (pin.removeprefix("~="),) if pin else None

    return look_up


def _is_default_build(torch: str, release: TorchRelease) -> bool:
    local = parse(torch, Scheme.PEP440).qualifiers.get("local", "")
    if not local:
        return True
    build = cuda_build_of(torch)
    return build is not None and bool(
        same_branch(parse(build, Scheme.CUDA), parse(release.default_cuda, Scheme.CUDA))
    )


def _ended_driver_branches(_unused: str) -> tuple[str, ...] | None:
    return tuple(str(branch.branch) for branch in driver_branches().values() if branch.is_ended)


TABLES: Mapping[str, Callable[[str], tuple[str, ...] | None]] = {
    "driver_floor": _driver_floor,
    "toolkit_driver": _toolkit_driver,
    "ended_driver_branches": _ended_driver_branches,
    "torch_cuda": _torch_cuda,
    "torch_cuda_builds": _torch_cuda_builds,
    "torch_driver_floor": _torch_driver_floor,
    "torch_pythons": _torch_pythons,
    "torch_nccl": _pin(lambda release: release.nccl),
    "torch_cudnn": _pin(lambda release: release.cudnn),
    "torch_triton": _pin(lambda release: release.triton),
}
WITHOUT_KEY = frozenset({"ended_driver_branches"})
