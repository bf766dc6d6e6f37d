"""Studies: one question each to the planning engine, asked by a form or over REST, answered without any state."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.utils.functional import Promise

from apps.planning.studies.blocks import Block
from apps.planning.studies.fields import StudyForm

Values = Mapping[str, Any]
Result = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One question. `compute` takes and gives JSON values; `show` turns them into blocks of a page.

    is_long: takes longer than a page should wait, so a worker does it.
    """

    key: str
    title: str | Promise
    question: str | Promise
    icon: str
    form: type[StudyForm]
    compute: Callable[[Values], Result]
    show: Callable[[Values, Result], Sequence[Block]]
    is_long: bool = False
