"""Lookups that compatibility rules may use: one version of one component to versions of another.

None: nothing is known for that version. An empty tuple is never returned for a version that is known.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping

from apps.catalogue.engine.cuda_driver import driver_floor_of, toolkit_of
from apps.catalogue.engine.torch_stack import TorchRelease, cuda_build_of, torch_release_of
from apps.catalogue.engine.version_tables import VersionTables
from apps.catalogue.engine.versions import Scheme, parse, same_branch

Found = tuple[str, ...] | None
_TAG_OF_PUBLISHED = re.compile(r"cu\d{3}|cpu|rocm\d")


def _driver_floor(cuda: str, tables: VersionTables) -> Found:
    floor = driver_floor_of(cuda, tables.floors)
    return (floor.min_driver,) if floor else None


def _toolkit_driver(cuda: str, tables: VersionTables) -> Found:
    toolkit = toolkit_of(cuda, tables.toolkits)
    return (toolkit.driver,) if toolkit and toolkit.driver else None


def _torch_cuda(torch: str, tables: VersionTables) -> Found:
    build = cuda_build_of(torch)
    if build:
        return (build,)
    release = _published(torch, tables)
    return (release.default_cuda,) if release else None


def _torch_cuda_builds(torch: str, tables: VersionTables) -> Found:
    release = _published(torch, tables)
    return (release.cuda_builds or None) if release else None


def _published(torch: str, tables: VersionTables) -> TorchRelease | None:
    """The release of a build that PyTorch publishes, or that has a row; what a maker or somebody else built is none."""
    release = torch_release_of(torch, tables.releases)
    if release is None:
        return None
    version = parse(torch, Scheme.PEP440)
    local = version.qualifiers.get("local", "")
    is_published = not local or _TAG_OF_PUBLISHED.match(local) is not None
    return release if is_published or version.canonical == release.version else None


def _torch_driver_floor(torch: str, tables: VersionTables) -> Found:
    cuda = _torch_cuda(torch, tables)
    return _driver_floor(cuda[0], tables) if cuda else None


def _torch_pythons(torch: str, tables: VersionTables) -> Found:
    release = _published(torch, tables)
    # A trailing t marks the free-threaded build of the same Python.
    found = dict.fromkeys(text.rstrip("t") for text in release.pythons) if release else {}
    return tuple(found) or None


def _pin(of: Callable[[TorchRelease], str | None]) -> Callable[[str, VersionTables], Found]:
    """A pin of the default wheel, or of a build that has a row; nothing is known of it for other builds."""

    def look_up(torch: str, tables: VersionTables) -> Found:
        release = torch_release_of(torch, tables.releases)
        if release is None or not _is_of(torch, release):
            return None
        pin = of(release)
        return (pin.removeprefix("~="),) if pin else None

    return look_up


def _is_of(torch: str, release: TorchRelease) -> bool:
    version = parse(torch, Scheme.PEP440)
    if not version.qualifiers.get("local", "") or version.canonical == release.version:
        return True
    build = cuda_build_of(torch)
    return build is not None and bool(
        same_branch(parse(build, Scheme.CUDA), parse(release.default_cuda, Scheme.CUDA))
    )


def _ended_driver_branches(driver: str, tables: VersionTables) -> Found:
    """Nothing is known of a driver whose own branch has no row: neither that it goes on, nor that it ended."""
    numbers = parse(driver, Scheme.DOTTED_NUMERIC).numbers
    if not numbers or numbers[0] not in tables.branches:
        return None
    return tuple(str(branch.branch) for branch in tables.branches.values() if branch.is_ended) or None


LOOK_UPS: Mapping[str, Callable[[str, VersionTables], Found]] = {
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
# Which version table of the catalogue a lookup takes its answer from; the others take it from that of PyTorch.
_TAKEN_FROM = {
    "driver_floor": "cuda_major",
    "torch_driver_floor": "cuda_major",
    "toolkit_driver": "toolkit",
    "ended_driver_branches": "branch",
}


def version_table_of(look_up: str) -> str:
    """The version table in which people find (and set) what a lookup answers; empty for none."""
    return _TAKEN_FROM.get(look_up, "torch") if look_up else ""
