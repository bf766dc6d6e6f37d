"""What the wizard of plans shows: its first values, those of a document, and refusals at its fields."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from apps.catalogue.engine.model_catalogue import find_model
from apps.core.errors import FieldError, Invalid
from apps.planning.documents import is_search, model_name, spec_of
from apps.planning.forms import EXPERTS, EXPOSED, HARDWARE, HIDDEN, PRICES, SHAPE, TRAFFIC


def first_values() -> dict[str, Any]:
    """What an empty wizard starts from: the best layout of a 70B model, sharded optimizer, 10 % reserve."""
    return {
        "question": "search",
        "model_source": "catalogue",
        "catalogue_model": "llama-3-70b",
        "gated_mlp": True,
        "use_measured": True,
        "tp": 8,
        "pp": 1,
        "cp": 1,
        "ep": 1,
        "vpp": 1,
        "micro_batch": 1,
        "global_batch": 144,
        "seq_len": 8192,
        "precision": "bf16",
        "recompute": "selective",
        "zero": 1,
        "sequence_parallel": True,
        "reserve_percent": 10,
    }


def values_of(document: dict[str, Any], *, domain_id: int | None) -> dict[str, Any]:
    """What the wizard shows for a document, to ask again with changes."""
    model, system = document["model"], document["system"]
    asked = document if is_search(document) else document["parallel"]
    known = find_model(model_name(model))
    from_catalogue = known is not None and known.spec == spec_of(model)
    reserve, overlap = asked.get("reserve_share"), asked.get("overlap", {})
    hardware = {name: system.get(name) for name in HARDWARE}
    if domain_id is not None and system["accelerators"] == system.get("domain_size"):
        hardware["accelerators"] = None  # all of the domain, however many it has by then
    return {
        **first_values(),
        "question": "search" if is_search(document) else "estimate",
        "model_source": "catalogue" if from_catalogue else "shape",
        "catalogue_model": known.id if known is not None and from_catalogue else "",
        **{name: model.get(name) for name in (*SHAPE, *EXPERTS, "gated_mlp", "tied_embeddings")},
        **hardware,
        **{key: value for key, value in asked.items() if key not in ("model", "system")},
        **{f"overlap_{name}": HIDDEN if overlap[name] else EXPOSED for name in TRAFFIC if name in overlap},
        **{name: document.get("prices", {}).get(name) for name in PRICES},
        "min_accelerators": document.get("limits", {}).get("min_accelerators"),
        "domain": domain_id,
        "reserve_percent": 10 if reserve is None else reserve * 100,
    }


def at_fields(error: Invalid) -> Invalid:
    """The same error with pointers such as /parallel/tp shortened to the wizard's field, /tp."""
    return Invalid(error.message, code=error.code, errors=list(_shortened(error)))


def _shortened(error: Invalid) -> Iterator[FieldError]:
    for item in error.errors:
        parts = item.pointer.strip("/").split("/")
        name = "config" if parts[0] == "config" else parts[-1]
        name = f"overlap_{name}" if "overlap" in parts[:-1] else name
        name = "reserve_percent" if name == "reserve_share" else name
        yield FieldError(pointer=f"/{name}", message=item.message, code=item.code)
