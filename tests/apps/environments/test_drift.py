"""The drift of a domain: cells, groups, findings, the odd one out and the shortest board."""

from __future__ import annotations

import random
from dataclasses import replace
from datetime import UTC, datetime, timedelta

import pytest

from apps.catalogue.engine.components import RuleKind, component
from apps.core.verdicts import Verdict
from apps.environments.engine.drift import DomainDrift, FindingKind, NodeReport, Reported, evaluate
from apps.environments.engine.rules import MatrixEntry, Outcome, Reason, entry_for

NOW = datetime(2026, 11, 29, 12, 0, tzinfo=UTC)
HOUR_S = 3600.0
DRIVER = entry_for(component("gpu_driver"), "570.148.08")
VBIOS = entry_for(component("gpu_vbios"))


def node(
    name: str, *, age_s: float = 60, declared: dict[str, str] | None = None, **loaded: str
) -> NodeReport:
    """A node; a value with a comma stands for two versions."""
    seen_at = NOW - timedelta(seconds=age_s)
    packages = declared or {}
    return NodeReport(
        node=name,
        reported={
            key: Reported(
                loaded=tuple(sorted(loaded[key].split(","))) if key in loaded else (),
                declared=(packages[key],) if key in packages else (),
                seen_at=seen_at,
            )
            for key in {*loaded, *packages}
        },
    )


def drift_of(entries: list[MatrixEntry], *nodes: NodeReport) -> DomainDrift:
    return evaluate(entries=entries, nodes=nodes, now=NOW, stale_after_s=24 * HOUR_S)


def outcomes(drift: DomainDrift, name: str) -> dict[str, Outcome | None]:
    column = drift.components.index(name)
    return {row.node: row.cells[column].outcome if row.cells[column] else None for row in drift.rows}


def test_a_domain_that_runs_its_matrix_passes() -> None:
    drift = drift_of([DRIVER], node("a", gpu_driver="570.148.08"), node("b", gpu_driver="570.148.08"))

    assert drift.verdict is Verdict.PASS
    assert drift.findings == ()
    assert [group.nodes for group in drift.groups] == [("a", "b")]


def test_the_node_that_differs_is_named_with_what_was_expected() -> None:
    drift = drift_of(
        [DRIVER],
        node("a", gpu_driver="570.148.08"),
        node("b", gpu_driver="570.148.08"),
        node("c", gpu_driver="570.124.06"),
    )

    (finding,) = drift.findings
    assert (finding.kind, finding.node, finding.verdict) == (FindingKind.DRIFT, "c", Verdict.FAIL)
    assert (finding.cell.expected, finding.cell.found) == ("570.148.08", ("570.124.06",))
    (odd,) = drift.odd_ones
    assert (odd.nodes, odd.found, odd.majority, odd.majority_count) == (
        ("c",),
        ("570.124.06",),
        ("570.148.08",),
        2,
    )
    (board,) = drift.shortest_boards
    assert (board.value, board.newest, board.nodes) == ("570.124.06", "570.148.08", ("c",))


def test_nodes_are_grouped_by_identical_cells_largest_first() -> None:
    nodes = [node(f"n{index:02}", gpu_driver="570.148.08") for index in range(14)]
    nodes += [node(f"m{index}", gpu_driver="570.26") for index in range(3)]
    nodes += [node("k", gpu_driver="580.95.05")]

    drift = drift_of([DRIVER], *nodes)

    assert [len(group.nodes) for group in drift.groups] == [14, 3, 1]
    assert len({group.fingerprint for group in drift.groups}) == 3


def test_uniform_holds_the_minority_against_the_majority() -> None:
    drift = drift_of(
        [VBIOS],
        node("a", gpu_vbios="96.00.A5.00.01"),
        node("b", gpu_vbios="96.00.a5.00.01"),
        node("c", gpu_vbios="96.00.A5.00.02"),
        node("d", gpu_vbios="96.00.A5.00.01,96.00.A5.00.02"),
    )

    assert outcomes(drift, "gpu_vbios") == {
        "a": Outcome.MATCH,
        "b": Outcome.MATCH,
        "c": Outcome.DRIFT,
        "d": Outcome.DRIFT,
    }
    reasons = {finding.node: finding.cell.reason for finding in drift.findings}
    assert reasons == {"c": Reason.NOT_THE_MAJORITY, "d": Reason.UNITS_DIFFER}
    assert {finding.cell.expected for finding in drift.findings} == {"96.00.A5.00.01"}
    assert drift.shortest_boards == ()


