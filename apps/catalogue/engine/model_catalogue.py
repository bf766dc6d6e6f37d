"""Model catalogue: shapes of real open models by id and by the names that publications use."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from itertools import groupby
from pathlib import Path
from types import MappingProxyType
from typing import Any

import yaml

from apps.catalogue.engine.models import MlaSpec, ModelSpec
from apps.core.errors import Missing
from apps.core.texts import say

DATA = Path(__file__).resolve().parent.parent / "data" / "models.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class CatalogueModel:
    """One model: its shape, where that is from, and the published count of parameters in billions."""

    id: str
    name: str
    maker: str
    aliases: tuple[str, ...]
    published_params: float
    source: str
    confidence: str
    spec: ModelSpec


def parse_model(row: Mapping[str, Any]) -> CatalogueModel:
    """One row of the data file as a value."""
    shape = dict(row["shape"])
    mla = MlaSpec(**shape.pop("mla")) if "mla" in shape else None
    return CatalogueModel(
        id=row["id"],
        name=row["name"],
        maker=row["maker"],
        aliases=tuple(row["aliases"]),
        published_params=float(row["params_b"]) * 1e9,
        source=row["source"],
        confidence=row["confidence"],
        spec=ModelSpec(name=row["name"], mla=mla, **shape),
    )


@cache
def shipped_models() -> Mapping[str, CatalogueModel]:
    """The models that the product ships, by id."""
    document = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return MappingProxyType({row["id"]: parse_model(row) for row in document["models"]})


@cache
def models_by_maker() -> Mapping[str, tuple[CatalogueModel, ...]]:
    """The shipped models by who made them, makers by name; a maker's by generation, then by size."""
    models = sorted(shipped_models().values(), key=lambda model: (model.maker.casefold(), _natural(model.id)))
    return MappingProxyType({maker: tuple(own) for maker, own in groupby(models, key=lambda m: m.maker)})


def _natural(text: str) -> tuple[str | float, ...]:
    """A key that sorts numbers in a text by their value: words and numbers take turns in it."""
    parts = re.split(r"(\d+(?:\.\d+)?)", text)
    return tuple(float(part) if place % 2 else part for place, part in enumerate(parts))


@cache
def _by_name() -> Mapping[str, CatalogueModel]:
    found: dict[str, CatalogueModel] = {}
    for model in shipped_models().values():
        for name in (model.id, model.name, *model.aliases):
            found.setdefault(plain_name(name), model)
    return MappingProxyType(found)


def plain_name(name: str) -> str:
    """A model's name without case, spaces and punctuation, and without remarks on routing."""
    remark = re.sub(r"\((?:tokendrop|token drop|dropless)\)", "", name.lower())
    return re.sub(r"[^a-z0-9.]+", "", remark)


def find_model(name: str) -> CatalogueModel | None:
    """The model of that id, name or alias, an owner before it (`owner/name`) left out; None where there is none."""
    return _by_name().get(plain_name(name)) or _by_name().get(plain_name(name.rpartition("/")[2]))


def model_named(name: str) -> CatalogueModel:
    """The model of that id, name or alias. Raises Missing, naming it."""
    found = find_model(name)
    if found is None:
        raise Missing(say("no model %(name)s in the catalogue", name=f"{name!r}"), name=name)
    return found
