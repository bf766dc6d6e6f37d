"""Results of a DCGM diagnostic, one per test and entity, and the facts that text and JSON share."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

_GPU = re.compile(r"\bGPUs?:? ?(\d{1,4}(?:, ?\d{1,4})*)")


@dataclass(slots=True, kw_only=True)
class Result:
    """One status of one test. entities: GPU numbers (or others, such as CPU0); empty: the test as a whole."""

    category: str | None
    test: str
    status: str
    entities: list[str] = field(default_factory=list)
    messages: list[str] = field(default_factory=list)
    line: int | None = None

    def facts(self) -> dict[str, Any]:
        return {
            "category": self.category,
            "test": self.test,
            "status": self.status,
            "entities": self.entities,
            "messages": self.messages,
            "line": self.line,
        }


def gpu_numbers(text: str) -> list[str]:
    """The numbers in `GPU: 0`, `GPUs: 1, 3`, `GPU 3`; empty for All and for anything else."""
    found = _GPU.search(text)
    return re.findall(r"\d+", found.group(1)) if found else []


def result_counts(results: Sequence[Result]) -> dict[str, int]:
    return dict(Counter(result.status.lower() for result in results))


def not_passed(results: Sequence[Result]) -> dict[str, list[str]]:
    """All statuses, as printed, of each test that has one other than pass. Skip is not pass."""
    by_test: dict[str, list[str]] = {}
    for result in results:
        by_test.setdefault(result.test, []).append(result.status)
    return {
        test: statuses for test, statuses in by_test.items() if any(s.lower() != "pass" for s in statuses)
    }
