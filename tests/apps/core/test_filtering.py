"""Filters: times with odd offsets, and numbers beyond every column."""

from __future__ import annotations

import importlib.util
from datetime import UTC, datetime
from types import ModuleType

import pytest
from django.apps import apps
from django.core.exceptions import ValidationError
from django_filters import BooleanFilter, FilterSet, NumberFilter

from apps.accounts.models import Person
from apps.core.filtering import MomentField, WholeNumberFilter, YesNoFilter


def test_a_time_is_given_on_in_utc():
    assert MomentField().clean("2026-11-29T20:00:00+08:00") == datetime(2026, 11, 29, 12, tzinfo=UTC)
    assert MomentField().clean("2026-11-29T20:00:00+21:05").utcoffset().total_seconds() == 0


@pytest.mark.parametrize("text", ["0001-01-01T00:00:00+08:00", "9999-12-31T23:59:59-08:00", "tomorrow"])
def test_a_time_that_cannot_be_is_refused(text):
    with pytest.raises(ValidationError):
        MomentField().clean(text)


@pytest.mark.parametrize("text", ["9" * 19, "-" + "9" * 20, "9" * 5000, "1.5", "NaN", "1e3"])
def test_a_number_that_no_column_holds_is_refused(text):
    with pytest.raises(ValidationError):
        WholeNumberFilter().field.clean(text)


def test_a_number_that_columns_hold_is_taken():
    field = WholeNumberFilter().field
    assert [field.clean(str(number)) for number in (2**63 - 1, -(2**63))] == [2**63 - 1, -(2**63)]


@pytest.mark.parametrize(
    ("loose_kind", "kind_asked"), [(NumberFilter, WholeNumberFilter), (BooleanFilter, YesNoFilter)]
)
def test_every_filter_by_number_or_by_yes_and_no_is_of_that_kind(loose_kind, kind_asked):
    loose = [
        f"{module.__name__}.{name}"
        for module in _modules_of_filters()
        for name, kind in vars(module).items()
        if isinstance(kind, type) and issubclass(kind, FilterSet)
        for one in kind.get_filters().values()
        if isinstance(one, loose_kind) and not isinstance(one, kind_asked)
    ]
    assert loose == []


def _modules_of_filters() -> list[ModuleType]:
    names = (f"{config.name}.filters" for config in apps.get_app_configs() if config.name.startswith("apps."))
    return [importlib.import_module(name) for name in names if importlib.util.find_spec(name)]


class Switched(FilterSet):
    on = YesNoFilter(method="nothing")


@pytest.mark.parametrize(("said", "meant"), [("true", True), ("false", False), ("", None)])
def test_yes_and_no_are_true_and_false(said: str, meant: bool | None) -> None:
    form = Switched({"on": said}, queryset=Person.objects.none()).form
    assert form.is_valid()
    assert form.cleaned_data["on"] is meant


def test_what_is_neither_yes_nor_no_is_refused() -> None:
    assert Switched({"on": "maybe"}, queryset=Person.objects.none()).form.errors
