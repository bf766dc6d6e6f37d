"""Names and pages beside the ids of the trail. Apps on floors above introduce themselves at start."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Protocol


class Directory(Protocol):
    """Who knows the names of people and of scopes. person_model: the label of the model of people."""

    person_model: str

    def people(self, ids: Iterable[int]) -> Mapping[int, str]: ...

    def scopes(self, ids: Iterable[int]) -> Mapping[int, str]: ...

    def find_people(self, text: str) -> frozenset[int]: ...

    def find_scope(self, slug: str) -> int | None: ...


class _Nobody:
    """Knows no names: ids stay ids."""

    person_model = ""

    def people(self, ids: Iterable[int]) -> Mapping[int, str]:
        return {}

    def scopes(self, ids: Iterable[int]) -> Mapping[int, str]:
        return {}

    def find_people(self, text: str) -> frozenset[int]:
        return frozenset()

    def find_scope(self, slug: str) -> int | None:
        return None


PageFinder = Callable[[Collection[str]], Mapping[str, str]]  # ids of objects to the addresses of their pages
_finders: dict[str, PageFinder] = {}
_in_use: list[Directory] = [_Nobody()]


def use(directory: Directory) -> None:
    """Names come from here from now on."""
    _in_use[0] = directory


def known() -> Directory:
    """The directory in use."""
    return _in_use[0]


def find_pages(kind: str, finder: PageFinder) -> None:
    """Addresses of the pages of a type of object, such as "fleet.node", come from this finder from now on."""
    _finders[kind] = finder


def page_finder(kind: str) -> PageFinder | None:
    """Who knows the pages of a type of object."""
    return _finders.get(kind)
