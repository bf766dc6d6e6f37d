"""Models and accelerators of the catalogue as choices of forms, grouped by who made them."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import groupby

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.accelerators import shipped_accelerators
from apps.catalogue.engine.model_catalogue import models_by_maker

Group = tuple[str | Promise, list[tuple[str, str]]]


def model_choices() -> list[Group]:
    """The shipped models by maker."""
    return [(maker, [(one.id, one.name) for one in own]) for maker, own in models_by_maker().items()]


def accelerator_choices(ids: Iterable[str]) -> list[Group]:
    """Accelerators by vendor and name; those that only a team has figures of come last, by id."""
    shipped = shipped_accelerators()
    wanted = set(ids)
    known = sorted(
        (shipped[one] for one in wanted & set(shipped)),
        key=lambda part: (part.vendor.casefold(), part.name.casefold()),
    )
    groups: list[Group] = [
        (vendor, [(part.id, part.name) for part in parts])
        for vendor, parts in groupby(known, key=lambda part: part.vendor)
    ]
    own = sorted(wanted - set(shipped))
    return [*groups, (_("not in the shipped catalogue"), [(one, one) for one in own])] if own else groups
