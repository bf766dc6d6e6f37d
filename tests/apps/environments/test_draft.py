"""Matrices drafted from reports, and the changes between two matrices."""

from __future__ import annotations

from datetime import UTC, datetime

from apps.catalogue.engine.components import Component, RuleKind, component, laid_over
from apps.catalogue.engine.versions import Scheme
from apps.core.verdicts import Verdict
from apps.environments.engine.draft import Draft, NoteKind, from_reports
from apps.environments.engine.drift import NodeReport, Reported, evaluate
from apps.environments.engine.matrix_diff import ChangeKind, compare_entries
from apps.environments.engine.rules import MatrixEntry, entry_for

NOW = datetime(2026, 11, 29, tzinfo=UTC)


def node(name: str, **loaded: str) -> NodeReport:
    reported = {
        key: Reported(loaded=tuple(sorted(text.split(","))), seen_at=NOW) for key, text in loaded.items()
    }
    return NodeReport(node=name, reported=reported)


def notes(draft: Draft) -> dict[NoteKind, tuple[str, ...]]:
    return {note.kind: note.nodes for note in draft.notes}


def test_the_majority_decides_and_the_minority_is_named() -> None:
    draft = from_reports(
        [
            node("a", gpu_driver="570.148.08"),
            node("b", gpu_driver="570.148.8"),
            node("c", gpu_driver="570.26"),
        ]
    )

    (entry,) = draft.entries
    assert (entry.component, entry.rule, entry.values) == ("gpu_driver", RuleKind.EXACT, ("570.148.08",))
    assert notes(draft) == {NoteKind.MINORITY: ("c",)}


def test_a_tie_is_left_to_a_person_and_keeps_the_gate_shut() -> None:
    nodes = [node("a", gpu_driver="570.148.08"), node("b", gpu_driver="570.26")]
    draft = from_reports(nodes)

    assert draft.entries[0].values == ()
    assert notes(draft) == {NoteKind.TIE: ("a", "b")}
    drift = evaluate(entries=draft.entries, nodes=nodes, now=NOW, stale_after_s=60)
    assert drift.verdict is Verdict.UNKNOWN


def test_nodes_without_a_usable_version_have_no_vote_and_are_noted() -> None:
    draft = from_reports(
        [
            node("a", nic_firmware="28.43.2026", nccl="2.27.3"),
            node("b", nic_firmware="22.35.2302,28.43.2026", nccl="2.27.3"),
            node("c", nic_firmware="N/A"),
        ]
    )

    assert [entry.component for entry in draft.entries] == ["nic_firmware", "nccl"]
    by_component = {(note.component, note.kind): note.nodes for note in draft.notes}
    assert by_component == {
        ("nic_firmware", NoteKind.UNITS_DIFFER): ("b",),
        ("nic_firmware", NoteKind.UNKNOWN_FORM): ("c",),
        ("nccl", NoteKind.MISSING): ("c",),
    }


def test_a_component_that_nobody_reports_in_a_known_form_is_left_out_but_noted() -> None:
    draft = from_reports([node("a", gpu_driver="N/A")])

    assert draft.entries == ()
    assert notes(draft) == {NoteKind.UNKNOWN_FORM: ("a",)}


def test_what_fewer_than_half_of_the_nodes_report_is_left_out_and_they_are_named() -> None:
    nvidia = [node(name, gpu_driver="570.148.08") for name in "abcde"]
    odd = [node("f", gpu_driver="570.148.08", rocm="6.2.0", cudnn="9.1"), node("g", cudnn="9.1")]
    odd += [node("h", cudnn="9.1"), node("silent")]

    draft = from_reports(nvidia + odd)

    assert [entry.component for entry in draft.entries] == ["gpu_driver"]
    few = {note.component: (note.nodes, note.of_nodes) for note in draft.notes if note.kind is NoteKind.FEW}
    assert few == {"cudnn": (("f", "g", "h"), 8), "rocm": (("f",), 8)}
    with_half = from_reports([*nvidia[:2], *odd[1:3]])
    assert [entry.component for entry in with_half.entries] == ["gpu_driver", "cudnn"]


def test_what_is_not_checked_by_default_is_left_out() -> None:
    assert from_reports([node("a", gcc="12.3.0")]) == Draft(entries=(), notes=())


def test_a_component_of_a_team_is_drafted_by_its_own_scheme() -> None:
    own = Component(id="agent", label="Agent", scheme=Scheme.DOTTED_NUMERIC, rule=RuleKind.AT_LEAST)
    with laid_over(lambda: {"agent": own}):
        (entry,) = from_reports([node("a", agent="1.10")]).entries

    assert (entry.rule, entry.scheme, entry.values) == (RuleKind.AT_LEAST, Scheme.DOTTED_NUMERIC, ("1.10",))


def test_a_domain_matches_the_matrix_drafted_from_it() -> None:
    nodes = [node(name, gpu_driver="570.148.08", gpu_vbios="96.00.A5.00.01", nccl="22703") for name in "abc"]

    drift = evaluate(entries=from_reports(nodes).entries, nodes=nodes, now=NOW, stale_after_s=60)

    assert drift.verdict is Verdict.PASS


def test_two_matrices_differ_by_component_and_part() -> None:
    driver, nccl, torch = (component(name) for name in ("gpu_driver", "nccl", "torch"))
    older = [entry_for(driver, "570.26"), entry_for(nccl, "2.27.3"), entry_for(torch, "2.8.0")]
    newer = [
        entry_for(driver, "570.148.08"),
        entry_for(nccl, "22703", rule=RuleKind.AT_LEAST),
        entry_for(component("cudnn"), "9.10.2.21"),
    ]

    changes = {change.component: change for change in compare_entries(older, newer)}

    assert {name: change.kind for name, change in changes.items()} == {
        "cudnn": ChangeKind.ADDED,
        "gpu_driver": ChangeKind.CHANGED,
        "nccl": ChangeKind.CHANGED,
        "torch": ChangeKind.REMOVED,
    }
    assert (changes["gpu_driver"].parts, changes["gpu_driver"].direction) == (("values",), 1)
    assert (changes["nccl"].parts, changes["nccl"].direction) == (("rule", "values"), 0)


def test_a_matrix_does_not_differ_from_itself_in_another_order() -> None:
    entries: list[MatrixEntry] = [
        entry_for(component("nccl"), "2.27.3"),
        entry_for(component("torch"), "2.8.0"),
    ]

    assert compare_entries(entries, reversed(entries)) == ()


def test_the_direction_of_versions_without_order_is_not_told() -> None:
    vbios = component("gpu_vbios")
    (change,) = compare_entries([entry_for(vbios, "96.00.A5.00.01")], [entry_for(vbios, "96.00.A5.00.02")])

    assert change.direction is None
