"""One node's versions against one entry of a matrix."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.engine.components import RuleKind, component
from apps.catalogue.engine.versions import Scheme, parse
from apps.core.verdicts import Verdict
from apps.environments.engine.rules import (
    Judgement,
    MatrixEntry,
    Outcome,
    Reason,
    entry_for,
    judge,
    verdict_of,
)

DRIVER = component("gpu_driver")

JUDGED = [
    ("gpu_driver", RuleKind.EXACT, ["570.148.08"], ["570.148.08"], Outcome.MATCH, Reason.AS_ASKED),
    ("gpu_driver", RuleKind.EXACT, ["570.148.08"], ["570.158.01"], Outcome.DRIFT, Reason.OTHER_VERSION),
    ("gpu_driver", RuleKind.SAME_BRANCH, ["570.148.08"], ["570.26"], Outcome.MATCH, Reason.AS_ASKED),
    ("gpu_driver", RuleKind.SAME_BRANCH, ["570.148.08"], ["580.95.05"], Outcome.DRIFT, Reason.OTHER_BRANCH),
    ("gpu_driver", RuleKind.AT_LEAST, ["570.124.06"], ["570.26"], Outcome.DRIFT, Reason.TOO_OLD),
    ("gpu_driver", RuleKind.AT_LEAST, ["570.124.06"], ["580.65.06"], Outcome.MATCH, Reason.AS_ASKED),
    (
        "gpu_driver",
        RuleKind.ONE_OF,
        ["570.148.08", "580.95.05"],
        ["580.95.05"],
        Outcome.MATCH,
        Reason.AS_ASKED,
    ),
    (
        "gpu_driver",
        RuleKind.ONE_OF,
        ["570.148.08", "580.95.05"],
        ["575.1"],
        Outcome.DRIFT,
        Reason.NOT_IN_LIST,
    ),
    ("gpu_driver", RuleKind.EXACT, ["570.148.08"], [], Outcome.MISSING, Reason.NOT_REPORTED),
    ("gpu_driver", RuleKind.EXACT, [], ["570.148.08"], Outcome.NOT_EVALUATED, Reason.NOTHING_ASKED),
    ("gpu_driver", RuleKind.EXACT, [" "], ["570.148.08"], Outcome.NOT_EVALUATED, Reason.NOTHING_ASKED),
    (
        "gpu_driver",
        RuleKind.EXACT,
        ["570.148.08-gke.1"],
        ["570.148.08"],
        Outcome.UNKNOWN_FORM,
        Reason.INTENT_NOT_UNDERSTOOD,
    ),
    (
        "gpu_driver",
        RuleKind.EXACT,
        ["570.148.08"],
        ["570.148.08-gke.1"],
        Outcome.UNKNOWN_FORM,
        Reason.FORM_NOT_UNDERSTOOD,
    ),
    (
        "kernel",
        RuleKind.AT_LEAST,
        ["6.8.0-60-generic"],
        ["6.8.0-1021-nvidia"],
        Outcome.UNKNOWN_FORM,
        Reason.NOT_COMPARABLE,
    ),
    ("nccl", RuleKind.EXACT, ["2.27.3"], ["22703"], Outcome.MATCH, Reason.AS_ASKED),
    ("torch", RuleKind.EXACT, ["2.8.0+cu128"], ["2.8.0+cu126"], Outcome.DRIFT, Reason.OTHER_VERSION),
    ("gpu_vbios", RuleKind.UNIFORM, [], ["96.00.A5.00.01"], Outcome.MATCH, Reason.AS_ASKED),
    (
        "gpu_vbios",
        RuleKind.UNIFORM,
        [],
        ["96.00.A5.00.01", "96.00.A5.00.02"],
        Outcome.DRIFT,
        Reason.UNITS_DIFFER,
    ),
    (
        "gpu_vbios",
        RuleKind.AT_LEAST,
        ["96.00.A5.00.01"],
        ["96.00.A5.00.02"],
        Outcome.UNKNOWN_FORM,
        Reason.NOT_COMPARABLE,
    ),
    (
        "nic_firmware",
        RuleKind.EXACT,
        ["28.43.2026"],
        ["28.43.2026", "22.35.2302"],
        Outcome.DRIFT,
        Reason.OTHER_VERSION,
    ),
]


@pytest.mark.parametrize(("name", "rule", "asked", "reported", "outcome", "reason"), JUDGED)
def test_each_rule_has_its_outcome_and_reason(
    name: str, rule: RuleKind, asked: list[str], reported: list[str], outcome: Outcome, reason: Reason
) -> None:
    entry = entry_for(component(name), *asked, rule=rule)

    assert judge(entry, reported) == Judgement(outcome=outcome, reason=reason)


@pytest.mark.parametrize(
    ("outcome", "verdict"),
    [
        (Outcome.MATCH, Verdict.PASS),
        (Outcome.DRIFT, Verdict.FAIL),
        (Outcome.MISSING, Verdict.FAIL),
        (Outcome.EXTRA, Verdict.WARN),
        (Outcome.UNKNOWN_FORM, Verdict.UNKNOWN),
        (Outcome.STALE, Verdict.UNKNOWN),
        (Outcome.NOT_EVALUATED, Verdict.UNKNOWN),
    ],
)
def test_each_outcome_stands_for_one_verdict(outcome: Outcome, verdict: Verdict) -> None:
    assert verdict_of(outcome) is verdict


def test_an_entry_takes_scheme_and_rule_from_the_catalogue() -> None:
    entry = entry_for(DRIVER, "570.148.08")

    assert (entry.scheme, entry.rule, entry.branch_depth) == (Scheme.DOTTED_NUMERIC, RuleKind.EXACT, 1)


_TEXTS = st.one_of(st.sampled_from(["570.26", "570.148.08", "N/A", "x", "580.95.05-1"]), st.text(max_size=12))


@given(
    st.sampled_from(list(RuleKind)),
    st.sampled_from(list(Scheme)),
    st.lists(_TEXTS, max_size=3),
    st.lists(_TEXTS, max_size=3),
)
def test_only_a_version_of_known_form_can_match(
    rule: RuleKind, scheme: Scheme, asked: list[str], reported: list[str]
) -> None:
    entry = MatrixEntry(component="any", rule=rule, values=tuple(asked), scheme=scheme)

    if judge(entry, reported).outcome is Outcome.MATCH:
        assert reported
        assert all(parse(text, scheme).is_known for text in reported)
