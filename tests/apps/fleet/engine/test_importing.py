"""Bulk import plans: every error at once, three modes, and export then import changes nothing."""

from __future__ import annotations

import csv
import io
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from apps.fleet.engine import cells
from apps.fleet.engine.decoding import decode
from apps.fleet.engine.importing import ImportPlan, Mode, plan_import
from apps.fleet.engine.tables import SCHEMAS, Key, Table, Values, csv_row, plain_row

Rows = dict[Table, list[dict[str, Any]]]

FLEET: Rows = {
    Table.DOMAINS: [{"name": "d1", "sub_domains": "s1;s2"}, {"name": "d2"}],
    Table.NODES: [
        {"name": "n1", "domain": "d1", "rack": "=A1", "serial": "X1", "aliases": ["n1.local", "pod-1"]},
        {"name": "n2", "domain": "d2", "index": 1},
        {"name": "n3"},
    ],
    Table.ACCELERATORS: [
        {"node": "n1", "index": 0, "sub_domain": "s1", "model": "H200", "uuid": "GPU-1"},
        {"node": "n1", "index": "1", "sub_domain": "s2"},
    ],
    Table.SWITCHES: [
        {"name": "spine", "tier": 2},
        {"name": "leaf", "tier": 1, "domain": "d1", "ports": 64},
    ],
    Table.LINKS: [
        {"upper": "spine", "lower": "leaf", "unidirectional_bytes_per_s": 5e10, "optical": "yes"},
        {"upper": "leaf", "lower": "n1", "unidirectional_bytes_per_s": "25e9", "count": 2},
        {"upper": "leaf", "lower": "n1/1", "unidirectional_bytes_per_s": 50_000_000_000},
    ],
    Table.PARTS: [
        {"kind": "accelerator", "serial": "S1", "uuid": "GPU-9", "stage": "repair", "node": "n2", "slot": 0},
        {"kind": "accelerator", "uuid": "GPU-8", "note": "=shelf"},
        {"kind": "board", "serial": "X1", "stage": "installed", "node": "n1", "slot": "board"},
    ],
}


def create(rows: Rows, current: dict[Table, dict[Key, Values]] | None = None, **more: Any) -> ImportPlan:
    return plan_import(rows, current=current or {}, mode=more.pop("mode", Mode.CREATE), **more)


def applied(plan: ImportPlan) -> dict[Table, dict[Key, Values]]:
    assert plan.errors == ()
    return {one.table: {row.key: row.values for row in one.created} for one in plan.tables}


def found(plan: ImportPlan) -> list[tuple[str, int, str, str]]:
    return [
        (one.table.value, error.row, error.column, error.code) for one in plan.tables for error in one.errors
    ]


def with_row(table: Table, **row: Any) -> Rows:
    return {**FLEET, table: [*FLEET[table], row]}


def test_a_whole_fleet_is_planned_in_the_order_of_creation() -> None:
    plan = create(FLEET)
    assert plan.errors == ()
    assert [(one.table, len(one.created)) for one in plan.tables] == [
        (Table.DOMAINS, 2),
        (Table.NODES, 3),
        (Table.ACCELERATORS, 2),
        (Table.SWITCHES, 2),
        (Table.LINKS, 3),
        (Table.PARTS, 3),
    ]
    assert plan.tables[1].created[0].values["aliases"] == ("n1.local", "pod-1")
    assert plan.tables[1].created[2].values["life_cycle"] == "in_service"


@pytest.mark.parametrize("form", [csv_row, plain_row])
@pytest.mark.parametrize("mode", [Mode.UPSERT, Mode.SKIP])
def test_export_then_import_changes_nothing(form: Any, mode: Mode) -> None:
    current = applied(create(FLEET))
    exported = {table: [form(table, values) for values in rows.values()] for table, rows in current.items()}
    plan = create(exported, current, mode=mode)
    assert plan.errors == ()
    assert plan.changes_nothing


def test_a_csv_file_written_and_read_again_changes_nothing() -> None:
    current = applied(create(FLEET))
    exported: Rows = {}
    for table, rows in current.items():
        file = io.StringIO()
        writer = csv.DictWriter(file, [column.name for column in SCHEMAS[table].columns])
        writer.writeheader()
        writer.writerows(csv_row(table, values) for values in rows.values())
        assert ",=" not in file.getvalue()
        exported[table] = list(csv.DictReader(io.StringIO(file.getvalue())))
    assert create(exported, current, mode=Mode.UPSERT).changes_nothing


