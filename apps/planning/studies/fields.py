"""Fields that studies ask for: numbers with bounds, lists of sizes, models of the catalogue or of a plan."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any, TypeAlias

from django import forms
from django.core.exceptions import ValidationError
from django.forms import BoundField
from django.utils.functional import Promise
from django.utils.translation import gettext as now_
from django.utils.translation import gettext_lazy as _

from apps.catalogue.engine.accelerators import shipped_accelerators
from apps.catalogue.engine.model_catalogue import shipped_models
from apps.catalogue.queries import edited_accelerators
from apps.core.actor import Actor
from apps.core.errors import Invalid
from apps.core.rights import Right
from apps.core.speech import said
from apps.planning.catalogue_choices import accelerator_choices, model_choices
from apps.planning.documents import model_document
from apps.planning.engine.json_fields import Fields
from apps.planning.engine.reading_model import read_model
from apps.planning.models import PlanVersion

Text: TypeAlias = "str | Promise"
MOST_CARDS = 1_000_000


class StudyForm(forms.Form):
    """The input of a study. `start` holds what it starts from; a plan's version fills in what it knows.

    plan: the version whose model may be chosen beside those of the catalogue.
    """

    start: Mapping[str, Any] = {}
    groups: Sequence[tuple[Text, Sequence[str]]] = ()

    def __init__(self, data: Mapping[str, Any], *, actor: Actor, plan: PlanVersion | None = None) -> None:
        super().__init__(data, auto_id="study_%s")
        self.actor, self.plan = actor, plan
        for field in self.fields.values():
            if isinstance(field, ModelField):
                field.offer(plan)
            elif isinstance(field, CardField):
                field.offer(actor)

    @property
    def scope_id(self) -> int | None:
        """Scope of the cluster that the valid input rests on."""
        return self.plan.plan.scope_id if self.plan is not None else None

    def grouped(self) -> list[tuple[Text, list[BoundField]]]:
        """The fields under their headings, as the page shows them."""
        groups = self.groups or (("", tuple(self.fields)),)
        return [(title, [self[name] for name in names]) for title, names in groups]

    def values(self) -> dict[str, Any]:
        """The cleaned input as JSON values."""
        return dict(self.cleaned_data)


class SizesField(forms.Field):
    """Whole numbers, as text with commas or as a list; ascending, each once."""

    def __init__(self, *, least: int = 1, most: int = MOST_CARDS, many: int = 12, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.least, self.most, self.many = least, most, many

    def prepare_value(self, value: Any) -> Any:
        return ", ".join(str(one) for one in value) if isinstance(value, list | tuple) else value

    def to_python(self, value: Any) -> list[int]:
        parts = value if isinstance(value, list | tuple) else str(value or "").replace(",", " ").split()
        try:
            sizes = sorted({_whole(part) for part in parts})
        except (TypeError, ValueError) as error:
            raise ValidationError(now_("Say whole numbers with commas between them.")) from error
        if sizes and not (self.least <= sizes[0] and sizes[-1] <= self.most):
            said = {"least": self.least, "most": self.most}
            raise ValidationError(now_("Each number lies between %(least)s and %(most)s.") % said)
        if len(sizes) > self.many:
            raise ValidationError(now_("At most %(many)s numbers.") % {"many": self.many})
        return sizes


def _whole(part: Any) -> int:
    if isinstance(part, bool) or (isinstance(part, float) and part != int(part)):
        raise ValueError(part)
    return int(part)


class ModelField(forms.Field):
    """A model: an id of the catalogue, the model of the plan that is being looked at (`plan`), or a shape.

    Cleaned it is the shape as an object, as plans hold it.
    """

    OF_PLAN = "plan"
    widget = forms.Select

    def __init__(self, **kwargs: Any) -> None:
        super().__init__(**kwargs)
        self.of_plan: dict[str, Any] | None = None

    def offer(self, plan: PlanVersion | None) -> None:
        """Set the choices: the catalogue, and the plan's own model first."""
        choices: list[Any] = list(model_choices())
        if plan is not None:
            self.of_plan = plan.input["model"]
            name = self.of_plan.get("name") or now_("its model")
            choices.insert(0, (self.OF_PLAN, f"{plan}: {name}"))
        self.widget.choices = choices

    def to_python(self, value: Any) -> dict[str, Any]:
        if isinstance(value, Mapping):
            return _checked_shape(value)
        if value == self.OF_PLAN and self.of_plan is not None:
            return dict(self.of_plan)
        found = shipped_models().get(str(value or ""))
        if found is None:
            raise ValidationError(now_("The catalogue holds no such model."))
        return model_document(found.spec) | {"name": found.name}


def _checked_shape(value: Mapping[str, Any]) -> dict[str, Any]:
    fields = Fields(value, "")
    if read_model(fields) is None:
        raise ValidationError([f"{one.pointer}: {said(one.message)}" for one in fields.errors])
    return dict(value)


class CardField(forms.ChoiceField):
    """An accelerator whose memory and bandwidth the catalogue holds, or of which a team set figures."""

    def offer(self, actor: Actor) -> None:
        """Set the choices: what is shipped, and what teams that the actor may read have figures of."""
        shipped = shipped_accelerators()
        known = [part.id for part in shipped.values() if part.memory_bytes and part.memory_bytes_per_s]
        edited = edited_accelerators(actor.scope_ids(Right.READ))
        self.choices = accelerator_choices({*known, *edited})


class FiniteField(forms.FloatField):
    """A number, with the unit that is shown behind it; infinity and not-a-number are none."""

    unit: Text = ""

    def validate(self, value: Any) -> None:
        super().validate(value)
        if value is not None and not math.isfinite(value):
            raise ValidationError(now_("Say a number."))


def whole(
    label: Text, *, least: int = 1, most: int = MOST_CARDS, required: bool = True, help_text: Text = ""
) -> forms.IntegerField:
    """A whole number within bounds."""
    return forms.IntegerField(
        min_value=least, max_value=most, required=required, label=label, help_text=help_text
    )


def number(
    label: Text,
    *,
    least: float = 0.0,
    most: float = 1e15,
    required: bool = True,
    help_text: Text = "",
    unit: Text = "",
) -> FiniteField:
    """A number within bounds; the unit is shown behind it."""
    made = FiniteField(min_value=least, max_value=most, required=required, label=label, help_text=help_text)
    made.unit = unit
    made.widget.attrs["step"] = "any"
    return made


def percent(label: Text, *, most: float = 100.0, help_text: Text = "", required: bool = True) -> FiniteField:
    """A share as percent."""
    return number(label, most=most, help_text=help_text, unit="%", required=required)


def flag(label: Text) -> forms.BooleanField:
    """Yes or no."""
    return forms.BooleanField(required=False, label=label)


PRECISIONS = [(name, name) for name in ("bf16", "fp16", "fp8", "mxfp8", "nvfp4")]


def precision() -> forms.ChoiceField:
    """Format of the matrix products."""
    return forms.ChoiceField(choices=PRECISIONS, label=_("Precision"))


def refused(error: Invalid) -> dict[str, list[str]]:
    """The texts of a refusal by the field that its pointers end in."""
    texts: dict[str, list[str]] = {}
    for one in error.errors:
        texts.setdefault(one.pointer.rstrip("/").rpartition("/")[2], []).append(said(one.message))
    return texts or {"": [said(error.message)]}
