"""Texts read as the registry reads them, and what is warned of."""

from __future__ import annotations

from apps.evidence.engine import registry
from apps.evidence.engine.reading import Reading
from apps.evidence.engine.source import Source


def read(text: str, kind: str = "") -> Reading:
    """kind: as it is recognised unless given."""
    return registry.read(Source.of_text(text), kind=kind)


def codes(reading: Reading) -> list[str]:
    """Codes of the warnings, in their order."""
    return [warning.code for warning in reading.warnings]
