"""JSON fields: reading one object of a plan with a pointer for everything that is wrong."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite
from typing import Any, TypeVar

from apps.core.errors import FieldError, Invalid
from apps.core.texts import say

T = TypeVar("T")


@dataclass(slots=True)
class Fields:
    """One object of the input. Problems collect in `errors`, keys that nobody asked for in `unused()`."""

    data: Mapping[str, Any]
    pointer: str
    errors: list[FieldError] = field(default_factory=list)
    seen: set[str] = field(default_factory=set)

    def child(self, key: str, *, required: bool = True) -> Fields:
        """The object under a key; an empty one, with an error, where it is missing or no object."""
        value = self._take(key)
        if isinstance(value, Mapping):
            return Fields(value, f"{self.pointer}/{key}", self.errors)
        if value is not None or required:
            self.wrong(
                key, say("%(key)s must be an object", key=key), "required" if value is None else "type"
            )
        return Fields({}, f"{self.pointer}/{key}", self.errors)

    def has(self, key: str) -> bool:
        """Whether the key is there with a value."""
        return self.data.get(key) is not None

    def whole(self, key: str, *, default: int | None = None, least: int = 1, most: int = 10**9) -> int:
        """A whole number within bounds; `default` where it is missing, an error where there is none."""
        value = self._take(key)
        if value is None:
            return self._missing(key, default, least)
        is_number = isinstance(value, int | float) and not isinstance(value, bool) and isfinite(value)
        if not is_number or value != int(value):
            self.wrong(
                key, say("%(key)s must be a whole number, not %(value)s", key=key, value=f"{value!r}"), "type"
            )
            return default if default is not None else least
        if not least <= value <= most:
            self.wrong(
                key,
                say(
                    "%(key)s must lie between %(least)s and %(most)s, not %(value)s",
                    key=key,
                    least=least,
                    most=most,
                    value=value,
                ),
                "out_of_range",
            )
            return default if default is not None else least
        return int(value)

    def number(
        self, key: str, *, default: float | None = None, above: float = 0.0, least: float | None = None
    ) -> float | None:
        """A finite number above a bound, or at least `least` where that is given; else `default`."""
        value = self._take(key)
        if value is None:
            return default
        if isinstance(value, bool) or not isinstance(value, int | float) or not isfinite(value):
            self.wrong(
                key, say("%(key)s must be a number, not %(value)s", key=key, value=f"{value!r}"), "type"
            )
            return default
        if least is not None and value < least:
            self.wrong(
                key,
                say(
                    "%(key)s must be at least %(least)s, not %(value)s",
                    key=key,
                    least=f"{least:g}",
                    value=value,
                ),
                "out_of_range",
            )
            return default
        if least is None and value <= above:
            self.wrong(
                key,
                say(
                    "%(key)s must be above %(above)s, not %(value)s", key=key, above=f"{above:g}", value=value
                ),
                "out_of_range",
            )
            return default
        return float(value)

    def flag(self, key: str, *, default: bool) -> bool:
        """true or false."""
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, bool):
            self.wrong(
                key, say("%(key)s must be true or false, not %(value)s", key=key, value=f"{value!r}"), "type"
            )
            return default
        return value

    def text(self, key: str, *, default: str = "") -> str:
        """A string."""
        value = self._take(key)
        if value is None:
            return default
        if not isinstance(value, str):
            self.wrong(
                key, say("%(key)s must be a string, not %(value)s", key=key, value=f"{value!r}"), "type"
            )
            return default
        return value

    def choice(self, key: str, choices: Sequence[str], *, default: str | None = None) -> str:
        """One of several words."""
        value = self._take(key)
        if value is None:
            if default is None:
                self.wrong(
                    key,
                    say("%(key)s is required: one of %(choices)s", key=key, choices=", ".join(choices)),
                    "required",
                )
            return default or choices[0]
        if value not in choices:
            self.wrong(
                key,
                say(
                    "%(key)s must be one of %(choices)s, not %(value)s",
                    key=key,
                    choices=", ".join(choices),
                    value=f"{value!r}",
                ),
                "choice",
            )
            return default or choices[0]
        return str(value)

    def words(self, key: str, choices: Sequence[str]) -> tuple[str, ...]:
        """A list of words, all of them where the key is missing."""
        return self._some(key, choices)

    def wholes(self, key: str, choices: Sequence[int]) -> tuple[int, ...]:
        """A list of whole numbers, all of them where the key is missing."""
        return self._some(key, choices)

    def wrong(self, key: str, message: str, code: str = "invalid") -> None:
        """Note a problem with a field of this object."""
        where = f"{self.pointer}/{key}" if key else self.pointer
        self.errors.append(FieldError(pointer=where, message=message, code=code))

    def unused(self) -> tuple[str, ...]:
        """Pointers of the keys that nobody asked for."""
        return tuple(f"{self.pointer}/{key}" for key in self.data if key not in self.seen)

    def _take(self, key: str) -> Any:
        self.seen.add(key)
        return self.data.get(key)

    def _some(self, key: str, choices: Sequence[T]) -> tuple[T, ...]:
        value = self._take(key)
        if value is None:
            return tuple(choices)
        if not isinstance(value, list) or not value or any(v not in choices for v in value):
            shown = ", ".join(str(choice) for choice in choices)
            self.wrong(
                key,
                say(
                    "%(key)s must be a list of some of %(shown)s, not %(value)s",
                    key=key,
                    shown=shown,
                    value=f"{value!r}",
                ),
                "choice",
            )
            return tuple(choices)
        return tuple(value)

    def _missing(self, key: str, default: int | None, least: int) -> int:
        if default is not None:
            return default
        self.wrong(key, say("%(key)s is required", key=key), "required")
        return least


def guarded(fields: Fields, build: Callable[[], T]) -> T | None:
    """Build a value from fields already read; its own refusals get this object's pointer in front."""
    if fields.errors:
        return None
    try:
        return build()
    except Invalid as refused:
        inner = refused.errors or (FieldError(pointer="", message=refused.message, code=refused.code),)
        for error in inner:
            fields.wrong(error.pointer.lstrip("/"), error.message, error.code)
        return None
