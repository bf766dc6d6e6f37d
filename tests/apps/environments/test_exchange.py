"""Matrices as YAML and CSV."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.catalogue.engine.components import RuleKind, component
from apps.catalogue.engine.versions import Scheme
from apps.core.errors import Invalid
from apps.environments.engine.exchange import from_csv, from_yaml, to_csv, to_yaml
from apps.environments.engine.rules import MatrixEntry, entry_for

ENTRIES = (
    entry_for(component("cuda_runtime"), "12.10"),
    entry_for(component("gpu_driver"), "570.148.08", "580.95.05", rule=RuleKind.ONE_OF),
    entry_for(component("gpu_vbios")),
    MatrixEntry(component="our_agent", rule=RuleKind.EXACT, values=("=1|2\\",), scheme=Scheme.OPAQUE),
)


def test_csv_keeps_zeros_several_versions_and_disarms_formulas() -> None:
    text = to_csv(ENTRIES)

    assert text.splitlines()[:3] == [
        "component,rule,values,scheme,branch_depth",
        "cuda_runtime,same_branch,12.10,cuda,2",
        "gpu_driver,one_of,570.148.08 | 580.95.05,dotted_numeric,1",
    ]
    assert ",'=1\\|2\\\\," in text
    assert from_csv(text) == ENTRIES


def test_yaml_quotes_versions() -> None:
    text = to_yaml(ENTRIES)

    assert '- "12.10"' in text
    assert from_yaml(text) == ENTRIES


def test_only_the_component_is_needed_and_the_catalogue_fills_the_rest() -> None:
    assert from_csv("﻿Component,values\r\ngpu_driver,570.26\r\n\r\n") == (
        entry_for(component("gpu_driver"), "570.26"),
    )


CSV_FAULTS = [
    ("", "row 1, column component"),
    ("rule\nexact\n", "row 1, column component"),
    ("component,version\nnccl,2.27.3\n", "row 1, column version"),
    ("component,component\nnccl,nccl\n", "row 1, column component"),
    ("component,rule\nnccl,exactly\n", "row 2, column rule"),
    ("component,scheme\n\nnccl,semver\n", "row 3, column scheme"),
    ("component,branch_depth\nnccl,many\n", "row 2, column branch_depth"),
    ("component,values\nnccl,2.27.3 | 2.28.9\n", "row 2, column values"),
    ("component\nGPU driver\n", "row 2, column component"),
    ("component\nnccl\ntorch\nnccl\n", "row 4, column component"),
    ("component,rule\nnccl,exact,2.27.3\n", "row 2"),
    ('component,values\nnccl,"2.27\n', "row 2"),
]


@pytest.mark.parametrize(("text", "pointer"), CSV_FAULTS)
def test_a_fault_in_a_csv_is_named_by_row_and_column(text: str, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        from_csv(text)

    assert pointer in {error.pointer for error in refused.value.errors}


def test_all_faults_are_reported_at_once_with_what_would_be_right() -> None:
    with pytest.raises(Invalid) as refused:
        from_csv("component,rule,scheme\nnccl,exactly,semver\ntorch,most,pep440\n")

    assert [error.pointer for error in refused.value.errors] == [
        "row 2, column rule",
        "row 2, column scheme",
        "row 3, column rule",
    ]
    assert "exact, same_branch, at_least" in refused.value.errors[0].message


YAML_FAULTS = [
    ("entries: x", "/entries"),
    ("- nccl", "/entries"),
    ("entries: [nccl]", "/entries/0"),
    ("entries: [{component: cuda_runtime, values: [12.10]}]", "/entries/0/values"),
    ("entries: [{component: nccl, version: '2.27.3'}]", "/entries/0/version"),
    ("entries: [{component: nccl, rule: [exact]}]", "/entries/0/rule"),
    ("entries: [{component: nccl, branch_depth: true}]", "/entries/0/branch_depth"),
]


@pytest.mark.parametrize(("text", "pointer"), YAML_FAULTS)
def test_a_fault_in_a_yaml_is_named_by_its_pointer(text: str, pointer: str) -> None:
    with pytest.raises(Invalid) as refused:
        from_yaml(text)

    assert pointer in {error.pointer for error in refused.value.errors}


def test_yaml_that_is_no_plain_data_is_refused() -> None:
    with pytest.raises(Invalid):
        from_yaml("entries: !!python/object/apply:os.system [id]")


_VALUES = st.text(st.characters(blacklist_categories=("Cs", "Cc", "Zs", "Zl", "Zp")), min_size=1, max_size=20)
_ENTRIES = st.lists(
    st.builds(
        MatrixEntry,
        component=st.from_regex(r"[a-z][a-z0-9_]{0,12}", fullmatch=True),
        rule=st.just(RuleKind.ONE_OF),
        values=st.lists(_VALUES, max_size=3).map(tuple),
        scheme=st.sampled_from(Scheme),
        branch_depth=st.integers(min_value=1, max_value=6),
    ),
    max_size=6,
    unique_by=lambda entry: entry.component,
)


@given(_ENTRIES)
def test_export_then_import_changes_nothing(entries: list[MatrixEntry]) -> None:
    assert from_yaml(to_yaml(entries)) == tuple(entries)
    assert from_csv(to_csv(entries)) == tuple(entries)


@given(st.text(max_size=200))
def test_any_text_is_read_or_refused(text: str) -> None:
    for read in (from_csv, from_yaml):
        try:
            entries = read(text)
        except Invalid as refused:
            assert refused.message
        else:
            assert from_csv(to_csv(entries)) == entries
