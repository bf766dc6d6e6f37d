"""Plan documents: the JSON that the planner takes, put together from what a form, a fleet or a search knows."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import asdict
from math import isfinite
from typing import Any

from apps.catalogue.engine.model_catalogue import shipped_models
from apps.catalogue.engine.models import ModelSpec
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.layouts import WORDS
from apps.planning.engine.reading import stop_if_wrong
from apps.planning.engine.reading_model import read_model

LARGEST_CHARS = 100_000
DEEPEST = 8  # objects and lists in each other

_OPTIONS = (
    "precision",
    "framework",
    "gradient_dtype",
    "attention",
    "dropout",
    "fused_cross_entropy",
    "gradient_compression",
    "expert_imbalance",
    "routed_domains",
    "in_network_reduction",
    "graphs",
    "overlap",
    "reserve_share",
)

# In which order people read an input; PostgreSQL's JSON type keeps none.
_ORDER = (
    *(
        "model",
        "system",
        "parallel",
        "name",
        "layers",
        "hidden",
        "ffn_hidden",
        "heads",
        "kv_heads",
        "head_dim",
    ),
    *("vocab", "gated_mlp", "tied_embeddings", "experts", "topk", "expert_ffn_hidden"),
    *("shared_expert_ffn_hidden", "dense_layers", "mtp_layers", "mla"),
    *("accelerator", "accelerators", "domain_size", "sub_domain_size", "convergence_ratio", "scale_up_gb_s"),
    *(
        "scale_out_gb_s",
        "figures",
        "measured",
        "tp",
        "pp",
        "vpp",
        "dp",
        "cp",
        "ep",
        "etp",
        "micro_batch",
        "global_batch",
    ),
    *("seq_len", "recompute", "sequence_parallel", "zero", "schedule", "placement", "objective"),
    *_OPTIONS,
    *("prices", "limits", "top"),
)
_PLACES = {key: place for place, key in enumerate(_ORDER)}


def in_order(document: Mapping[str, Any]) -> dict[str, Any]:
    """The document, and the objects in it, in the order in which people read it; unknown keys last, by name."""
    keys = sorted(document, key=lambda key: (_PLACES.get(key, len(_PLACES)), key))
    return {key: in_order(value) if isinstance(value := document[key], Mapping) else value for key in keys}


def require_storable(document: Mapping[str, Any]) -> None:
    """Raises Invalid, with pointers, for what a database's JSON cannot hold (NUL, infinities) or should not (size)."""
    errors = list(_unstorable(document, ""))
    if errors:
        raise Invalid(errors[0].message, errors=errors)
    if len(json.dumps(document)) > LARGEST_CHARS:
        message = say(
            "a plan's document has at most %(largest_chars)s characters", largest_chars=LARGEST_CHARS
        )
        raise Invalid(message, errors=[FieldError(pointer="", message=message, code="too_large")])


def _unstorable(value: Any, pointer: str, depth: int = 0) -> Iterator[FieldError]:
    if depth > DEEPEST:
        yield FieldError(pointer=pointer, message=say("objects are nested too deeply here"), code="too_deep")
    elif isinstance(value, str) and "\0" in value:
        yield FieldError(pointer=pointer, message=say("NUL characters cannot be kept"), code="nul")
    elif isinstance(value, float) and not isfinite(value):
        yield FieldError(pointer=pointer, message=say("a number must be finite"), code="type")
    elif isinstance(value, Mapping):
        for key, inner in value.items():
            if "\0" in str(key):
                yield FieldError(pointer=pointer, message=say("NUL characters cannot be kept"), code="nul")
            yield from _unstorable(inner, f"{pointer}/{key}", depth + 1)
    elif isinstance(value, list):
        for place, inner in enumerate(value):
            yield from _unstorable(inner, f"{pointer}/{place}", depth + 1)


def is_search(document: Mapping[str, Any]) -> bool:
    """Whether a document asks for the best layouts instead of stating one."""
    return "parallel" not in document


def model_document(spec: ModelSpec) -> dict[str, Any]:
    """The shape of a model, without what it does not have; what a plan must state or would assume stays."""
    values = {key: value for key, value in asdict(spec).items() if value not in (None, 0, "")}
    stated = ("ffn_hidden", "gated_mlp", "tied_embeddings", "biases")
    return values | {name: getattr(spec, name) for name in stated}


def model_name(model: Mapping[str, Any]) -> str:
    """What a model is called: by its document, else by the catalogue where the shape is there."""
    if model.get("name"):
        return str(model["name"])
    spec = spec_of(model)
    for known in shipped_models().values():
        if known.spec == spec:
            return known.name
    return ""


def spec_of(model: Mapping[str, Any]) -> ModelSpec:
    """The shape in a document. Raises Invalid as `read_plan` does."""
    fields = Fields(model, "/model")
    spec = read_model(fields)
    stop_if_wrong(fields)
    assert spec is not None, "a shape without errors is a shape"
    return spec


def parallel_of_found(configuration: Mapping[str, Any], asked: Mapping[str, Any]) -> dict[str, Any]:
    """The parallel object of a configuration that a search found, with the options that the search had.

    configuration: as an estimate lists it. asked: the document of the search.
    """
    words = configuration_words(configuration)
    sizes = ("tp", "pp", "vpp", "dp", "cp", "ep", "etp", "micro_batch", "global_batch", "zero")
    return {
        **{name: words[name] for name in sizes},
        "seq_len": asked["seq_len"],
        **{name: words[name] for name in ("sequence_parallel", *WORDS)},
        **{name: asked[name] for name in _OPTIONS if name in asked},
    }


def configuration_words(configuration: Mapping[str, Any]) -> dict[str, Any]:
    """A configuration with words for recomputation, schedule and placement, where old results hold codes."""
    codes = {name: value for name in WORDS if isinstance(value := configuration[name], int)}
    return {**configuration, **{name: WORDS[name][code] for name, code in codes.items()}}
