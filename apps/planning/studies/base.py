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
Progress = Callable[[int, int], None]


@dataclass(frozen=True, slots=True, kw_only=True)
class Study:
    """One question. `compute` takes and gives JSON values; `show` turns them into blocks of a page.

    work: the same as `compute` with progress (done, total), where it takes longer than a page should wait; a
    worker does it then. It may raise to stop.
    """

    key: str
    title: str | Promise
    question: str | Promise
    icon: str
    form: type[StudyForm]
    compute: Callable[[Values], Result]
    show: Callable[[Values, Result], Sequence[Block]]
    work: Callable[[Values, Progress], Result] | None = None

    @property
    def is_long(self) -> bool:
        """Whether a worker answers."""
        return self.work is not None


def silent(_done: int, _total: int) -> None:
    """Progress that nobody follows."""
