"""Elements of an NCCL topology with what is above them, and what a PCI device is."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from xml.etree.ElementTree import Element

from apps.core.texts import say
from apps.evidence.engine.reading import Unreadable

_DEEPEST = 40
_GPU_CLASSES, _NIC_CLASSES = ("0x03", "0x12"), ("0x02",)


@dataclass(slots=True, eq=False)
class Place:
    """An element. parent: the element around it, None for those directly in the system element."""

    element: Element
    parent: Place | None = None
    children: list[Place] = field(default_factory=list)

    @property
    def tag(self) -> str:
        return self.element.tag

    def get(self, name: str) -> str | None:
        """An attribute; None where it is missing or empty."""
        return (self.element.get(name) or "").strip() or None

    def number(self, name: str) -> int | None:
        """A whole number; None where the attribute is missing or something else."""
        text = self.get(name) or ""
        digits = text.removeprefix("-")
        return int(text) if digits.isascii() and digits.isdigit() and len(digits) < 16 else None

    def above(self, tag: str, name: str) -> str | None:
        """The attribute of the nearest element of that tag around this one."""
        place = self.parent
        while place is not None and place.tag != tag:
            place = place.parent
        return place.get(name) if place is not None else None

    def holds(self, *tags: str) -> bool:
        """Whether an element of one of the tags stands below without a PCI device between."""
        return any(
            child.tag in tags or (child.tag != "pci" and child.holds(*tags)) for child in self.children
        )


def walk(root: Element) -> list[Place]:
    """All elements below the root in the order of the file. Raises Unreadable where they nest too deeply."""
    return list(_below(root, None, 1))


def _below(element: Element, parent: Place | None, depth: int) -> Iterator[Place]:
    if depth > _DEEPEST:
        raise Unreadable(
            say("NCCL topology: elements nest deeper than %(deepest)s levels", deepest=_DEEPEST),
            code="too_deep",
        )
    for child in element:
        place = Place(child, parent)
        if parent is not None:
            parent.children.append(place)
        yield place
        yield from _below(child, place, depth + 1)


def is_gpu(pci: Place) -> bool:
    """By its class; where none is stated, by the gpu element in it."""
    stated = pci.get("class")
    return stated.casefold().startswith(_GPU_CLASSES) if stated else pci.holds("gpu")


def is_nic(pci: Place) -> bool:
    """Likewise."""
    stated = pci.get("class")
    return stated.casefold().startswith(_NIC_CLASSES) if stated else pci.holds("nic", "net")


def unclassified(pci: Place) -> bool:
    """Whether nothing says what the device is: no class, and no element in it that would tell."""
    return pci.get("class") is None and not pci.children