def test_uniform_without_a_majority_is_drift_of_all() -> None:
    drift = drift_of([VBIOS], node("a", gpu_vbios="96.00.A5.00.01"), node("b", gpu_vbios="96.00.A5.00.02"))

    assert {finding.cell.reason for finding in drift.findings} == {Reason.NO_MAJORITY}
    assert drift.odd_ones == ()


def test_drivers_may_differ_between_domains_but_not_inside_one() -> None:
    uniform = entry_for(component("gpu_driver"), rule=RuleKind.UNIFORM)

    assert drift_of([uniform], node("a", gpu_driver="570.26")).verdict is Verdict.PASS
    assert drift_of([uniform], node("b", gpu_driver="580.95.05")).verdict is Verdict.PASS
    both = drift_of([uniform], node("a", gpu_driver="570.26"), node("b", gpu_driver="580.95.05"))
    assert both.verdict is Verdict.FAIL


def test_a_component_that_is_not_reported_is_missing_and_one_not_asked_for_is_extra() -> None:
    drift = drift_of([DRIVER], node("a", nccl="2.27.3"), node("b", gpu_driver="570.148.08"))

    assert drift.components == ("gpu_driver", "nccl")
    assert outcomes(drift, "gpu_driver") == {"a": Outcome.MISSING, "b": Outcome.MATCH}
    assert outcomes(drift, "nccl") == {"a": Outcome.EXTRA, "b": None}
    assert {row.node: row.verdict for row in drift.rows} == {"a": Verdict.FAIL, "b": Verdict.PASS}


def test_what_is_not_checked_leaves_no_cell_and_is_not_extra() -> None:
    unchecked = entry_for(component("nccl"), rule=RuleKind.NOT_CHECKED)
    drift = drift_of([DRIVER, unchecked], node("a", gpu_driver="570.148.08", nccl="2.27.3", gcc="12.3.0"))

    assert drift.components == ("gpu_driver",)
    assert drift.verdict is Verdict.PASS


def test_a_stale_report_is_unknown_and_has_no_vote() -> None:
    old = 25 * HOUR_S
    drift = drift_of(
        [VBIOS],
        node("a", gpu_vbios="96.00.A5.00.01"),
        node("b", gpu_vbios="96.00.A5.00.02", age_s=old),
        node("c", gpu_vbios="96.00.A5.00.02", age_s=old),
    )

    assert outcomes(drift, "gpu_vbios") == {"a": Outcome.MATCH, "b": Outcome.STALE, "c": Outcome.STALE}
    assert drift.verdict is Verdict.UNKNOWN
    assert drift.odd_ones == ()


def test_where_nothing_is_asked_for_that_is_one_finding_however_many_nodes_there_are() -> None:
    drift = drift_of([], node("a", gpu_driver="570.148.08"), node("b", gpu_driver="535.54.03"))

    assert drift.verdict is Verdict.UNKNOWN
    assert [row.verdict for row in drift.rows] == [Verdict.UNKNOWN] * 2
    assert [(one.kind, one.node, one.cell.outcome) for one in drift.findings] == [
        (FindingKind.NO_INTENT, None, Outcome.NOT_EVALUATED)
    ]


def test_a_domain_without_nodes_is_unknown() -> None:
    assert drift_of([DRIVER]).verdict is Verdict.UNKNOWN


def test_a_loaded_library_that_no_package_declares_is_a_finding_of_its_own() -> None:
    nccl = entry_for(component("nccl"), "2.28.9")
    drift = drift_of([nccl], node("a", nccl="22809", declared={"nccl": "2.30.7"}))

    (finding,) = drift.findings
    assert (finding.kind, finding.verdict) == (FindingKind.LOADED_DIFFERS, Verdict.WARN)
    assert (finding.cell.found, finding.cell.declared) == (("22809",), ("2.30.7",))
    assert drift.verdict is Verdict.WARN