@given(text=st.text(max_size=20))
def test_the_guard_against_formulas_is_undone_exactly(text: str) -> None:
    assert cells.unguarded(cells.guarded(text)) == text
    assert not cells.guarded(text).startswith(("=", "+", "-", "@", "\t", "\r"))


@pytest.mark.parametrize("line_break", ["\n", "\r\n"])
def test_a_line_break_within_a_cell_is_the_same_whichever_tool_wrote_it(line_break: str) -> None:
    lines = ["kind,uuid,note", f'accelerator,GPU-8,"third shelf,{line_break}left"', ""]
    rows = decode(line_break.join(lines).encode()).rows
    (part,) = applied(plan_import(rows, current={}, mode=Mode.CREATE))[Table.PARTS].values()
    assert part["note"] == "third shelf,\nleft"


def test_an_update_lists_what_changes_and_keeps_columns_that_the_file_lacks() -> None:
    current = applied(create(FLEET))
    plan = create({Table.NODES: [{"name": "n1", "rack": "R7"}]}, current, mode=Mode.UPSERT)
    (update,) = plan.tables[0].updated
    assert update.changes == {"rack": ("=A1", "R7")}
    assert update.values["domain"] == "d1"
    emptied = create({Table.NODES: [{"name": "n1", "domain": ""}]}, current, mode=Mode.UPSERT)
    assert emptied.tables[0].updated[0].changes == {"domain": ("d1", "")}


def test_create_refuses_what_exists_and_skip_passes_it_over() -> None:
    current = applied(create(FLEET))
    rows: Rows = {Table.NODES: [{"name": "n1", "rack": "R7"}, {"name": "n9"}]}
    assert found(create(rows, current)) == [("nodes", 1, "name", "exists")]
    plan = create(rows, current, mode=Mode.SKIP)
    assert plan.tables[0].skipped == (("n1",),)
    assert [one.key for one in plan.tables[0].created] == [("n9",)]


def test_ten_thousand_rows_with_one_wrong_name_that_one() -> None:
    rows: Rows = {Table.NODES: [{"name": f"n{n}", "index": n} for n in range(10_000)]}
    rows[Table.NODES][7_776]["index"] = "many"
    plan = create(rows)
    (error,) = plan.errors
    assert (error.row, error.column, error.value) == (7_777, "index", "many")
    assert error.message == "index must be a number"
    assert plan.field_errors()[0].pointer == "/nodes/7777/index"


def test_every_error_of_every_row_is_found_at_once() -> None:
    rows: Rows = {
        Table.NODES: [
            {"name": "bad name", "domain": "ghost"},
            {"name": "a", "domain": "ghost", "index": -1, "life_cycle": "lost"},
            {"rack": "R1"},
        ],
        Table.ACCELERATORS: [{"node": "a", "index": 0}, {"node": "b", "index": 9999}],
    }
    assert found(create(rows)) == [
        ("nodes", 1, "name", "bad_value"),
        ("nodes", 2, "index", "bad_value"),
        ("nodes", 2, "life_cycle", "bad_value"),
        ("nodes", 2, "domain", "unknown_domain"),
        ("nodes", 3, "name", "required"),
        ("accelerators", 2, "index", "bad_value"),
    ]


