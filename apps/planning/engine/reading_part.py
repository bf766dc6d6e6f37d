"""Reading the accelerator of a plan: the shipped part, with the plan's own figures of it laid over."""

from __future__ import annotations

from apps.catalogue.engine.accelerators import Accelerator, accelerator, parse_accelerator
from apps.catalogue.engine.overlays import Confidence, Edit, Kind, checked_value, rows
from apps.core.errors import Invalid, Missing
from apps.core.texts import say
from apps.planning.engine.estimate import Assumption
from apps.planning.engine.json_fields import Fields


def read_part(fields: Fields) -> tuple[Accelerator | None, tuple[Assumption, ...]]:
    """The part that `accelerator` names, and its figures that are not the shipped ones.

    `figures` holds an object by path in the catalogue (memory_gb, dense_tflops.bf16): value, source, confidence.
    With figures the id may be one that is not shipped. None, with errors noted, where the part is not known.
    """
    part_id, wrong_before = fields.text("accelerator"), len(fields.errors)
    own = fields.child("figures", required=False)
    edits = [edit for path in own.data if (edit := _edit(own.child(path), part_id, path)) is not None]
    if len(fields.errors) > wrong_before:
        return None, ()
    if not edits:
        try:
            return accelerator(part_id), ()
        except Missing as missing:
            fields.wrong("accelerator", missing.message, "unknown")
            return None, ()
    return parse_accelerator(rows(Kind.ACCELERATOR, edits)[part_id]), tuple(map(_assumption, edits))


def _edit(fields: Fields, part_id: str, path: str) -> Edit | None:
    """One figure; None, with an error noted, where the catalogue has no such field or it cannot hold the value."""
    source = fields.text("source", default=say("the plan"))
    confidence = fields.choice("confidence", list(Confidence), default=Confidence.REPORTED.value)
    try:
        value = checked_value(Kind.ACCELERATOR, path, fields.data.get("value"))
    except Invalid as refused:
        fields.wrong("" if refused.code == "unknown_field" else "value", refused.message, refused.code)
        return None
    return Edit(entry=part_id, path=path, value=value, source=source, confidence=confidence)


def _assumption(edit: Edit) -> Assumption:
    return Assumption(
        name=edit.path,
        value=edit.value if edit.value is not None else "unknown",
        source=say("%(source)s (%(confidence)s)", source=edit.source, confidence=edit.confidence),
    )
