"""Options: the dated list of names that each tool knows, and the check of a snippet against it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from types import MappingProxyType

import yaml

from apps.core.errors import Invalid

DATA = Path(__file__).resolve().parent.parent.parent / "data" / "tool_options.yaml"


@dataclass(frozen=True, slots=True, kw_only=True)
class Tool:
    """One tool: its title, when and against what its list was checked, and the names it knows."""

    title: str
    checked: str
    options: frozenset[str]


@cache
def known_tools() -> Mapping[str, Tool]:
    """Tools by id."""
    document = yaml.safe_load(DATA.read_text(encoding="utf-8"))
    return MappingProxyType(
        {
            key: Tool(title=row["title"], checked=row["checked"], options=frozenset(row["options"]))
            for key, row in document.items()
            if key != "meta"
        }
    )


def unknown_options(tool: str, names: Iterable[str]) -> tuple[str, ...]:
    """Names that the tool's list does not hold, in order."""
    known = known_tools()[tool].options
    return tuple(name for name in names if name not in known)


def require_known(tool: str, names: Iterable[str]) -> None:
    """Raise Invalid where a name is not in the tool's list."""
    unknown = unknown_options(tool, names)
    if unknown:
        raise Invalid(f"{tool} does not know {', '.join(unknown)}", unknown=unknown)


@dataclass(frozen=True, slots=True, kw_only=True)
class Option:
    """One command-line option and its value; None for a switch."""

    name: str
    value: str | None = None

    @property
    def text(self) -> str:
        """As it is typed."""
        return self.name if self.value is None else f"{self.name} {self.value}"


def command_line(start: str, tool: str, options: Iterable[Option], end: str = "") -> str:
    """A command with one option a line, its names checked."""
    chosen = tuple(options)
    require_known(tool, [option.name for option in chosen])
    lines = [start, *(f"  {option.text}" for option in chosen)]
    return " \\\n".join([*lines, f"  {end}"] if end else lines)
