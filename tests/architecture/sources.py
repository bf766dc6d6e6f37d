"""The product's own Python files as syntax trees."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from pathlib import Path

APPS = Path(__file__).resolve().parents[2] / "apps"


@dataclass(frozen=True)
class Source:
    """One file: path below apps/, the app it belongs to, its room (services, models, engine, …), its tree."""

    path: str
    app: str
    room: str
    tree: ast.Module

    def imports(self) -> Iterator[tuple[int, str]]:
        """(line, dotted module) of each import; `from a.b import c` counts as a.b.c."""
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                yield from ((node.lineno, name.name) for name in node.names)
            elif isinstance(node, ast.ImportFrom) and node.module:
                yield from ((node.lineno, f"{node.module}.{name.name}") for name in node.names)


@cache
def sources() -> tuple[Source, ...]:
    """Every file below apps/."""
    found = []
    for path in sorted(APPS.rglob("*.py")):
        parts = path.relative_to(APPS).parts
        room = parts[1].removesuffix(".py") if len(parts) > 1 else ""
        tree = ast.parse(path.read_text(encoding="utf-8"), filename=str(path))
        found.append(Source("/".join(parts), parts[0], room, tree))
    return tuple(found)
