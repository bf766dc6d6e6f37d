"""The floors of docs/architecture.md and of the import contracts are the same."""

from __future__ import annotations

import tomllib

from tests.architecture.sources import APPS

FLOOR = {
    "core": 0,
    "audit": 1,
    "accounts": 2,
    "jobs": 3,
    "evidence": 4,
    "catalogue": 4,
    "fleet": 5,
    "environments": 6,
    "health": 6,
    "benchmarks": 7,
    "planning": 8,
    "changes": 8,
    "launches": 9,
    "portal": 10,
}


def test_every_app_stands_on_a_floor():
    assert {path.name for path in APPS.iterdir() if (path / "__init__.py").exists()} == set(FLOOR)


def test_the_import_contract_has_the_same_floors():
    text = (APPS.parent / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    [layers] = [contract["layers"] for contract in contracts if contract["id"] == "floors"]
    floors = {
        name.strip(): len(layers) - 1 - index
        for index, layer in enumerate(layers)
        for name in layer.split("|")
    }
    assert floors == FLOOR


def test_the_architecture_page_draws_the_same_floors():
    drawn = (APPS.parent / "docs" / "architecture.md").read_text(encoding="utf-8")
    lines = [line for line in drawn.splitlines() if line[:3].strip().isdecimal()]
    floors = {name: int(line[:3]) for line in lines for name in FLOOR if name in line[3:].split()}
    assert floors == FLOOR


def test_engines_are_under_the_contract_of_purity():
    text = (APPS.parent / "pyproject.toml").read_text(encoding="utf-8")
    contracts = tomllib.loads(text)["tool"]["importlinter"]["contracts"]
    [pure] = [contract["source_modules"] for contract in contracts if contract["id"] == "pure"]
    engines = {f"apps.{path.parent.name}.engine" for path in APPS.glob("*/engine") if path.is_dir()}
    assert set(pure) == engines
