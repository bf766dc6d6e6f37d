"""What kinds of work are called."""

from __future__ import annotations

from django.utils.module_loading import autodiscover_modules

from apps.jobs.registry import handler_of, recurring
from apps.jobs.words import KINDS


def test_each_kind_of_work_has_a_name_and_each_name_its_work() -> None:
    autodiscover_modules("tasks")
    assert [kind for kind in KINDS if handler_of(kind) is None] == []
    assert recurring().keys() <= KINDS.keys()
