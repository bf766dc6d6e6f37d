"""What a check found is said in the reader's language, from the values that the evaluation keeps."""

from __future__ import annotations

import pytest
from django.utils import translation

from apps.launches.words import found_in


def item(code, message="as kept", **values):
    return {"code": code, "message": message, "values": values}


def test_a_sentence_is_made_of_code_and_values():
    assert found_in(item("free", n=1)) == "1 node is free."
    assert found_in(item("free", n=18)) == "18 nodes are free."
    assert found_in(item("free", n=10_000)) == "10,000 nodes are free."
    assert found_in(item("change_under_way", changes="#3 driver")) == "Under way: #3 driver"
    assert (
        found_in(item("fast_enough", busbw="810 GB/s", share="90.0 %"))
        == "busbw 810 GB/s is 90.0 % of theory."
    )


def test_drift_names_components_as_the_pages_do():
    findings = [{"node": "sn-n01", "component": "gpu_driver", "found": "", "expected": "580.95.05"}]
    said = found_in(item("drift", findings=findings, more=2))
    assert said.startswith("sn-n01: ") and said.endswith(
        " is not reported, asked for is 580.95.05; and 2 more"
    )


@pytest.mark.parametrize(
    ("finding", "ending"),
    [
        ({"expected": "?"}, "the matrix names no version of it"),
        ({"expected": "", "reason": "not_in_matrix"}, "the matrix names no version of it"),
        ({"expected": "", "reason": "no_majority"}, "to run one version, and none has the majority"),
        ({"expected": "2.20.5", "reason": "report_too_old"}, "is too old to count"),
    ],
)
def test_where_no_version_is_asked_for_the_sentence_says_so(finding, ending):
    plain = {"node": "sn-n01", "component": "nccl", "found": "2.20.5", "kind": "drift"}
    said = found_in(item("drift", findings=[plain | finding], more=0))
    assert said.startswith("sn-n01: ") and said.endswith(ending)
    assert "?" not in said and "asked for" not in said


def test_what_holds_nodes_is_named():
    assert found_in(item("held", kinds={"life_cycle": "n1", "change": "n2, n3"})) == (
        "Not free: in repair or retired: n1; change: n2, n3"
    )


@pytest.mark.parametrize("code", ["answered", "placement_impossible", "change_under_way"])
def test_what_was_kept_without_values_is_shown_as_it_was_kept(code):
    assert found_in({"code": code, "message": "as kept"}) == "as kept"


def test_in_chinese_findings_are_set_apart_by_chinese_marks():
    finding = {"component": "nccl", "found": "2.20.5", "expected": "2.28.3"}
    findings = [finding | {"node": name} for name in ("n1", "n2")]
    causes = [{"node": name, "reasons": []} for name in ("n1", "n2")]
    with translation.override("zh-hans"):
        drifting = found_in(item("drift", findings=findings, more=0))
        ailing = found_in(item("faulty", causes=causes, more=0))
    assert "；n2" in drifting and ";" not in drifting
    assert "n1、n2" in ailing
