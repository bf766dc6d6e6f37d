"""Filters that refuse names they do not know, so that a typing error never shows everything."""

from __future__ import annotations

from datetime import UTC, datetime
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.core.validators import MaxValueValidator, MinValueValidator
from django.http import QueryDict
from django.utils.translation import gettext_lazy as _
from django_filters import BooleanFilter, CharFilter, FilterSet, IsoDateTimeFilter, NumberFilter
from django_filters.fields import IsoDateTimeField

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say

OF_PAGES = frozenset({"page", "per_page", "sort"})


def refuse_unknown(
    filterset: type[FilterSet] | None,
    given: QueryDict,
    *,
    also: frozenset[str] = frozenset(),
    turning: frozenset[str] = OF_PAGES,
) -> None:
    """Raises Invalid that names each unknown filter and lists the known ones, `also` among them.

    turning: names that are no filters but turn and order pages.
    """
    known = (set(filterset.get_filters()) if filterset else set()) | also
    unknown = sorted(set(given) - known - turning)
    if unknown:
        hint = ", ".join(sorted(known)) or say("none")
        raise Invalid(
            say("unknown filter: %(unknown)s; known: %(hint)s", unknown=", ".join(unknown), hint=hint),
            code="unknown_filter",
            errors=[
                FieldError(
                    pointer=f"?{name}", code="unknown_filter", message=say("known: %(hint)s", hint=hint)
                )
                for name in unknown
            ],
        )


class MomentField(IsoDateTimeField):
    """A time with its offset, given on in UTC: PostgreSQL refuses offsets of more than sixteen hours."""

    def to_python(self, value: Any) -> datetime | None:
        moment: datetime | None = super().to_python(value)
        try:
            return moment and moment.astimezone(UTC)
        except OverflowError as error:  # the first and the last day that there is
            raise ValidationError(self.error_messages["invalid"], code="invalid") from error


class MomentFilter(IsoDateTimeFilter):
    """Before or after a time."""

    field_class = MomentField


class WholeNumberFilter(NumberFilter):
    """A whole number that a column can hold: the databases refuse one of more than 64 bits."""

    field_class = forms.IntegerField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, validators=[MinValueValidator(-(2**63))], **kwargs)

    def get_max_validator(self) -> MaxValueValidator:
        return MaxValueValidator(2**63 - 1)


class YesNoField(forms.NullBooleanField):
    """true, false, or nothing; anything else is refused, where Django's own takes it for nothing."""

    def to_python(self, value: Any) -> bool | None:
        found: bool | None = super().to_python(value)
        if found is None and value not in self.empty_values:
            raise ValidationError(_("Say true or false."), code="invalid")
        return found


class YesNoFilter(BooleanFilter):
    """Yes, no, or both."""

    field_class = YesNoField

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        choices = [("", _("any")), ("true", _("yes")), ("false", _("no"))]
        super().__init__(*args, widget=forms.Select(choices=choices), **kwargs)


def yes_or_no(given: QueryDict, name: str) -> bool:
    """A parameter of an address that is said once, true or false; false where it is left out. Raises Invalid."""
    values = given.getlist(name)
    if not values:
        return False
    try:
        found = YesNoField().clean(values[0]) if len(values) == 1 else None
    except ValidationError:
        found = None
    if found is None:
        message = say("%(name)s: say true or false", name=name)
        raise Invalid(message, code=name, errors=[FieldError(pointer=f"?{name}", code=name, message=message)])
    return found


def of_cluster(path: str = "cluster") -> CharFilter:
    """?cluster= with the slug of a cluster. path: from the listed rows to it."""
    return CharFilter(field_name=f"{path}__slug", label=_("Cluster"), widget=cluster_input())


def of_node(path: str = "node__name", *, distinct: bool = False) -> CharFilter:
    """?node= with the name of a node, in any case. path: from the listed rows to it."""
    return CharFilter(field_name=path, lookup_expr="iexact", label=_("Node"), distinct=distinct)


def cluster_input() -> forms.TextInput:
    """Where the slug of a cluster is typed; the page shell lists those that there are."""
    return forms.TextInput(attrs={"list": "cluster-slugs"})
