"""The generations of accelerators that a cluster has, with their compute from the catalogue."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from django.db.models import Count

from apps.catalogue.engine.accelerators import Accelerator as Part
from apps.catalogue.queries import accelerators_for
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.mixed import (
    ComputeSource,
    Generation,
    MixedPlan,
    ModelGroup,
    model_groups,
    split_work,
)
from apps.fleet.models import Accelerator, Cluster, LifeCycle
from apps.fleet.queries.description import description_of

PRECISION = "bf16"


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelCount:
    """part: its row of the catalogue; None where the model is not in it."""

    model: str
    cards: int
    part: Part | None

    @property
    def catalogue_flops(self) -> float | None:
        return self.part.dense_flops.get(PRECISION) if self.part else None


@dataclass(frozen=True, slots=True, kw_only=True)
class MixedPool:
    models: tuple[ModelCount, ...]
    groups: tuple[ModelGroup, ...]

    def plan(self, *, units: int, measured: Mapping[str, float]) -> MixedPlan:
        """Divide work. measured: model → FLOPs per second of one.

        Raises Invalid where one has no figure, or where a measured one is none of these.
        """
        foreign = sorted(measured.keys() - {one.model for one in self.models})
        if foreign:
            message = say("there are no such accelerators here")
            errors = [FieldError(pointer=f"/measured_flops/{model}", message=message) for model in foreign]
            raise Invalid(message, code="unknown_model", errors=errors)
        missing = [one.model for one in self.models if not (measured.get(one.model) or one.catalogue_flops)]
        if missing:
            message = say("neither measured nor in the catalogue: %(missing)s", missing=", ".join(missing))
            raise Invalid(
                message, code="no_compute", errors=[FieldError(pointer="/compute", message=message)]
            )
        return split_work([_generation(one, measured) for one in self.models], units=units)


def mixed_pool(cluster: Cluster) -> MixedPool:
    """The models of a cluster's accelerators in use, and where those of one model stand together."""
    cards = Accelerator.objects.filter(node__cluster=cluster).exclude(node__life_cycle=LifeCycle.RETIRED)
    rows = cards.exclude(model="").order_by("model").values_list("model").annotate(number=Count("pk"))
    parts = accelerators_for(cluster.scope_id)
    return MixedPool(
        models=tuple(ModelCount(model=model, cards=number, part=parts.get(model)) for model, number in rows),
        groups=model_groups(description_of(cluster)),
    )


def _generation(one: ModelCount, measured: Mapping[str, float]) -> Generation:
    own = measured.get(one.model)
    return Generation(
        model=one.model,
        cards=one.cards,
        compute_flops=own or one.catalogue_flops or 0.0,
        source=ComputeSource.MEASURED if own else ComputeSource.CATALOGUE,
    )
