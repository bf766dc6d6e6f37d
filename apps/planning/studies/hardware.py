"""Hardware: the fields of a system that several studies share, and the system object that the planner takes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy as _l

from apps.catalogue.engine.accelerators import Accelerator, source_titles
from apps.catalogue.engine.models import ModelSpec
from apps.core.errors import FieldError, Invalid, OutOfRange
from apps.core.speech import said
from apps.core.texts import kept, of_row
from apps.planning.engine.estimate import Assumption
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.reading_model import read_model, read_system
from apps.planning.engine.reading_part import read_part
from apps.planning.engine.system import System, peak_flops
from apps.planning.engine.warnings import domain_warnings
from apps.planning.engine.workload import Precision
from apps.planning.studies import fields as f
from apps.planning.studies.base import Values
from apps.planning.studies.blocks import Assumed, Note
from apps.planning.studies.own_figures import OwnFiguresFields

SIZES = ("accelerator", "accelerators", "domain_size", "sub_domain_size", "convergence_ratio")
SIZES += ("scale_up_gb_s", "scale_out_gb_s")


class HardwareFields(OwnFiguresFields):
    """A part of the catalogue, how many make a domain, and bandwidths where they differ from the catalogue's."""

    domain_size = f.whole(_l("Accelerators in one scale-up domain"), most=100_000)
    scale_up_gb_s = f.number(
        _l("Scale-up, one way"),
        least=1e-3,
        most=1e6,
        required=False,
        unit="GB/s",
        help_text=_l("Per accelerator; empty takes the catalogue's figure."),
    )
    scale_out_gb_s = f.number(
        _l("Scale-out, one way"),
        least=1e-3,
        most=1e6,
        required=False,
        unit="GB/s",
        help_text=_l("Per accelerator; empty takes the usual network."),
    )


HARDWARE_START: dict[str, Any] = {"accelerator": "nvidia-gb200", "domain_size": 72}


def system_document(values: Values, **changed: Any) -> dict[str, Any]:
    """The planner's system object from cleaned values, without what was left empty."""
    both = {**values, **changed}
    own = {name: both[name] for name in ("figures", "measured") if both.get(name)}
    return {name: both[name] for name in SIZES if both.get(name) is not None} | own


def system_from(values: Values, **changed: Any) -> tuple[System, tuple[Assumption, ...]]:
    """The system, and what of it comes from the catalogue. Raises Invalid with pointers to the fields."""
    fields = Fields(system_document(values, **changed), "")
    system, assumed = read_system(fields)
    if system is None or fields.errors:
        raise Invalid(fields.errors[0].message, errors=fields.errors)
    return system, assumed


def model_from(document: Values) -> ModelSpec:
    """The model of a document that the field has checked. Raises Invalid where it was not."""
    fields = Fields(document, "/model")
    spec = read_model(fields)
    if spec is None:
        raise Invalid(fields.errors[0].message, errors=fields.errors)
    return spec


def part_of(values: Values) -> Accelerator:
    """The accelerator of cleaned values, with the figures that they hold. Raises Invalid at the field."""
    fields = Fields({name: values[name] for name in ("accelerator", "figures") if values.get(name)}, "")
    part, _own = read_part(fields)
    if part is None:
        raise Invalid(fields.errors[0].message, errors=fields.errors)
    return part


def peak_of(values: Values) -> float:
    """Dense peak of the accelerator in the chosen format, FLOPs per second. Raises Invalid at the field."""
    try:
        return peak_flops(part_of(values), Precision(values["precision"]))
    except OutOfRange as refused:
        problem = FieldError(pointer="/precision", message=refused.message, code=refused.code)
        raise Invalid(refused.message, errors=[problem]) from refused


def domain_rows(values: Values, **changed: Any) -> list[dict[str, Any]]:
    """What is to be said about the size of the scale-up domain, as JSON values. Raises as `system_from`."""
    system, _assumed = system_from(values, **changed)
    return [
        {"code": one.code, "message": one.message, **kept(one.message)} for one in domain_warnings(system)
    ]


def warning_notes(rows: Sequence[Mapping[str, Any]]) -> Iterator[Note]:
    """Such rows as notes; their text says what the answer is worth then."""
    for row in rows:
        text = _("Its bandwidth is taken to reach all of the domain, which no shipped system shows.")
        yield Note(tone="warn", title=said(of_row(row)), text=text)


def card_assumptions(values: Values, assumed: tuple[Assumption, ...]) -> Iterator[dict[str, Any]]:
    """What was taken from the catalogue, with its confidence there; a team's own figures with theirs."""
    part, rows, own = part_of(values), Assumed(), values.get("figures") or {}
    titles = source_titles()
    cited = "; ".join(titles.get(one, one) for one in part.sources if one in titles)
    rows.add("accelerator", part.name, cited or _("general knowledge"), part.confidence)
    for one in assumed:
        stated = own[one.name]["confidence"] if one.name in own else part.confidence
        confidence = "rule_of_thumb" if one.uncertain else stated
        rows.add(one.name, one.value, one.source, confidence)
    yield from rows.rows
