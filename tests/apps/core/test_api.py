"""What a body of the API may say: numbers are numbers, wherever they stand."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from rest_framework import serializers
from rest_framework.exceptions import ValidationError

from apps.core.api import checked
from apps.core.errors import Invalid


class Step(serializers.Serializer[Any]):
    seconds = serializers.FloatField()


class Body(serializers.Serializer[Any]):
    """A number of each kind, at the top and further down."""

    count = serializers.IntegerField(required=False, allow_null=True)
    share = serializers.FloatField(required=False)
    price = serializers.DecimalField(required=False, max_digits=9, decimal_places=2)
    days = serializers.DictField(child=serializers.IntegerField(), required=False)
    sizes = serializers.ListField(child=serializers.FloatField(), required=False)
    steps = Step(many=True, required=False)


PLACES = {
    "/count": lambda value: {"count": value},
    "/share": lambda value: {"share": value},
    "/price": lambda value: {"price": value},
    "/days/dmi": lambda value: {"days": {"dmi": value}},
    "/sizes/1": lambda value: {"sizes": [1.5, value]},
    "/steps/0/seconds": lambda value: {"steps": [{"seconds": value}]},
}
NO_NUMBERS = [True, False, "nan", "inf", "-Infinity", "1e400", "1_000", "１２", float("inf")]


def body(**said: Any) -> Any:
    return SimpleNamespace(data=said)


@pytest.mark.parametrize("value", NO_NUMBERS)
@pytest.mark.parametrize("place", PLACES)
def test_what_is_no_finite_number_in_plain_digits_is_refused_at_its_place(place: str, value: object) -> None:
    with pytest.raises(Invalid) as refused:
        checked(Body, body(**PLACES[place](value)))

    assert [one.pointer for one in refused.value.errors] == [place]


def test_a_whole_number_of_more_than_64_bits_is_refused_as_a_text_too() -> None:
    with pytest.raises(Invalid, match="not valid"):
        checked(Body, body(count="9" * 20))


def test_numbers_and_texts_of_them_are_taken_as_ever() -> None:
    values = checked(
        Body, body(count="12", share="-1.5e3", days={"dmi": 7}, sizes=[1, "2"], steps=[{"seconds": 3}])
    )

    assert (values["count"], values["share"], values["days"]) == (12, -1500.0, {"dmi": 7})
    assert (values["sizes"], values["steps"]) == ([1.0, 2.0], [{"seconds": 3.0}])
    assert checked(Body, body(count=None)) == {"count": None}


def test_what_is_no_number_at_all_is_refused_by_its_field() -> None:
    with pytest.raises((Invalid, ValidationError)):
        checked(Body, body(share=["1"]))
