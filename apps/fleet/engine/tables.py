"""The tables of a bulk import: their columns, keys and defaults. A row of a table is a mapping from column to cell."""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import TypeAlias

from apps.fleet.engine import cells
from apps.fleet.engine.cells import Reader, Value
from apps.fleet.engine.graph import TopologyKind
from apps.fleet.engine.layout import MAX_LINKS
from apps.fleet.engine.part_life import PartStage

Key: TypeAlias = tuple[Value, ...]
Values: TypeAlias = Mapping[str, Value]

LIFE_CYCLES = ("in_service", "spare", "repair", "retired")
PART_KINDS = ("accelerator", "board")
MAX_INDEX = 1_000_000


class Table(StrEnum):
    """In the order in which they are created."""

    DOMAINS = "domains"
    NODES = "nodes"
    ACCELERATORS = "accelerators"
    SWITCHES = "switches"
    LINKS = "links"  # a count of 0 takes a link away
    PARTS = "parts"  # boards and cards outside of nodes: spares, in repair (RMA)


@dataclass(frozen=True, slots=True, kw_only=True)
class Column:
    """default: what a new row gets where the cell is empty or missing. refers_to: the table of the name in it.

    is_json: its value is a line of JSON, which JSON and YAML files hold as an object.
    """

    name: str
    read: Reader
    required: bool = False
    default: Value = ""
    refers_to: Table | None = None
    is_json: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Schema:
    """key: the columns that say which row is meant. instead: key column → the one that tells where it is empty.
    unique: columns whose value may stand in one row only, or in one of each value of the column `within`.
    counted: the column that takes the row away where it is 0.
    """

    columns: tuple[Column, ...]
    key: tuple[str, ...]
    instead: Mapping[str, str] = field(default_factory=dict)
    unique: tuple[str, ...] = ()
    within: str = ""
    counted: str = ""

    def key_of(self, values: Values) -> Key:
        """Which row these cells mean. They hold the key columns, or what tells instead."""
        if not self.instead:
            return tuple(values[name] for name in self.key)
        return tuple(values.get(name) or values[self.instead.get(name, name)] for name in self.key)

    def is_named(self, values: Values) -> bool:
        """Whether the cells say which row they mean."""
        return all(
            _is_given(values, name) or _is_given(values, self.instead.get(name, name)) for name in self.key
        )


SCHEMAS: Mapping[Table, Schema] = {
    Table.DOMAINS: Schema(
        key=("name",),
        columns=(
            Column(name="name", read=cells.name(120), required=True),
            Column(name="layout", read=cells.name(40), default="free"),
            Column(
                name="topology",
                read=cells.choice([kind.value for kind in TopologyKind]),
                default=TopologyKind.FREE.value,
            ),
            Column(name="accelerator_model", read=cells.text(80)),
            Column(name="sub_domains", read=cells.names(120), default=()),
            Column(name="unidirectional_bytes_per_s", read=cells.bandwidth, default=None),
            Column(name="scale_out_bytes_per_s", read=cells.bandwidth, default=None),
            Column(name="parameters", read=cells.layout, default="{}", is_json=True),
        ),
    ),
    Table.NODES: Schema(
        key=("name",),
        unique=("serial",),
        columns=(
            Column(name="name", read=cells.name(255), required=True),
            Column(name="domain", read=cells.name(120), refers_to=Table.DOMAINS),
            Column(name="index", read=cells.whole(0, MAX_INDEX), default=0),
            Column(name="life_cycle", read=cells.choice(LIFE_CYCLES), default="in_service"),
            Column(name="rack", read=cells.text(80)),
            Column(name="position", read=cells.text(40)),
            Column(name="serial", read=cells.text(120)),
            Column(name="system_serial", read=cells.text(120)),
            Column(name="aliases", read=cells.names(255), default=()),
        ),
    ),
    Table.ACCELERATORS: Schema(
        key=("node", "index"),
        unique=("uuid", "serial"),
        columns=(
            Column(name="node", read=cells.name(255), required=True, refers_to=Table.NODES),
            Column(name="index", read=cells.whole(0, 1023), required=True),
            Column(name="sub_domain", read=cells.name(120)),
            Column(name="model", read=cells.text(120)),
            Column(name="uuid", read=cells.text(80)),
            Column(name="serial", read=cells.text(80)),
            Column(name="bus_id", read=cells.text(20)),
        ),
    ),
    Table.SWITCHES: Schema(
        key=("name",),
        columns=(
            Column(name="name", read=cells.name(120), required=True),
            Column(name="domain", read=cells.name(120), refers_to=Table.DOMAINS),
            Column(name="tier", read=cells.whole(1, 99), default=1),
            Column(name="index", read=cells.whole(0, MAX_INDEX), default=0),
            Column(name="ports", read=cells.whole(1, 100_000), default=None),
        ),
    ),
    Table.LINKS: Schema(
        key=("upper", "lower"),
        counted="count",
        columns=(
            Column(name="upper", read=cells.name(120), required=True, refers_to=Table.SWITCHES),
            Column(name="lower", read=cells.text(300), required=True),
            Column(name="count", read=cells.whole(0, MAX_LINKS), default=1),
            Column(name="unidirectional_bytes_per_s", read=cells.bandwidth, default=None),
            Column(name="optical", read=cells.boolean, default=False),
        ),
    ),
    Table.PARTS: Schema(
        key=("kind", "serial"),
        instead={"serial": "uuid"},
        unique=("serial", "uuid"),
        within="kind",
        columns=(
            Column(name="kind", read=cells.choice(PART_KINDS), required=True),
            Column(name="serial", read=cells.text(120)),
            Column(name="uuid", read=cells.text(80)),
            Column(name="model", read=cells.text(120)),
            Column(
                name="stage",
                read=cells.choice([stage.value for stage in PartStage]),
                default=PartStage.SPARE.value,
            ),
            Column(name="node", read=cells.name(255), refers_to=Table.NODES),
            Column(name="slot", read=cells.text(40)),
            Column(name="note", read=cells.text(300)),
        ),
    ),
}


def _is_given(values: Values, name: str) -> bool:
    return values.get(name) not in ("", None)


def csv_row(table: Table, values: Values) -> dict[str, str]:
    """One row as CSV cells, in the order of the columns; importing it changes nothing."""
    return {one.name: cells.as_csv(values[one.name]) for one in SCHEMAS[table].columns}


def plain_row(table: Table, values: Values) -> dict[str, object]:
    """One row for JSON or YAML, in the order of the columns; importing it changes nothing."""
    row: dict[str, object] = {}
    for one in SCHEMAS[table].columns:
        value: object = values[one.name]
        if one.is_json:
            value = json.loads(str(value))
        row[one.name] = list(value) if isinstance(value, tuple) else value
    return row
