"""Drift as plain values: what is kept in a check and shown on pages."""

from __future__ import annotations

from dataclasses import asdict
from typing import Any

from apps.environments.engine.drift import Group


def plain_group(group: Group) -> dict[str, Any]:
    """A group with its nodes and cells; a cell is None where the component was left out for these nodes."""
    cells = [asdict(cell) | {"verdict": cell.verdict.value} if cell else None for cell in group.cells]
    return {
        "fingerprint": group.fingerprint,
        "verdict": group.verdict.value,
        "nodes": list(group.nodes),
        "cells": cells,
    }
