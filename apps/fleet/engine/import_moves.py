"""Stages in an import: nodes and parts move as they do by hand, and parts are where they are said to be.

A row that keeps its stage and place is not judged, so that an export imports again whatever the rules were before.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from apps.core.texts import say
from apps.fleet.engine import life_cycle, part_life
from apps.fleet.engine.import_checks import Fleet, Given, RowError
from apps.fleet.engine.part_life import PartStage
from apps.fleet.engine.tables import Key, Table, Values

_PLACE = ("stage", "node", "slot")
BOARD = "board"

Places = dict[tuple[str, str], tuple[str, str]]


def node_moves(
    before: Fleet, after: Fleet, given: Given, held: Mapping[str, frozenset[str]]
) -> Iterator[RowError]:
    """Nodes that may not move to the stage that their row names. held: node → kinds of its active holds."""
    was = before.get(Table.NODES, {})
    for key, number in given.get(Table.NODES, {}).items():
        old, new = was.get(key), after[Table.NODES].get(key)
        if old is None or new is None or old["life_cycle"] == new["life_cycle"]:
            continue
        holds = held.get(str(key[0]), frozenset())
        now, to = str(old["life_cycle"]), str(new["life_cycle"])
        if why_not := life_cycle.refusal(now=now, to=to, holds=holds):
            yield RowError(row=number, column="life_cycle", value=to, message=why_not, code="life_cycle")


def part_moves(before: Fleet, after: Fleet, given: Given) -> Iterator[RowError]:
    """Parts that may not move to the stage that their row names, or that are somewhere else."""
    rows = given.get(Table.PARTS, {})
    if not rows:
        return
    places, was = _places(after), before.get(Table.PARTS, {})
    for key, number in rows.items():
        old, new = was.get(key), after[Table.PARTS].get(key)
        if new is None or (old is not None and all(old[name] == new[name] for name in _PLACE)):
            continue
        for column, code, message in _faults(old, new, _place_of(new, places), shown=_shown(key)):
            value = str(new[column])[:80]
            yield RowError(row=number, column=column, value=value, message=message, code=code)


def _faults(
    old: Values | None, new: Values, place: tuple[str, str] | None, *, shown: str
) -> Iterator[tuple[str, str, str]]:
    """(column, code, message) of each thing that is wrong with a part that is new or moves."""
    stage = str(new["stage"])
    if new["kind"] == BOARD and not new["serial"]:
        yield "serial", "required", say("a board is known by its serial number")
    elif stage != PartStage.INSTALLED and place is not None:
        yield "stage", "part_installed", _in_slot(shown, place)
    elif stage == PartStage.INSTALLED and place != (new["node"], new["slot"]):
        where = _in_slot(shown, place) if place else say("%(part)s is in no node", part=shown)
        yield "node", "part_elsewhere", where
    if old is None or old["stage"] == stage:
        return
    if why_not := part_life.refusal(now=str(old["stage"]), to=stage):
        yield "stage", "part_life", why_not
    elif not new["note"]:
        yield "note", "required", say("a part that moves needs a note that says why")


def _in_slot(part: str, place: tuple[str, str]) -> str:
    return say("%(part)s is in slot %(slot)s of node %(node)s", part=part, slot=place[1], node=place[0])


def _places(after: Fleet) -> Places:
    """(kind, serial number or UUID) → (node, slot) of everything that is in a node."""
    found: Places = {}
    for key, card in after[Table.ACCELERATORS].items():
        for name in ("serial", "uuid"):
            found.setdefault(("accelerator", str(card[name])), (str(key[0]), str(key[1])))
    for key, node in after[Table.NODES].items():
        if node["life_cycle"] != "retired":
            found.setdefault((BOARD, str(node["serial"])), (str(key[0]), BOARD))
    return found


def _place_of(part: Values, places: Places) -> tuple[str, str] | None:
    names = [str(part[name]) for name in ("serial", "uuid") if part[name]]
    return next((places[str(part["kind"]), one] for one in names if (str(part["kind"]), one) in places), None)


def _shown(key: Key) -> str:
    return f"{key[0]} {key[1]}"
