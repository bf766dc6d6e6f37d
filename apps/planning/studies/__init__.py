"""Questions to the planning engine that need no plan of their own: one file per study, listed here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from apps.core.errors import Missing
from apps.planning.studies import claims
from apps.planning.studies.base import Study

STUDIES: Mapping[str, Study] = MappingProxyType({module.STUDY.key: module.STUDY for module in (claims,)})


def study_named(key: str) -> Study:
    """The study of an address. Raises Missing."""
    found = STUDIES.get(key)
    if found is None:
        raise Missing("there is no such study")
    return found
