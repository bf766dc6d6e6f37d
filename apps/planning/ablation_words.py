"""What each layout to run for real tells, in words for people; the engine gives the English."""

from __future__ import annotations

from django.utils.functional import Promise
from django.utils.translation import gettext_lazy as _l

QUESTIONS: dict[str, str | Promise] = {
    "one replica, tensor groups of one host": _l("one replica, tensor groups of one host"),
    "wider tensor groups: what leaving a host costs, or the domain saves": _l(
        "wider tensor groups: what leaving a host costs, or the domain saves"
    ),
    "two replicas: gradient traffic against a shorter pipeline": _l(
        "two replicas: gradient traffic against a shorter pipeline"
    ),
    "narrower tensor groups: larger products against more layers a card": _l(
        "narrower tensor groups: larger products against more layers a card"
    ),
}
