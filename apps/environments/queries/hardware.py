"""Nodes whose reports contradict the accelerators that are on record for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import QuerySet

from apps.catalogue.engine.accelerators import Accelerator
from apps.catalogue.engine.designations import designation
from apps.catalogue.engine.overlays import Kind
from apps.catalogue.queries import accelerators_for, scopes_with_edits
from apps.environments.engine.drift import Reported
from apps.environments.engine.hardware import CardsSaid, HardwareFault, fault_in
from apps.environments.queries.reports import reported_versions
from apps.fleet.models import Node
from apps.fleet.queries import models_on

# Components that tell of accelerators themselves.
ABOUT_CARDS = frozenset({"gpu_count", "gpu_model", "gpu_memory"})


def hardware_faults(
    node_ids: Collection[int] | QuerySet[Any], *, stale_after_s: float | None = None
) -> dict[int, HardwareFault]:
    """Node id to what is wrong with the accelerators that it reports; nodes without a fault are left out.

    node_ids may be a subquery. The number of queries grows with the clusters that set figures of their own in the
    catalogue, not with nodes.
    """
    reported = reported_versions(node_ids, stale_after_s=stale_after_s, components=ABOUT_CARDS)
    on_record = models_on(node_ids)
    scope_of = dict(Node.objects.filter(pk__in=node_ids).order_by().values_list("pk", "cluster__scope_id"))
    own = scopes_with_edits(Kind.ACCELERATOR)
    catalogues = {scope_id: _Catalogue(scope_id) for scope_id in {*own & set(scope_of.values()), None}}
    found = {}
    for pk, versions in reported.items():
        catalogue = catalogues.get(scope_of[pk]) or catalogues[None]
        fault = fault_in(
            _said(versions), on_record=on_record.get(pk, {}), parts=catalogue.parts, known=catalogue.known
        )
        if fault is not None:
            found[pk] = fault
    return found


class _Catalogue:
    """Accelerators as a team has them, and the words that tell them apart."""

    def __init__(self, scope_id: int | None) -> None:
        self.parts: Mapping[str, Accelerator] = accelerators_for(scope_id)
        self.known = {word for part in self.parts.values() if (word := designation(part.name))}


def _said(versions: Mapping[str, Reported]) -> CardsSaid:
    count, model, memory = (versions.get(name) for name in ("gpu_count", "gpu_model", "gpu_memory"))
    return CardsSaid(
        loaded=count.loaded if count else (),
        declared=count.declared if count else (),
        models=model.values if model else (),
        memories=memory.values if memory else (),
    )
