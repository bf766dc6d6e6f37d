"""What may be left to the portal in a plan's document: the catalogue's model, a config.json, the fleet's hardware."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.catalogue.engine.hf_config import model_from_config
from apps.catalogue.engine.model_catalogue import shipped_models
from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.models import Domain
from apps.planning import queries
from apps.planning.documents import model_document


def written_out(document: dict[str, Any], *, scope_id: int, domain: Domain | None = None) -> dict[str, Any]:
    """The document with the model's shape, the domain's hardware and the team's own figures written into it.

    `model` may be an id of the catalogue, or `{"config": …}` with a Hugging Face config.json. A `system` that names
    no accelerator is the domain's, measured figures included; what it does say goes before. All of it stands in
    the document then, so that an answer and its digest never depend on later edits. Raises Invalid.
    """
    parts = {"model": _model(document.get("model")), "system": document.get("system", {})}
    if domain is not None and isinstance(parts["system"], Mapping) and "accelerator" not in parts["system"]:
        parts["system"] = queries.part_of_domain(domain, parts["system"])
    whole = document | {name: part for name, part in parts.items() if part not in (None, {})}
    return _with_figures(whole, scope_id)


def _model(asked: Any) -> Any:
    if isinstance(asked, str):
        found = shipped_models().get(asked)
        if found is None:
            message = say("no model %(name)s in the catalogue", name=f"{asked[:80]!r}")
            raise Invalid(message, errors=[FieldError(pointer="/model", message=message, code="unknown")])
        return model_document(found.spec)
    if isinstance(asked, Mapping) and set(asked) == {"config"}:
        try:
            return model_document(model_from_config(asked["config"]))
        except Invalid as error:
            raise Invalid(error.message, errors=[_in_config(problem) for problem in error.errors]) from error
    return asked


def _in_config(problem: FieldError) -> FieldError:
    pointer = f"/model/config{problem.pointer}"
    return FieldError(pointer=pointer, message=problem.message, code=problem.code)


def _with_figures(document: dict[str, Any], scope_id: int) -> dict[str, Any]:
    """The document with the team's own figures of its accelerator, unless it states figures itself."""
    system = document.get("system")
    if not isinstance(system, Mapping) or "figures" in system:
        return document
    part = system.get("accelerator")
    figures = queries.figures_of(part, scope_id) if isinstance(part, str) and "\0" not in part else {}
    return document | {"system": {**system, "figures": figures}} if figures else document
