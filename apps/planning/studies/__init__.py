"""Questions to the planning engine that need no plan of their own: one file per study, listed here."""

from __future__ import annotations

from collections.abc import Mapping
from types import MappingProxyType

from apps.core.errors import Missing
from apps.core.texts import say
from apps.planning.studies import (
    claims,
    cost,
    envelope,
    inference,
    power,
    purchase,
    reliability,
    scaling,
    sensitivity,
)
from apps.planning.studies.base import Study

_MODULES = (
    scaling,
    sensitivity,
    reliability,
    power,
    cost,
    envelope,
    purchase,
    inference,
    claims,
)  # as the hub lists them
STUDIES: Mapping[str, Study] = MappingProxyType({module.STUDY.key: module.STUDY for module in _MODULES})


def study_named(key: str) -> Study:
    """The study of an address. Raises Missing."""
    found = STUDIES.get(key)
    if found is None:
        raise Missing(say("there is no such study"))
    return found
