"""Reading a plan: JSON to PlanInput, with a pointer for everything that is wrong."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.planning.engine.estimate import PlanInput
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.reading_model import check_card, read_model, read_system
from apps.planning.engine.reading_parallel import read_layout, read_options, workload_for
from apps.planning.engine.rules import REASONS, only_warned, violations


def read_plan(document: object) -> PlanInput:
    """The plan of a parsed JSON document. Raises Invalid with one error per problem found."""
    if not isinstance(document, Mapping):
        raise Invalid(
            say("a plan is a JSON object"),
            errors=[FieldError(pointer="", message=say("a plan is a JSON object"), code="type")],
        )
    root = Fields(document, "")
    model_fields, system_fields = root.child("model"), root.child("system")
    parallel_fields = root.child("parallel")
    stop_if_wrong(root)
    model = read_model(model_fields)
    stop_if_wrong(root)
    system, assumed_system = read_system(system_fields)
    layout = read_layout(parallel_fields)
    options = read_options(parallel_fields)
    seq_len = parallel_fields.whole("seq_len")
    stop_if_wrong(root)
    assert model is not None and system is not None
    check_card(system, options.precision, system_fields=system_fields, precision_fields=parallel_fields)
    found = violations(model, layout, accelerators=system.accelerators, seq_len=seq_len)
    for code, mask in found.items():
        if mask[0] and code not in only_warned(options.framework):
            key, message = REASONS[code]
            parallel_fields.wrong(key, message, code)
    stop_if_wrong(root)
    workload, assumed = workload_for(
        model,
        system,
        options,
        seq_len=seq_len,
        zero=int(layout.zero[0]),
        sequence_parallel=bool(layout.sequence_parallel[0]),
    )
    unused = [f.unused() for f in (root, model_fields, system_fields, parallel_fields)]
    return PlanInput(
        model=model,
        system=system,
        workload=workload,
        layout=layout,
        assumptions=assumed_system + assumed,
        ignored=tuple(pointer for pointers in unused for pointer in pointers),
    )


def stop_if_wrong(fields: Fields) -> None:
    """Raise what has been collected, if anything."""
    if fields.errors:
        first: Mapping[str, Any] = {"pointer": fields.errors[0].pointer}
        raise Invalid(fields.errors[0].message, errors=fields.errors, **first)
