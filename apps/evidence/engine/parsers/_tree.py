"""A report as a tree of keys and values, whether it was printed indented or as XML."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_NOT_WORD = re.compile(r"[^a-z0-9]+")


def plain_key(text: str) -> str:
    """A key in one spelling: lower case, words joined by underscores. `ECC Mode` and `Ecc Mode` are equal."""
    return _NOT_WORD.sub("_", text.lower()).strip("_")


@dataclass(slots=True)
class Branch:
    """One key. text: its value, None for a heading. line: 1-based, None where it is not known.

    flat: the nesting is lost and every heading stands directly below; the last two keys of a path count.
    """

    key: str
    text: str | None = None
    line: int | None = None
    children: list[Branch] = field(default_factory=list)
    flat: bool = False

    def named(self, key: str) -> list[Branch]:
        """Children of that key."""
        return [child for child in self.children if child.key == key]

    def at(self, path: tuple[str, ...]) -> list[Branch]:
        """Every branch at the path, in order."""
        found = [self]
        for key in path[-2:] if self.flat else path:
            found = [child for branch in found for child in branch.named(key)]
        return found

    def walk(self) -> Iterator[Branch]:
        """All branches below, depth first."""
        stack = list(reversed(self.children))
        while stack:
            branch = stack.pop()
            yield branch
            stack.extend(reversed(branch.children))
