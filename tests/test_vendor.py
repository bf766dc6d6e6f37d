"""Vendored browser files are exactly what the manifest says they are."""

from __future__ import annotations

import hashlib
import json
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent
MANIFEST = json.loads((ROOT / "static/vendor/manifest.json").read_text())


@pytest.mark.parametrize("entry", MANIFEST, ids=lambda entry: entry["file"])
def test_a_vendored_file_has_the_digest_of_the_manifest(entry: dict[str, str]) -> None:
    content = (ROOT / entry["file"]).read_bytes()
    assert hashlib.sha256(content).hexdigest() == entry["sha256"]
    assert entry["version"] and entry["licence"]


def test_nothing_lies_in_the_vendor_folders_that_the_manifest_does_not_list() -> None:
    listed = {entry["file"] for entry in MANIFEST}
    present = {
        str(path.relative_to(ROOT))
        for folder in ("static/vendor", "tests/vendor")
        for path in (ROOT / folder).rglob("*")
        if path.is_file() and path.name != "manifest.json"
    }
    assert present <= listed


def test_every_listed_icon_is_in_the_sprite() -> None:
    sprite = (ROOT / "static/icons.svg").read_text()
    names = (ROOT / "static/icons.txt").read_text().split()
    assert [name for name in names if f'id="{name.replace("/", "-")}"' not in sprite] == []
    assert len(names) == len(set(names))
