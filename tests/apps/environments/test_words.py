"""Words of environments: every code that an engine gives, and every text of its data files, has one."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

import apps.environments
from apps.catalogue.engine.components import RuleKind, components
from apps.core import safe_yaml
from apps.core.status import STATES
from apps.core.verdicts import Verdict
from apps.environments import words
from apps.environments.engine.compat import Clause, Relation, RuleReason, built_in_rules, check_versions
from apps.environments.engine.draft import NoteKind
from apps.environments.engine.drift import FindingKind
from apps.environments.engine.facts import Standing
from apps.environments.engine.rules import Outcome, Reason
from scripts import collect_messages

_DATA = Path(apps.environments.__file__).parent / "data"


@pytest.mark.parametrize(
    ("codes", "named"),
    [
        (RuleKind, words.RULES),
        (Reason, words.REASONS),
        (FindingKind, words.FINDING_KINDS),
        (NoteKind, words.DRAFT_NOTES),
        (RuleReason, words.RULE_REASONS),
        (Standing, words.STANDINGS),
    ],
)
def test_every_code_has_a_word(codes: Any, named: Any) -> None:
    assert {code.value for code in codes} <= set(named)


def test_every_reason_to_act_has_a_remedy() -> None:
    fallback = words.remedies_of("drift", "no such reason")
    harmless = {Reason.AS_ASKED}

    without = [
        code for code in Reason if code not in harmless and words.remedies_of("drift", code) == fallback
    ]

    assert without == []


def test_every_area_of_the_catalogue_has_a_word() -> None:
    assert {one.area for one in components().values()} <= set(words.AREAS)


def test_labels_of_the_catalogue_are_those_that_are_translated() -> None:
    for name, one in components().items():
        assert str(words.label_of(name)) == one.label


def test_every_text_of_the_data_files_is_listed_for_translation() -> None:
    rules = [text for rule in built_in_rules() for text in (rule.title, rule.why, rule.remedy) if text]
    jobs = list(_texts(safe_yaml.load((_DATA / "job_env.yaml").read_text(encoding="utf-8"))))

    assert set(rules + jobs) <= set(collect_messages.texts_of_data())


def test_each_outcome_has_a_look() -> None:
    assert {outcome.value for outcome in Outcome} <= set(STATES)


def _texts(held: Any) -> Iterator[str]:
    if isinstance(held, dict):
        for key, value in held.items():
            if key in ("why", "instead") and isinstance(value, str):
                yield value
            else:
                yield from _texts(value)
    elif isinstance(held, list):
        for value in held:
            yield from _texts(value)


def test_a_long_list_shows_first_what_the_found_version_belongs_to() -> None:
    branches = ("410", "418", "440", "450", "455", "460", "570")
    result = SimpleNamespace(
        rule="ended",
        definition=SimpleNamespace(title="t", why="w", remedy="r", source="s"),
        verdict=Verdict.WARN,
        reason=RuleReason.BROKEN,
        clause=Clause(
            component="gpu_driver",
            relation=Relation.OTHER_BRANCH,
            table="ended_driver_branches",
            by="gpu_driver",
        ),
        found=("570.124.06",),
        expected=branches,
    )
    row = words.rule_rows([result])[0]
    assert row["expected"] == "none of the branches 570, 410, 418, 440, 450, 455 …"
    assert row["expected_all"] == ", ".join(branches)
    result.expected = branches[:6]
    row = words.rule_rows([result])[0]
    assert (row["expected"], row["expected_all"]) == (f"none of the branches {', '.join(branches[:6])}", "")


@pytest.mark.parametrize(
    ("versions", "rule", "wanted"),
    [
        ({"torch": "2.4.0+cpu", "gpu_driver": "580.1"}, "no-cpu-build-beside-a-gpu", "not: +cpu"),
        ({"rocm": "6.2.0", "gpu_driver": "580.1"}, "no-other-stack-beside-nvidia", "none at all"),
        ({"gpu_model": "V100", "gpu_driver": "595.1"}, "volta-stays-below-driver-590", "older than 590"),
        ({"cuda_of_torch": "13.0", "gpu_driver": "570.1"}, "driver-runs-cuda-of-torch", "at least 580.65.06"),
        ({"fabric_manager": "570.1", "gpu_driver": "580.1"}, "fabric-manager-equals-driver", "580.1"),
        ({"fabric_manager": "570.1"}, "fabric-manager-equals-driver", ""),
    ],
)
def test_what_a_rule_forbids_does_not_read_as_what_it_wants(
    versions: dict[str, str], rule: str, wanted: str
) -> None:
    rows = words.rule_rows(check_versions({name: [value] for name, value in versions.items()}))

    assert {row["id"]: row["expected"] for row in rows}[rule] == wanted
