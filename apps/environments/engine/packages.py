"""Components that a catalogue names the packages of, as lists of installed packages state them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.catalogue.engine.components import Component
from apps.catalogue.engine.versions import Scheme

# Kind of evidence → where its facts hold name → version, or → versions.
_LISTS: Mapping[str, tuple[str, ...]] = {
    "package_list": ("installed",),
    "python_packages": ("installed",),
    "collect_env": ("pip_packages", "conda_packages"),
}
KINDS_THAT_LIST = tuple(_LISTS)
# Schemes that read what a distribution adds; for the others it is not part of the version.
_KEEPS_REVISION = frozenset({Scheme.DEBIAN, Scheme.KERNEL, Scheme.OS_RELEASE, Scheme.OPAQUE})


def versions_listed(component: Component, kind: str, facts: Mapping[str, Any]) -> tuple[str, ...]:
    """The distinct versions that a list of packages gives for a component; empty where it has none of them.

    kind: one of KINDS_THAT_LIST.
    """
    names = _matcher(component.packages)
    found = (version for key in _LISTS[kind] for version in _named(facts.get(key), names))
    return tuple(dict.fromkeys(_without_revision(version, component, kind) for version in found))


def _named(held: object, names: re.Pattern[str]) -> Iterator[str]:
    for name, versions in held.items() if isinstance(held, Mapping) else ():
        if names.fullmatch(_plain(str(name))):
            yield from versions if isinstance(versions, list) else (str(versions),)


def _matcher(packages: tuple[str, ...]) -> re.Pattern[str]:
    forms = (
        re.escape(_plain(name.removesuffix("*"))) + (".*" if name.endswith("*") else "") for name in packages
    )
    return re.compile("|".join(forms))


def _plain(name: str) -> str:
    """A name as package managers compare it: torch_npu and torch-npu are the same."""
    return re.sub(r"[-_.]+", "-", name).lower()


def _without_revision(version: str, component: Component, kind: str) -> str:
    """1:2.21.5-1+cuda12.4 as the maker numbers it, 2.21.5, where the component's scheme knows no revisions."""
    if kind != "package_list" or component.scheme in _KEEPS_REVISION:
        return version
    return re.sub(r"^\d{1,3}:", "", version).split("-", 1)[0]
