"""Published runs, the model: shape of a row from its own columns and from the model catalogue."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from apps.catalogue.engine.model_catalogue import CatalogueModel, find_model
from apps.catalogue.engine.models import ModelSpec
from apps.core.texts import say
from apps.planning.engine.estimate import Assumption
from apps.planning.engine.published_cells import MLA

PADDED_GPT_VOCAB = 51200  # 50257 padded for tensor parallelism


def row_model(row: Mapping[str, str]) -> tuple[ModelSpec | None, list[Assumption], list[str]]:
    """The row's model, what was assumed for it, and which inputs are lacking.

    A model that the catalogue knows by name comes from there, with the row's own columns in its place. In rows
    of mixture-of-experts models ffn_hidden is the width of one expert, and kv_heads may say MLA.
    """
    known = find_model(row["model"])
    given = _given(row)
    if known is not None:
        return _from_catalogue(known, given)
    lacking = [name for name in ("layers", "hidden", "heads") if name not in given]
    if row["kv_heads"] == MLA:
        lacking.append("MLA ranks")
    if lacking:
        return None, [], lacking
    return _from_columns(row, given)


def _given(row: Mapping[str, str]) -> dict[str, int]:
    names = ("layers", "hidden", "ffn_hidden", "heads", "kv_heads", "vocab", "experts", "topk")
    return {name: int(row[name]) for name in names if row[name] and row[name] != MLA}


def _from_catalogue(
    known: CatalogueModel, given: dict[str, int]
) -> tuple[ModelSpec, list[Assumption], list[str]]:
    spec = known.spec
    shape: dict[str, Any] = dict(given)
    if spec.is_moe and "ffn_hidden" in shape:
        shape["expert_ffn_hidden"] = shape.pop("ffn_hidden")
    if spec.mla is not None:
        shape.pop("kv_heads", None)
    differs = {name: value for name, value in shape.items() if getattr(spec, name) != value}
    if "heads" in differs and "kv_heads" not in given and spec.kv_heads == spec.heads:
        differs["kv_heads"] = 0  # as many as heads
    if differs.keys() & {"hidden", "heads"} and spec.head_dim == spec.hidden // spec.heads:
        differs["head_dim"] = 0  # hidden / heads
    filled = sorted(name for name in _told_by(spec) if name not in given)
    assumed = []
    if filled:
        assumed.append(
            Assumption(
                name="model",
                value=known.name,
                source=say("model catalogue, for %(filled)s", filled=", ".join(filled)),
            )
        )
    return dataclasses.replace(spec, **differs) if differs else spec, assumed, []


def _told_by(spec: ModelSpec) -> list[str]:
    """The columns that a row must fill for the catalogue's model not to fill them."""
    names = ["layers", "hidden", "ffn_hidden", "heads", "vocab"]
    if spec.mla is None and spec.kv_heads != spec.heads:
        names.append("kv_heads")
    return [*names, "experts", "topk"] if spec.is_moe else names


def _from_columns(
    row: Mapping[str, str], given: dict[str, int]
) -> tuple[ModelSpec | None, list[Assumption], list[str]]:
    assumed = []
    hidden = given["hidden"]
    ffn = given.get("ffn_hidden")
    if ffn is None:
        ffn = 4 * hidden
        assumed.append(Assumption(name="ffn_hidden", value=ffn, source=say("4 x hidden, as in GPT models")))
    gated = ffn != 4 * hidden
    assumed.append(
        Assumption(
            name="gated_mlp",
            value=gated,
            source=say("a width of 4 x hidden is a plain MLP, others are gated"),
        )
    )
    vocab = given.get("vocab")
    if vocab is None:
        vocab = PADDED_GPT_VOCAB
        assumed.append(Assumption(name="vocab", value=vocab, source=say("padded GPT-2 vocabulary")))
    experts = given.get("experts", 0)
    model = ModelSpec(
        name=row["model"],
        layers=given["layers"],
        hidden=hidden,
        heads=given["heads"],
        kv_heads=given.get("kv_heads", 0),
        vocab=vocab,
        ffn_hidden=0 if experts else ffn,
        gated_mlp=gated or experts > 0,
        tied_embeddings=not gated,
        experts=experts,
        topk=given.get("topk", 0),
        expert_ffn_hidden=ffn if experts else 0,
    )
    return model, assumed, []
