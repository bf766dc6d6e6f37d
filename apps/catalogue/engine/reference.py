"""Reference tables that come with the portal: YAML files in data/, each with sources and confidence."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

import yaml

DATA = Path(__file__).resolve().parent.parent / "data"
_LOADER = getattr(yaml, "CSafeLoader", yaml.SafeLoader)


@cache
def table(name: str) -> dict[str, Any]:
    """The table `name` (file data/NAME.yaml), read once; callers must not change it.

    Raises FileNotFoundError where no such table comes with the portal.
    """
    with (DATA / f"{name}.yaml").open(encoding="utf-8") as stream:
        loaded: dict[str, Any] = yaml.load(stream, Loader=_LOADER)  # noqa: S506  the C form of the safe loader
    return loaded


def listed(text: str | None) -> tuple[str, ...]:
    """The parts of a text that lists them, separated by commas."""
    return tuple(one for part in (text or "").split(",") if (one := part.strip()))