def test_a_package_that_declares_what_is_loaded_is_no_finding() -> None:
    torch = entry_for(component("torch"), "2.8.0")
    drift = drift_of([torch], node("a", torch="2.8.0+cu128", declared={"torch": "2.8.0"}))

    assert drift.findings == ()


def test_the_declared_version_is_judged_where_nothing_is_loaded() -> None:
    nccl = entry_for(component("nccl"), "2.27.3")

    assert drift_of([nccl], node("a", declared={"nccl": "2.27.5"})).verdict is Verdict.FAIL


@pytest.mark.parametrize("seed", range(5))
def test_the_result_does_not_depend_on_the_order_of_nodes(seed: int) -> None:
    nodes = [
        node(f"n{index}", gpu_driver=driver, gpu_vbios=vbios)
        for index, (driver, vbios) in enumerate(
            [("570.148.08", "96.00.A5.00.01"), ("570.26", "96.00.A5.00.02"), ("N/A", "96.00.A5.00.01")] * 3
        )
    ]
    shuffled = random.Random(seed).sample(nodes, len(nodes))

    assert drift_of([DRIVER, VBIOS], *shuffled) == drift_of([DRIVER, VBIOS], *nodes)


def test_one_unreadable_value_does_not_stop_the_rest() -> None:
    drift = drift_of([DRIVER], node("a", gpu_driver="[Unknown Error]"), node("b", gpu_driver="570.148.08"))

    assert outcomes(drift, "gpu_driver") == {"a": Outcome.UNKNOWN_FORM, "b": Outcome.MATCH}
    assert drift.verdict is Verdict.UNKNOWN


def test_firmware_is_compared_within_one_model_of_card_only() -> None:
    gsp = entry_for(component("gsp_firmware"))

    def card(name: str, model: str, vbios: str, firmware: str) -> NodeReport:
        return replace(node(name, gpu_vbios=vbios, gsp_firmware=firmware), models=(model,))

    drift = drift_of(
        [VBIOS, gsp],
        *[card(f"b{index}", "B200", "97.00.D9.00.2F", "580.95.05") for index in range(3)],
        *[card(f"h{index}", "H20", "96.00.A5.00.01", "570.86.15") for index in range(2)],
        card("h2", "H20", "96.00.74.00.01", "560.35.03"),
    )

    assert {(one.component, one.nodes, one.majority) for one in drift.odd_ones} == {
        ("gpu_vbios", ("h2",), ("96.00.A5.00.01",)),
        ("gsp_firmware", ("h2",), ("570.86.15",)),
    }
    assert [(one.value, one.newest, one.nodes) for one in drift.shortest_boards] == [
        ("560.35.03", "570.86.15", ("h2",))
    ]


def test_firmware_of_one_nic_is_not_behind_that_of_another_card() -> None:
    drift = drift_of(
        [entry_for(component("nic_firmware"))],
        *[node(f"n{index}", nic_firmware="22.39.1002,28.39.1002") for index in range(3)],
        node("a", nic_firmware="28.39.1002"),
        node("b", nic_firmware="28.36.1010"),
    )

    (odd,) = drift.odd_ones
    assert (odd.nodes, odd.found, odd.majority) == (("b",), ("28.36.1010",), ("28.39.1002",))
    (board,) = drift.shortest_boards
    assert (board.nodes, board.value, board.newest) == (("b",), "28.36.1010", "28.39.1002")


def test_what_fails_comes_first_among_the_odd_ones_and_those_furthest_behind() -> None:
    """Beside the matrix an odd one only warns, however few nodes share it."""
    drift = drift_of(
        [entry_for(component("nccl"), "2.27.3")],
        *[node(f"n{index}", nccl="2.27.3", gpu_driver="580.95.05") for index in range(4)],
        node("a", nccl="2.27.3", gpu_driver="570.86.15"),
        node("b", nccl="2.20.5", gpu_driver="580.95.05"),
        node("c", nccl="2.20.5", gpu_driver="580.95.05"),
    )

    assert [one.component for one in drift.odd_ones] == ["nccl", "gpu_driver"]
    assert [one.component for one in drift.shortest_boards] == ["nccl", "gpu_driver"]