@pytest.mark.parametrize(
    ("table", "row", "expected"),
    [
        (Table.NODES, {"name": "n1", "domain": "d2"}, ("nodes", 4, "domain", "two_domains")),
        (Table.NODES, {"name": "n2", "domain": "d2"}, ("nodes", 4, "name", "row_twice")),
        (Table.NODES, {"name": "n4", "serial": "X1"}, ("nodes", 4, "serial", "not_unique")),
        (Table.NODES, {"name": "n4", "aliases": "n3"}, ("nodes", 4, "aliases", "not_unique")),
        (Table.NODES, {"name": "n4", "rack": "a\x00b"}, ("nodes", 4, "rack", "bad_value")),
        (Table.NODES, {"name": "n4", "rack": {"a": 1}}, ("nodes", 4, "rack", "bad_value")),
        (
            Table.ACCELERATORS,
            {"node": "n2", "index": 0, "sub_domain": "s1"},
            ("accelerators", 3, "sub_domain", "unknown_sub_domain"),
        ),
        (
            Table.ACCELERATORS,
            {"node": "n2", "index": 0, "uuid": "GPU-1"},
            ("accelerators", 3, "uuid", "not_unique"),
        ),
        (
            Table.ACCELERATORS,
            {"node": "ghost", "index": 0},
            ("accelerators", 3, "node", "unknown_node"),
        ),
        (Table.NODES, {"name": "--all"}, ("nodes", 4, "name", "bad_value")),
        (Table.NODES, {"name": "#n2"}, ("nodes", 4, "name", "bad_value")),
        (Table.NODES, {"name": "n\N{ZERO WIDTH SPACE}1"}, ("nodes", 4, "name", "bad_value")),
        (
            Table.LINKS,
            {"upper": "leaf", "lower": "n2", "unidirectional_bytes_per_s": -1},
            ("links", 4, "unidirectional_bytes_per_s", "bad_value"),
        ),
        (
            Table.LINKS,
            {"upper": "leaf", "lower": "n2", "unidirectional_bytes_per_s": "inf"},
            ("links", 4, "unidirectional_bytes_per_s", "bad_value"),
        ),
        (
            Table.LINKS,
            {"upper": "leaf", "lower": "n2", "unidirectional_bytes_per_s": 1e16},
            ("links", 4, "unidirectional_bytes_per_s", "bad_value"),
        ),
        (
            Table.LINKS,
            {"upper": "leaf", "unidirectional_bytes_per_s": 1},
            ("links", 4, "lower", "required"),
        ),
        (
            Table.LINKS,
            {"upper": "ghost", "lower": "n2", "unidirectional_bytes_per_s": 1},
            ("links", 4, "upper", "unknown_switch"),
        ),
        (
            Table.LINKS,
            {"upper": "leaf", "lower": "n1/7", "unidirectional_bytes_per_s": 1},
            ("links", 4, "lower", "unknown_end"),
        ),
    ],
)
def test_each_fault_is_named_with_row_and_column(
    table: Table, row: dict[str, Any], expected: tuple[str, int, str, str]
) -> None:
    assert found(create(with_row(table, **row))) == [expected]


def test_a_ring_of_switches_is_refused() -> None:
    plan = create(with_row(Table.LINKS, upper="leaf", lower="spine", unidirectional_bytes_per_s=1))
    assert ("links", 4, "lower", "cycle") in found(plan)
    assert ("links", 4, "lower", "tier_order") in found(plan)


def test_a_wrong_column_is_told_once_with_the_one_that_may_be_meant() -> None:
    plan = create({Table.NODES: [{"name": "a", "domian": "d"}, {"name": "b", "domian": "d"}]})
    (error,) = plan.errors
    assert (error.row, error.code) == (0, "unknown_column")
    assert "domain may be meant" in error.message


def test_a_wrong_column_that_not_all_rows_have_is_told_at_the_first_that_has_it() -> None:
    plan = create({Table.NODES: [{"name": "a"}, {"name": "b", "domian": "d"}, {"name": "c", "domian": "d"}]})
    assert found(plan) == [("nodes", 2, "domian", "unknown_column")]


def test_columns_of_another_tool_are_mapped_and_the_rest_is_ignored() -> None:
    rows: Rows = {Table.NODES: [{"Device": "n7", "Rack": "R1", "Tenant": "x"}]}
    plan = create(rows, columns={Table.NODES: {"Device": "name", "Rack": "rack"}})
    assert plan.tables[0].created[0].values["rack"] == "R1"
    wrong = create(rows, columns={Table.NODES: {"Device": "name", "Rack": "shelf"}})
    assert found(wrong) == [("nodes", 0, "shelf", "unknown_column")]


def test_the_fleet_that_is_there_counts_for_names_and_uniqueness() -> None:
    current = applied(create(FLEET))
    rows: Rows = {Table.NODES: [{"name": "n9", "domain": "d1", "serial": "X1"}]}
    assert found(create(rows, current)) == [("nodes", 1, "serial", "not_unique")]
