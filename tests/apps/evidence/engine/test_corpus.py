"""Every file of the corpus is recognised by its content and read as tests/corpus/expected.yaml says."""

from __future__ import annotations

import json
from functools import cache
from pathlib import Path
from typing import Any

import pytest
import yaml

from apps.evidence.engine import registry
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[3] / "corpus"
EXPECTED: dict[str, dict[str, Any]] = yaml.safe_load((CORPUS / "expected.yaml").read_text())["files"]


@cache
def neutral(name: str) -> Source:
    """The file under a name that tells nothing."""
    return Source.of_bytes((CORPUS / name).read_bytes(), name="evidence")


@pytest.mark.parametrize("name", EXPECTED)
def test_the_kind_is_told_by_the_content(name: str) -> None:
    assert EXPECTED[name]["kind"] in registry.all_parsers(), "no parser for this kind"
    assert registry.recognise(neutral(name)) == EXPECTED[name]["kind"]


@pytest.mark.parametrize("name", EXPECTED)
def test_the_facts_are_those_expected_key_by_key(name: str) -> None:
    reading = registry.read(neutral(name))
    facts = json.loads(json.dumps(reading.facts, allow_nan=False))
    expected = EXPECTED[name]["facts"]
    differing = {
        key: {"expected": value, "read": facts.get(key, "(key missing)")}
        for key, value in expected.items()
        if key not in facts or facts[key] != value
    }
    assert reading.kind == EXPECTED[name]["kind"]
    assert differing == {}


def test_every_file_of_the_corpus_is_expected() -> None:
    files = {path.relative_to(CORPUS).as_posix() for path in CORPUS.glob("*/*")}
    assert files == set(EXPECTED)
