"""Nodes whose reports contradict the accelerators that are on record for them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import replace
from functools import cache
from typing import Any

from django.db.models import QuerySet

from apps.catalogue.engine.accelerators import Accelerator
from apps.catalogue.engine.designations import designation
from apps.catalogue.engine.overlays import Kind
from apps.catalogue.queries import accelerators_for, scopes_with_edits
from apps.environments.engine.drift import Reported
from apps.environments.engine.facts import Standing
from apps.environments.engine.hardware import CardsSaid, HardwareFault, fault_in
from apps.environments.queries.reports import Said, reported_versions, stated
from apps.fleet.models import Node
from apps.fleet.queries import models_on

# Components that tell of accelerators themselves.
ABOUT_CARDS = frozenset({"gpu_count", "gpu_model", "gpu_memory"})

_Models = tuple[tuple[str, int], ...]  # of accelerators, with how many there are
_Held = tuple[_Models, int | None]  # what is on record, and whose catalogue holds


def hardware_faults(
    node_ids: Collection[int] | QuerySet[Any], *, stale_after_s: float | None = None
) -> dict[int, HardwareFault]:
    """Node id to what is wrong with the accelerators that it reports; nodes without a fault are left out.

    node_ids may be a subquery. The number of queries grows with the clusters that set figures of their own in the
    catalogue, not with nodes. Which report counts is asked only where that makes a difference.
    """
    record = _Record(node_ids)
    found, unclear = {}, []
    for pk, said in stated(node_ids, components=ABOUT_CARDS).items():
        is_clear, fault = record.whichever_counts(pk, said)
        if not is_clear:
            unclear.append(pk)
        elif fault is not None:
            found[pk] = fault
    if unclear:
        reported = reported_versions(unclear, stale_after_s=stale_after_s, components=ABOUT_CARDS)
        faults = {pk: record.fault(pk, _counting(versions)) for pk, versions in reported.items()}
        found |= {pk: fault for pk, fault in faults.items() if fault is not None}
    return found


class _Record:
    """What is on record for nodes, and in the catalogue of their teams. Nodes that are alike are judged once."""

    def __init__(self, node_ids: Collection[int] | QuerySet[Any]) -> None:
        self._models = models_on(node_ids)
        self._scopes = dict(
            Node.objects.filter(pk__in=node_ids).order_by().values_list("pk", "cluster__scope_id")
        )
        own = scopes_with_edits(Kind.ACCELERATOR) & set(self._scopes.values())
        self._catalogues = {scope_id: _Catalogue(scope_id) for scope_id in {*own, None}}
        self._fault, self._clear = cache(self._fault_in), cache(self._is_clear)

    def fault(self, pk: int, said: CardsSaid) -> HardwareFault | None:
        """What is wrong with these accelerators on that node."""
        return self._fault(said, *self._of(pk))

    def whichever_counts(self, pk: int, said: frozenset[Said]) -> tuple[bool, HardwareFault | None]:
        """Whether it is the same whichever of these the reports come down to, and what is wrong then."""
        return self._clear(said, *self._of(pk))

    def _of(self, pk: int) -> _Held:
        scope_id = self._scopes[pk]
        own = scope_id if scope_id in self._catalogues else None
        return tuple(sorted(self._models.get(pk, {}).items())), own

    def _is_clear(
        self, said: frozenset[Said], models: _Models, scope_id: int | None
    ) -> tuple[bool, HardwareFault | None]:
        cards = _all(said)
        ways = {
            self._fault(one, models, scope_id)
            for one in (cards, replace(cards, loaded=()), replace(cards, declared=()))
        }
        if len(ways) > 1 or len(cards.loaded) > 1 or len(cards.declared) > 1:
            return False, None
        fault = ways.pop()
        # One of several models or sizes is at odds only where that of all is.
        return fault is None or (len(cards.models) < 2 and len(cards.memories) < 2), fault

    def _fault_in(self, said: CardsSaid, models: _Models, scope_id: int | None) -> HardwareFault | None:
        catalogue = self._catalogues[scope_id]
        return fault_in(said, on_record=dict(models), parts=catalogue.parts, known=catalogue.known)


class _Catalogue:
    """Accelerators as a team has them, and the words that tell them apart."""

    def __init__(self, scope_id: int | None) -> None:
        self.parts: Mapping[str, Accelerator] = accelerators_for(scope_id)
        self.known = {word for part in self.parts.values() if (word := designation(part.name))}


def _counting(versions: Mapping[str, Reported]) -> CardsSaid:
    count, model, memory = (versions.get(name) for name in ("gpu_count", "gpu_model", "gpu_memory"))
    return CardsSaid(
        loaded=count.loaded if count else (),
        declared=count.declared if count else (),
        models=model.values if model else (),
        memories=memory.values if memory else (),
    )


def _all(said: frozenset[Said]) -> CardsSaid:
    def of(component: str, *standings: Standing) -> tuple[str, ...]:
        return tuple(
            sorted(value for name, standing, value in said if name == component and standing in standings)
        )

    return CardsSaid(
        loaded=of("gpu_count", Standing.LOADED),
        declared=of("gpu_count", Standing.DECLARED),
        models=of("gpu_model", *Standing),
        memories=of("gpu_memory", *Standing),
    )
