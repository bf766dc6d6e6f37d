"""Foreign keys point down and are hidden from below."""

from __future__ import annotations

from django.apps import apps
from django.db import models

from tests.architecture.test_floors import FLOOR


def references():
    """(model, field, target model) of every foreign key between tables of ours."""
    for model in apps.get_models():
        if not model.__module__.startswith("apps."):
            continue
        for field in model._meta.get_fields():
            forward = isinstance(field, models.ForeignKey | models.ManyToManyField)
            if forward and field.related_model.__module__.startswith("apps."):
                yield model, field, field.related_model


def app_of(model) -> str:
    return model.__module__.split(".")[1]


def test_foreign_keys_point_down_or_stay():
    wrong = [
        f"{model.__name__}.{field.name}"
        for model, field, target in references()
        if app_of(model) != app_of(target) and FLOOR[app_of(model)] <= FLOOR[app_of(target)]
    ]
    assert wrong == []


def test_tables_below_know_nothing_of_those_above():
    wrong = [
        f"{model.__name__}.{field.name}: related_name should be '+'"
        for model, field, target in references()
        if app_of(model) != app_of(target) and not field.remote_field.hidden
    ]
    assert wrong == []


def test_every_table_says_what_a_row_means():
    wrong = [
        model.__name__
        for model in apps.get_models()
        if model.__module__.startswith("apps.")
        and (not model.__doc__ or model.__doc__.startswith(f"{model.__name__}("))
    ]
    assert wrong == []
