"""Recognition: which parser reads a piece of evidence, told by its content and never by its name."""

from __future__ import annotations

import importlib
import pkgutil
from functools import cache
from types import ModuleType
from typing import Protocol

from apps.core.texts import say
from apps.evidence.engine import parsers
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source


class Parser(Protocol):
    """A module of the family apps/evidence/engine/parsers: one format, one file.

    KIND names the format; VERSION counts up when the same bytes read differently.
    """

    KIND: str
    VERSION: int

    def recognise(self, sample: str) -> int:
        """How sure the parser is that the clean sample is its format: 0 (not at all) to 100 (its title)."""

    def read(self, source: Source) -> Reading:
        """Read it. Raises Unreadable with a one-line reason."""


@cache
def all_parsers() -> dict[str, ModuleType]:
    """Kind to parser module, for every file of the family."""
    found: dict[str, ModuleType] = {}
    for info in pkgutil.iter_modules(parsers.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{parsers.__name__}.{info.name}")
        found[module.KIND] = module
    return dict(sorted(found.items()))


def recognise(source: Source) -> str:
    """The kind whose parser is surest. Raises Unreadable where none is."""
    scores = {kind: parser.recognise(source.sample) for kind, parser in all_parsers().items()}
    best = max(scores, key=lambda kind: (scores[kind], kind), default="")
    if not best or scores[best] <= 0:
        raise Unreadable(say("this is not the output of a tool that the portal knows"), code="unrecognised")
    return best


def read(source: Source, *, kind: str = "") -> Reading:
    """Read evidence, as `kind` or as what it is recognised to be. Raises Unreadable."""
    kind = kind or recognise(source)
    parser = all_parsers().get(kind)
    if parser is None:
        raise Unreadable(
            say(
                "unknown kind %(kind)s; known: %(all_parsers)s",
                kind=f"{kind!r}",
                all_parsers=", ".join(all_parsers()),
            ),
            code="unknown_kind",
        )
    reading: Reading = parser.read(source)
    return reading
