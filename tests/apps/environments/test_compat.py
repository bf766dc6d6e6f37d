"""Versions of several components against the rules between them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.engine.components import Component, RuleKind, component, components, laid_over
from apps.catalogue.engine.versions import Scheme
from apps.core.errors import Invalid
from apps.core.verdicts import Verdict
from apps.environments.engine.compat import (
    RuleReason,
    RuleResult,
    built_in_rules,
    check_versions,
    read_rules,
    versions_of,
)
from apps.environments.engine.rules import entry_for

CASES = [
    (
        "fabric-manager-equals-driver",
        {"fabric_manager": "570.148.08", "gpu_driver": "570.148.08"},
        Verdict.PASS,
    ),
    (
        "fabric-manager-equals-driver",
        {"fabric_manager": "570.148.08", "gpu_driver": "570.158.01"},
        Verdict.FAIL,
    ),
    ("fabric-manager-equals-driver", {"fabric_manager": "570.148.08"}, Verdict.UNKNOWN),
    (
        "fabric-manager-equals-driver",
        {"fabric_manager": "570.148.08-x", "gpu_driver": "570.148.08"},
        Verdict.UNKNOWN,
    ),
    ("driver-runs-cuda-of-torch", {"cuda_of_torch": "12.8", "gpu_driver": "535.54.03"}, Verdict.PASS),
    ("driver-runs-cuda-of-torch", {"cuda_of_torch": "13.0", "gpu_driver": "570.148.08"}, Verdict.FAIL),
    ("driver-runs-cuda-of-torch", {"cuda_of_torch": "13.0", "gpu_driver": "580.65.06"}, Verdict.PASS),
    ("driver-runs-cuda-of-torch", {"cuda_of_torch": "9.2", "gpu_driver": "396.45"}, Verdict.UNKNOWN),
    ("driver-runs-cuda-runtime", {"cuda_runtime": "V12.4.131", "gpu_driver": "470.57.02"}, Verdict.FAIL),
    ("driver-runs-torch", {"torch": "2.11.0", "gpu_driver": "570.148.08"}, Verdict.FAIL),
    ("driver-runs-torch", {"torch": "2.11.0+cu128", "gpu_driver": "570.148.08"}, Verdict.PASS),
    ("driver-has-all-features-of-cuda", {"cuda_runtime": "12.8", "gpu_driver": "535.54.03"}, Verdict.WARN),
    ("driver-branch-is-supported", {"gpu_driver": "535.54.03"}, Verdict.WARN),
    ("driver-branch-is-supported", {"gpu_driver": "580.95.05"}, Verdict.PASS),
    ("driver-branch-is-supported", {"gpu_driver": "777.10.01"}, Verdict.UNKNOWN),
    ("torch-cuda-tag-agrees", {"torch": "2.8.0+cu128", "cuda_of_torch": "12.6"}, Verdict.FAIL),
    ("torch-cuda-tag-agrees", {"torch": "2.8.0+cu128", "cuda_of_torch": "12.8.93"}, Verdict.PASS),
    ("torch-cuda-build-exists", {"torch": "2.8.0", "cuda_of_torch": "12.1"}, Verdict.WARN),
    ("torch-cuda-build-exists", {"torch": "2.8.0", "cuda_of_torch": "12.9"}, Verdict.PASS),
    ("torch-nccl-pin", {"torch": "2.8.0+cu128", "nccl": "22703"}, Verdict.PASS),
    ("torch-nccl-pin", {"torch": "2.8.0", "nccl": "2.26.2"}, Verdict.WARN),
    ("torch-triton-pin", {"torch": "2.14.0", "triton": "3.8.1"}, Verdict.PASS),
    ("torch-python", {"torch": "2.15.0", "python": "3.10.12"}, Verdict.WARN),
    ("no-cpu-build-beside-a-gpu", {"torch": "2.4.0+cpu", "gpu_driver": "535.104.05"}, Verdict.FAIL),
    ("no-rocm-build-beside-nvidia", {"torch": "2.5.1+rocm6.2", "gpu_driver": "535.104.05"}, Verdict.FAIL),
    ("no-rocm-build-beside-nvidia", {"torch": "2.5.1+cu124", "gpu_driver": "535.104.05"}, Verdict.PASS),
    (
        "no-other-build-beside-nvidia",
        {"torch": "2.4.1+das.opt2.dtk2504", "gpu_driver": "535.104.05"},
        Verdict.FAIL,
    ),
    ("no-other-build-beside-nvidia", {"torch": "2.4.1+das.opt2.dtk2504"}, Verdict.PASS),
    (
        "source-build-names-its-cuda",
        {"torch": "2.7.0a0+git295f2ed", "gpu_driver": "535.104.05"},
        Verdict.UNKNOWN,
    ),
    (
        "source-build-names-its-cuda",
        {"torch": "2.7.0a0+git295f2ed", "gpu_driver": "535.104.05", "cuda_of_torch": "12.4"},
        Verdict.PASS,
    ),
    # A checkout of a release has its number; whether it is the published build is not known.
    ("driver-runs-torch", {"torch": "2.11.0+git7a3b21c", "gpu_driver": "580.95.05"}, Verdict.UNKNOWN),
    ("no-other-stack-beside-nvidia", {"gpu_driver": "535.104.05", "torch": "2.5.1"}, Verdict.PASS),
    ("no-other-stack-beside-nvidia", {"gpu_driver": "535.104.05", "rocm": "6.2.0"}, Verdict.FAIL),
    ("no-other-stack-beside-nvidia", {"gpu_driver": "535.104.05", "cann": "8.0.RC1"}, Verdict.FAIL),
    ("no-other-stack-beside-nvidia", {"gpu_driver": "535.104.05", "dtk": "24.04"}, Verdict.FAIL),
    (
        "volta-stays-below-cuda-13",
        {"gpu_model": "Tesla V100-SXM2-32GB", "cuda_of_torch": "13.0"},
        Verdict.FAIL,
    ),
    (
        "volta-stays-below-driver-590",
        {"gpu_model": "Tesla V100-SXM2-32GB", "gpu_driver": "580.65.06"},
        Verdict.PASS,
    ),
    ("blackwell-needs-cuda-12-8", {"gpu_model": "NVIDIA GB200", "cuda_of_torch": "12.6"}, Verdict.FAIL),
    ("hopper-needs-cuda-11-8", {"gpu_model": "NVIDIA H100 80GB HBM3", "cuda_of_torch": "12.1"}, Verdict.PASS),
    ("torch-npu-follows-torch", {"torch_npu": "2.7.1.dev20250724", "torch": "2.7.1+cpu"}, Verdict.PASS),
    ("torch-npu-follows-torch", {"torch_npu": "2.5.1", "torch": "2.7.1+cpu"}, Verdict.FAIL),
    ("torch-npu-needs-cann", {"torch_npu": "2.5.1"}, Verdict.UNKNOWN),
]


def results_of(versions: dict[str, str]) -> dict[str, RuleResult]:
    return {
        result.rule: result for result in check_versions({name: [value] for name, value in versions.items()})
    }


@pytest.mark.parametrize(("rule", "versions", "verdict"), CASES)
def test_each_rule_tells_good_from_bad(rule: str, versions: dict[str, str], verdict: Verdict) -> None:
    assert results_of(versions)[rule].verdict is verdict


@pytest.mark.parametrize(
    ("rule", "versions"),
    [
        ("fabric-manager-equals-driver", {"gpu_driver": "570.148.08"}),
        ("torch-nccl-pin", {"torch": "2.8.0+cu126", "nccl": "2.26.2"}),
        ("torch-nccl-pin", {"torch": "2.7.0a0+git295f2ed", "nccl": "2.26.2"}),
        ("torch-cuda-tag-agrees", {"torch": "2.7.0a0+git295f2ed", "cuda_of_torch": "12.8"}),
        ("torch-python", {"torch": "2.15.0+das1.7", "python": "3.10.12"}),
        ("driver-runs-torch", {"torch": "2.4.1+das.opt2.dtk2504", "gpu_driver": "535.104.05"}),
        ("no-rocm-build-beside-nvidia", {"torch": "2.7.0a0+git295f2ed", "gpu_driver": "535.104.05"}),
        ("no-cpu-build-beside-a-gpu", {"torch": "2.7.1+cpu", "gpu_driver": "1.0", "torch_npu": "2.7.1"}),
        ("no-cpu-build-beside-a-gpu", {"torch": "2.5.1+rocm6.2", "gpu_driver": "535.104.05"}),
        ("no-other-stack-beside-nvidia", {"rocm": "6.2.0", "torch": "2.5.1+rocm6.2"}),
        ("volta-stays-below-cuda-13", {"gpu_model": "NVIDIA H100", "cuda_of_torch": "13.0"}),
    ],
)
def test_a_rule_that_does_not_apply_is_left_out(rule: str, versions: dict[str, str]) -> None:
    assert rule not in results_of(versions)


def test_a_broken_rule_shows_what_was_found_and_what_was_needed() -> None:
    result = results_of({"cuda_of_torch": "13.0", "gpu_driver": "570.148.08"})["driver-runs-cuda-of-torch"]

    assert (result.found, result.expected) == (("570.148.08",), ("580.65.06",))
    assert result.reason is RuleReason.BROKEN
    assert result.is_broken
    assert result.message == (
        "The driver runs the CUDA that PyTorch was built with: broken, "
        "gpu_driver 570.148.08 (at least 580.65.06)"
    )
    assert result.definition.source.startswith("https://")
    assert result.definition.remedy


def test_every_one_of_several_versions_must_fit() -> None:
    results = check_versions({"cuda_of_torch": ["13.0"], "gpu_driver": ["580.65.06", "570.148.08"]})

    assert {result.rule: result.verdict for result in results}["driver-runs-cuda-of-torch"] is Verdict.FAIL


def test_a_matrix_gives_the_versions_it_asks_for() -> None:
    entries = [
        entry_for(component("gpu_driver"), "570.148.08", "580.95.05", rule=RuleKind.ONE_OF),
        entry_for(component("gpu_vbios")),
        entry_for(component("nccl"), ""),
    ]

    assert versions_of(entries) == {"gpu_driver": ("570.148.08", "580.95.05")}


def test_a_matrix_is_checked_by_the_versions_it_asks_for() -> None:
    entries = [
        entry_for(component("gpu_driver"), "570.148.08"),
        entry_for(component("cuda_of_torch"), "13.0"),
    ]

    assert [result.rule for result in check_versions(versions_of(entries)) if result.is_broken] == [
        "driver-runs-cuda-of-torch"
    ]


def test_the_built_in_rules_name_only_components_of_the_catalogue() -> None:
    clauses = [clause for rule in built_in_rules() for clause in (*rule.when, *rule.then)]
    named = {name for clause in clauses for name in (clause.component, clause.of, clause.by) if name}

    assert named <= set(components())
    assert all(rule.source and rule.why and rule.remedy for rule in built_in_rules())


def test_a_team_adds_rules_for_its_own_stack() -> None:
    rules = read_rules(
        [
            {
                "id": "dtk-needs-kylin",
                "when": [{"component": "dtk", "is": "same_branch", "value": "24.04"}],
                "then": [{"component": "os", "is": "equal", "value": ["Kylin V10 SP3", "Kylin V10 SP2"]}],
            }
        ]
    )

    assert (
        check_versions({"dtk": ["dtk-24.04.1"], "os": ["Kylin V10 (SP3)"]}, rules)[0].verdict is Verdict.PASS
    )
    assert check_versions({"dtk": ["dtk-24.04.1"], "os": ["Ubuntu 22.04"]}, rules)[0].verdict is Verdict.FAIL
    assert check_versions({"dtk": ["25.04"], "os": ["Ubuntu 22.04"]}, rules) == ()


def test_a_component_of_a_team_is_compared_by_its_own_scheme() -> None:
    rules = read_rules([{"id": "agent", "then": [{"component": "agent", "is": "at_least", "value": "1.9"}]}])
    own = Component(id="agent", label="Agent", scheme=Scheme.DOTTED_NUMERIC)

    assert check_versions({"agent": ["1.10"]}, rules)[0].verdict is Verdict.UNKNOWN
    with laid_over(lambda: {"agent": own}):
        assert check_versions({"agent": ["1.10"]}, rules)[0].verdict is Verdict.PASS


WRONG = [
    ({"id": "x"}, ""),
    ([{"id": "x", "then": []}], "/0/then"),
    ([{"then": [{"component": "a", "is": "present"}]}], "/0/id"),
    ([{"id": "x", "then": [{"component": "a", "is": "newer"}]}], "/0/then/0/is"),
    ([{"id": "x", "then": [{"is": "present"}]}], "/0/then/0/component"),
    ([{"id": "x", "then": [{"component": "a", "is": "equal"}]}], "/0/then/0"),
    ([{"id": "x", "then": [{"component": "a", "is": "equal", "value": "1", "of": "b"}]}], "/0/then/0"),
    ([{"id": "x", "then": [{"component": "a", "is": "present", "value": "1"}]}], "/0/then/0"),
    ([{"id": "x", "then": [{"component": "a", "is": "contains", "of": "b"}]}], "/0/then/0"),
    (
        [{"id": "x", "then": [{"component": "a", "is": "equal", "table": "os.system", "by": "b"}]}],
        "/0/then/0/table",
    ),
    ([{"id": "x", "then": [{"component": "a", "is": "equal", "table": "driver_floor"}]}], "/0/then/0/by"),
    ([{"id": "x", "then": [{"component": "a", "is": "equal", "value": 12.10}]}], "/0/then/0/value"),
    ([{"id": "x", "then": [{"component": "a", "is": "present"}], "severity": "pass"}], "/0/severity"),
    ([{"id": "x", "then": [{"component": "a", "is": "present"}], "unlisted": "pass"}], "/0/unlisted"),
    ([{"id": "x", "then": [{"component": "a", "is": "present"}], "code": "1"}], "/0/code"),
    ([{"id": "x", "then": [{"component": "a", "is": "present"}]}] * 2, "/1/id"),
    ([["x"]], "/0"),
]


@pytest.mark.parametrize(("rows", "pointer"), WRONG)
def test_a_rule_in_a_wrong_form_is_refused_with_its_place(rows: Any, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        read_rules(rows)

    assert pointer in {error.pointer for error in refused.value.errors}


_VERSION = st.sampled_from(["12.8", "13.0", "570.148.08", "580.65.06", "2.8.0+cu128", "N/A", "x-1", "2.27.3"])


@given(st.dictionaries(st.sampled_from(sorted(components())), st.lists(_VERSION, min_size=1, max_size=2)))
def test_any_mix_of_versions_is_judged_without_an_error(versions: dict[str, list[str]]) -> None:
    for result in check_versions(versions):
        assert result.verdict in (Verdict.PASS, result.definition.severity, Verdict.UNKNOWN)
        assert (result.verdict is Verdict.PASS) == (result.reason is RuleReason.HOLDS)
