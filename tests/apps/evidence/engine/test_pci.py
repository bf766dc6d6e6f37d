"""PCI addresses of different tools come out equal."""

from __future__ import annotations

import pytest

from apps.evidence.engine.pci import pci_address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("00000000:9B:00.0", "0000:9b:00.0"),
        ("PCI:0000:9b:00", "0000:9b:00.0"),
        ("0000:9b:00.1", "0000:9b:00.1"),
        ("9b:00", "0000:9b:00.0"),
        ("00000009:01:00.0", "0009:01:00.0"),
        ("00018421:00:1f.0", "18421:00:1f.0"),
        ("0000:9b:20.0", None),
        ("0000:9b:00.8", None),
        ("GPU 0", None),
        ("", None),
    ],
)
def test_every_spelling_becomes_one(text: str, address: str | None) -> None:
    assert pci_address(text) == address
