"""A raw store of the test's own."""

from __future__ import annotations

from pathlib import Path

import pytest


@pytest.fixture(autouse=True)
def evidence_dir(tmp_path: Path, settings) -> Path:
    """Where the test keeps raw bytes."""
    settings.EVIDENCE_DIR = tmp_path / "evidence"
    return settings.EVIDENCE_DIR
