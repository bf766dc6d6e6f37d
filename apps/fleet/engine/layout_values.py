"""A layout as plain values and back: what a form, the API or a stored domain holds of it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from enum import StrEnum
from typing import Any, TypeVar

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say
from apps.fleet.engine.graph import Medium
from apps.fleet.engine.layout import NODE_PATTERN, SUB_DOMAIN_PATTERN, Layout, Shape, Tier
from apps.fleet.engine.layouts import build

_MAX_NUMBER = 10**18

_T = TypeVar("_T")
_Option = TypeVar("_Option", bound=StrEnum)


def as_values(layout: Layout) -> dict[str, Any]:
    """The layout as what JSON can hold; `from_values` gives the same layout again."""
    return {
        "key": layout.key,
        "title": layout.title,
        "nodes": layout.nodes,
        "accelerators_per_node": layout.accelerators_per_node,
        "shape": layout.shape.value,
        "tiers": [
            {
                "name": tier.name,
                "switches": tier.switches,
                "links_to_each": tier.links_to_each,
                "link_bytes_per_s": tier.link_bytes_per_s,
                "medium": tier.medium.value,
            }
            for tier in layout.tiers
        ],
        "sub_domain_sizes": list(layout.sub_domain_sizes),
        "lower_group": layout.lower_group,
        "planes": layout.planes,
        "sides": list(layout.sides),
        "node_pattern": layout.node_pattern,
        "sub_domain_pattern": layout.sub_domain_pattern,
    }


def from_values(values: Mapping[str, Any]) -> Layout:
    """The layout that plain values describe, checked by `layouts.build`.

    Only nodes, accelerators_per_node, shape and tiers are needed. Raises Invalid with every field that is
    missing, unknown, of the wrong type, or wrong.
    """
    reader = _Reader(values, "")
    layout = Layout(
        key=reader.text("key", "free"),
        title=reader.text("title", "Free layout"),
        nodes=reader.count("nodes"),
        accelerators_per_node=reader.count("accelerators_per_node"),
        shape=reader.option("shape", Shape, Shape.SINGLE_LAYER),
        tiers=tuple(_tier(one, reader, place) for place, one in enumerate(reader.items("tiers"))),
        sub_domain_sizes=reader.counts("sub_domain_sizes"),
        lower_group=reader.count("lower_group", 0),
        planes=reader.flag("planes"),
        sides=reader.counts("sides"),
        node_pattern=reader.text("node_pattern", NODE_PATTERN),
        sub_domain_pattern=reader.text("sub_domain_pattern", SUB_DOMAIN_PATTERN),
    )
    reader.finish()
    return build(layout)


def _tier(values: Any, outer: _Reader, place: int) -> Tier:
    at = f"/tiers/{place}"
    if not isinstance(values, Mapping):
        outer.wrong(at, say("must be an object"))
        values = {}
    reader = _Reader(values, at, outer.errors)
    tier = Tier(
        name=reader.text("name", f"tier {place + 1}"),
        switches=reader.count("switches", 0),
        links_to_each=reader.count("links_to_each", 1),
        link_bytes_per_s=reader.number("link_bytes_per_s"),
        medium=reader.option("medium", Medium, Medium.COPPER),
    )
    reader.unknown()
    return tier


def as_json(values: object) -> str:
    """A layout as one line of JSON in a fixed order, from its values or from such a line; "{}" for none.

    Raises Invalid as `from_values` does, and where it is no JSON.
    """
    try:
        found = json.loads(values or "{}") if isinstance(values, str) else values or {}
    except (ValueError, RecursionError) as fault:
        raise Invalid(say("a layout is an object of JSON"), code="layout") from fault
    if not isinstance(found, Mapping):
        raise Invalid(say("a layout is an object of JSON"), code="layout")
    return json.dumps(as_values(from_values(found)) if found else {}, sort_keys=True, ensure_ascii=False)


class _Reader:
    """Reads fields of one mapping, noting what is wrong; a wrong field gives a value that can stand for it."""

    def __init__(self, values: Mapping[str, Any], at: str, errors: list[FieldError] | None = None) -> None:
        self.values, self.at = values, at
        self.errors: list[FieldError] = [] if errors is None else errors
        self._read: set[str] = set()

    def wrong(self, pointer: str, message: str, code: str = "invalid") -> None:
        self.errors.append(FieldError(pointer=pointer, message=message, code=code))

    def text(self, name: str, default: str) -> str:
        return self._typed(name, default, lambda value: isinstance(value, str), "a text", "")

    def count(self, name: str, default: int | None = None) -> int:
        return self._typed(name, default, _is_count, say("a whole number of 0 or more"), 1)

    def number(self, name: str) -> float:
        return float(self._typed(name, None, _is_number, "a number", 1.0))

    def flag(self, name: str) -> bool:
        return self._typed(name, False, lambda value: isinstance(value, bool), say("true or false"), False)

    def items(self, name: str) -> list[Any]:
        return self._typed(name, None, lambda value: isinstance(value, list), "a list", [])

    def counts(self, name: str) -> tuple[int, ...]:
        found: list[int] = self._typed(name, [], _is_counts, say("a list of whole numbers"), [])
        return tuple(found)

    def option(self, name: str, options: type[_Option], default: _Option) -> _Option:
        known = [one.value for one in options]
        what = say("one of %(known)s", known=", ".join(known))
        return options(self._typed(name, default.value, lambda value: value in known, what, default.value))

    def unknown(self) -> None:
        for name in self.values.keys() - self._read:
            self.wrong(f"{self.at}/{name}", say("there is no such field"), "unknown_field")

    def finish(self) -> None:
        """Raises Invalid where something was wrong."""
        self.unknown()
        if self.errors:
            raise Invalid(say("the layout cannot be read"), code="layout", errors=self.errors)

    def _typed(
        self, name: str, default: _T | None, fits: Callable[[Any], bool], what: str, stand_in: _T
    ) -> _T:
        self._read.add(name)
        if name not in self.values:
            if default is not None:
                return default
            self.wrong(f"{self.at}/{name}", say("is needed: %(what)s", what=what), "required")
            return stand_in
        value: _T = self.values[name]
        if fits(value):
            return value
        self.wrong(f"{self.at}/{name}", say("must be %(what)s", what=what))
        return stand_in


def _is_count(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool) and 0 <= value <= _MAX_NUMBER


def _is_counts(value: Any) -> bool:
    return isinstance(value, list) and all(_is_count(one) for one in value)


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) <= _MAX_NUMBER
