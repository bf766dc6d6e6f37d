"""What an import writes of boards and cards: where parts are, and swaps that its rows show."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator
from datetime import datetime

from apps.fleet.engine.importing import ImportPlan, TablePlan, Updated
from apps.fleet.engine.part_life import PartStage
from apps.fleet.engine.tables import SCHEMAS, Key, Table, Values
from apps.fleet.models import Accelerator, Cluster, HardwareChange, Node, Part, PartKind
from apps.fleet.services.parts import Identity

_BATCH = 2000
_PLAIN = ("kind", "serial", "uuid", "model", "stage", "slot", "note")


def write_parts(cluster: Cluster, plan: TablePlan, at: datetime) -> None:
    """Write the rows of the table of parts."""
    names = {row.values["node"] for row in [*plan.created, *plan.updated]}
    nodes = dict(Node.objects.filter(cluster=cluster, name__in=names).values_list("name", "pk"))
    Part.objects.bulk_create(
        [_filled(Part(cluster=cluster, changed_at=at), row.values, nodes) for row in plan.created],
        batch_size=_BATCH,
    )
    there = _parts_by_key(cluster)
    touched = []
    for row in plan.updated:
        part = _filled(there[row.key], row.values, nodes)
        part.version += 1
        part.changed_at = at if "stage" in row.changes else part.changed_at
        touched.append(part)
    Part.objects.bulk_update(touched, [*_PLAIN, "node", "changed_at", "version"], batch_size=500)


def _filled(part: Part, values: Values, nodes: dict[str, int]) -> Part:
    for name in _PLAIN:
        setattr(part, name, values[name])
    part.node_id = nodes.get(str(values["node"]))
    return part


def _parts_by_key(cluster: Cluster) -> dict[Key, Part]:
    key_of = SCHEMAS[Table.PARTS].key_of
    parts = Part.objects.filter(cluster=cluster)
    return {key_of({"kind": one.kind, "serial": one.serial, "uuid": one.uuid}): one for one in parts}


def write_swaps(cluster: Cluster, plan: ImportPlan, at: datetime) -> None:
    """Note boards and cards that rows put in the place of others, as a report of their nodes would.

    After the rows are written. Parts that the import names itself stay as it says.
    """
    tables = {one.table: one for one in plan.tables}
    given = [*_updated(tables, Table.NODES), *_updated(tables, Table.ACCELERATORS)]
    swapped = [row for row in given if _swapped(row)]
    if not swapped:
        return
    names = {str(row.key[0]) for row in swapped}
    nodes = dict(Node.objects.filter(cluster=cluster, name__in=names).values_list("name", "pk"))
    rows = [(nodes[str(row.key[0])], row) for row in swapped]
    HardwareChange.objects.bulk_create(
        [
            HardwareChange(node_id=node, slot=slot, what=what, before=before, after=after, seen_at=at)
            for node, row in rows
            for slot, what, before, after in _swapped(row)
        ],
        batch_size=_BATCH,
    )
    named = tables.get(Table.PARTS)
    own = {row.key for row in [*named.created, *named.updated]} if named else set()
    _note_moves(cluster, rows, own, at)


def _updated(tables: dict[Table, TablePlan], table: Table) -> tuple[Updated, ...]:
    return tables[table].updated if table in tables else ()


def _swapped(row: Updated) -> list[tuple[str, str, str, str]]:
    """(slot, what, before, after) of each part of the identity that is another."""
    places = {
        "serial": (_slot(row), "serial"),
        "uuid": (_slot(row), "uuid"),
        "system_serial": ("system", "serial"),
    }
    changes = ((place, *row.changes[name]) for name, place in places.items() if name in row.changes)
    return [(*place, str(before), str(after)) for place, before, after in changes if before and after]


def _slot(row: Updated) -> str:
    return str(row.key[1]) if len(row.key) > 1 else PartKind.BOARD.value


def _note_moves(
    cluster: Cluster, rows: Iterable[tuple[int, Updated]], own: Collection[Key], at: datetime
) -> None:
    """What left waits for a decision, unless it is in another node by now; what came is installed."""
    there, in_nodes, key_of = _parts_by_key(cluster), _in_nodes(cluster), SCHEMAS[Table.PARTS].key_of
    fresh, touched = [], []
    for node, row in rows:
        slot = _slot(row)
        if all(place != slot for place, *_change in _swapped(row)):
            continue  # the machine alone, which is no part with a stage
        old, new = _identity(row, slot, is_new=False), _identity(row, slot, is_new=True)
        moves = [(new, PartStage.INSTALLED)]
        moves += [] if in_nodes & set(_marks(old)) else [(old, PartStage.REMOVED)]
        for one, stage in moves:
            key = key_of({"kind": one.kind.value, "serial": one.serial, "uuid": one.uuid})
            part = there.get(key)
            if key in own or (part is None and stage == PartStage.INSTALLED):
                continue
            if part is None:
                names = {"kind": one.kind, "model": one.model, "serial": one.serial, "uuid": one.uuid}
                part = there[key] = Part(cluster=cluster, version=0, **names)
                fresh.append(part)
            else:
                touched.append(part)
            part.stage, part.node_id, part.slot, part.changed_at = stage, node, slot, at
            part.version += 1
    Part.objects.bulk_create(fresh, batch_size=_BATCH)
    Part.objects.bulk_update(
        [part for part in touched if part.pk],
        ["stage", "node", "slot", "changed_at", "version"],
        batch_size=500,
    )


def _identity(row: Updated, slot: str, *, is_new: bool) -> Identity:
    """Of what a row had, or has now, in its slot."""
    values = {name: str(row.values.get(name) or "") for name in ("model", "serial", "uuid")}
    if not is_new:
        values |= {name: str(row.changes[name][0] or "") for name in values if name in row.changes}
    kind = PartKind.BOARD if slot == PartKind.BOARD else PartKind.ACCELERATOR
    return Identity(kind=kind, slot=slot, **values)


def _marks(one: Identity) -> Iterator[tuple[str, str]]:
    yield from ((one.kind.value, name) for name in (one.serial, one.uuid) if name)


def _in_nodes(cluster: Cluster) -> set[tuple[str, str]]:
    """Kind with serial number or UUID of everything that is in a node."""
    cards = Accelerator.objects.filter(node__cluster=cluster).values_list("serial", "uuid")
    found = {(PartKind.ACCELERATOR.value, name) for pair in cards.iterator(chunk_size=5000) for name in pair}
    boards = Node.objects.in_use().filter(cluster=cluster).values_list("serial", flat=True)
    return (found | {(PartKind.BOARD.value, serial) for serial in boards}) - {
        (kind.value, "") for kind in PartKind
    }
