"""Spares, repairs and swaps in bulk imports and exports."""

from __future__ import annotations

import json

import pytest

from apps.core.actor import system
from apps.fleet import services
from apps.fleet.engine.tables import Table
from apps.fleet.models import HardwareChange, Part, PartKind
from apps.fleet.queries import imports as queries
from apps.fleet.queries.exports import export
from apps.fleet.services import imports

pytestmark = pytest.mark.django_db

FLEET = {
    "nodes": [{"name": "n1", "serial": "B1", "system_serial": "M1"}],
    "accelerators": [{"node": "n1", "index": 0, "serial": "A0", "uuid": "GPU-A0", "model": "h100"}],
}


def receive(cluster, tables):
    data = tables if isinstance(tables, bytes) else json.dumps(tables).encode()
    return imports.receive_import(actor=system(), cluster_id=cluster.pk, data=data)


def take(cluster, tables):
    """Import and apply; wrong rows are an error of the test."""
    row = receive(cluster, tables)
    assert queries.outcomes(row, fate="error") == []
    return imports.apply_import(actor=system(), import_id=row.pk, expected_version=row.version)


def codes(cluster, **part):
    row = receive(cluster, {"parts": [{"kind": "accelerator", "serial": "S1"} | part]})
    return [one["code"] for one in queries.outcomes(row, fate="error")]


@pytest.fixture
def fleet(cluster):
    take(cluster, FLEET)
    return cluster


@pytest.fixture
def with_parts(fleet):
    """A spare, one in repair, one that left its node, and one that a node took."""
    for serial in ("S1", "S2", "S3"):
        services.add_spare(actor=system(), cluster_id=fleet.pk, kind=PartKind.ACCELERATOR, serial=serial)
    part = Part.objects.get(serial="S2")
    services.move_part(actor=system(), part_id=part.pk, expected_version=1, to="repair", reason="RMA 4711")
    services.note_hardware(node_id=fleet.nodes.get().pk, cards=[{"serial": "S3", "uuid": "GPU-S3"}])
    assert sorted(Part.objects.values_list("stage", flat=True)) == ["installed", "removed", "repair", "spare"]
    return fleet


def file_of(cluster, form, table=None):
    return b"".join(export(cluster, form=form, table=table).chunks)


@pytest.mark.parametrize(("form", "table"), [("json", None), ("yaml", None), ("csv", Table.PARTS)])
def test_exported_parts_import_again_unchanged(form, table, with_parts):
    row = receive(with_parts, file_of(with_parts, form, table))
    assert (row.counts["parts"]["unchanged"], row.error_count, row.changes_anything) == (4, 0, False)


def test_a_fleet_with_its_parts_is_the_same_in_another_cluster(with_parts, other_cluster):
    take(other_cluster, file_of(with_parts, "json"))
    assert json.loads(file_of(other_cluster, "json")) == json.loads(file_of(with_parts, "json"))


def test_a_list_of_serial_numbers_is_a_shelf_of_spares(fleet):
    take(fleet, b"kind,serial,model\naccelerator,S1,h100\nboard,B9,\n")
    assert set(Part.objects.values_list("serial", "stage")) == {("S1", "spare"), ("B9", "spare")}


def test_a_part_goes_to_repair_by_a_file_that_says_why(fleet):
    take(fleet, b"kind,serial\naccelerator,S1\n")
    assert codes(fleet, stage="repair") == ["required"]
    take(fleet, b"kind,serial,stage,note\naccelerator,S1,repair,RMA 1\n")
    part = Part.objects.get()
    assert (part.stage, part.note, part.version) == ("repair", "RMA 1", 2)


@pytest.mark.parametrize(
    ("part", "code"),
    [
        ({"serial": ""}, "required"),
        ({"kind": "fan"}, "bad_value"),
        ({"stage": "lost"}, "bad_value"),
        ({"kind": "board", "serial": "", "uuid": "GPU-1"}, "required"),
        ({"serial": "A0"}, "part_installed"),
        ({"kind": "board", "serial": "B1"}, "part_installed"),
        ({"stage": "installed", "node": "n1", "slot": "0"}, "part_elsewhere"),
        ({"node": "n9"}, "unknown_node"),
    ],
)
def test_a_part_that_cannot_be_is_named(part, code, fleet):
    assert codes(fleet, **part) == [code]


def test_a_file_does_not_declare_a_spare_installed(with_parts):
    assert codes(with_parts, stage="installed", note="x") == ["part_elsewhere", "part_life"]


def test_two_rows_of_one_uuid_are_one_too_many(fleet):
    parts = [{"kind": "accelerator", "serial": serial, "uuid": "GPU-1"} for serial in ("S1", "S2")]
    row = receive(fleet, {"parts": parts})
    assert [(one["row"], one["code"]) for one in queries.outcomes(row, fate="error")] == [(2, "not_unique")]


def test_a_swap_that_a_file_shows_is_noticed(fleet):
    services.add_spare(actor=system(), cluster_id=fleet.pk, kind=PartKind.ACCELERATOR, serial="A1")
    take(
        fleet,
        {
            "nodes": [{"name": "n1", "serial": "B2"}],
            "accelerators": [{"node": "n1", "index": 0, "serial": "A1", "uuid": "GPU-A1"}],
        },
    )
    assert set(HardwareChange.objects.values_list("slot", "what", "before", "after")) == {
        ("board", "serial", "B1", "B2"),
        ("0", "serial", "A0", "A1"),
        ("0", "uuid", "GPU-A0", "GPU-A1"),
    }
    assert set(Part.objects.values_list("serial", "uuid", "stage", "slot")) == {
        ("A0", "GPU-A0", "removed", "0"),
        ("A1", "", "installed", "0"),
        ("B1", "", "removed", "board"),
    }


def test_another_machine_under_the_same_name_is_noticed(cluster):
    take(cluster, {"nodes": [{"name": "n1", "system_serial": "M1"}]})
    take(cluster, {"nodes": [{"name": "n1", "system_serial": "M2"}]})
    assert list(HardwareChange.objects.values_list("slot", "what", "before", "after")) == [
        ("system", "serial", "M1", "M2")
    ]
    assert not Part.objects.exists()


def test_a_file_says_itself_what_becomes_of_the_card_that_left(fleet):
    take(
        fleet,
        {
            "accelerators": [{"node": "n1", "index": 0, "serial": "A1"}],
            "parts": [{"kind": "accelerator", "serial": "A0", "stage": "repair", "note": "RMA 9"}],
        },
    )
    assert list(Part.objects.values_list("serial", "stage", "note")) == [("A0", "repair", "RMA 9")]


def test_a_first_serial_number_is_no_swap(cluster):
    take(cluster, {"nodes": [{"name": "n1"}]})
    take(cluster, {"nodes": [{"name": "n1", "serial": "B1"}]})
    assert not HardwareChange.objects.exists()
    assert not Part.objects.exists()


def test_cards_that_changed_nodes_have_not_left(cluster):
    cards = [{"node": name, "index": 0, "serial": serial} for name, serial in (("n1", "A"), ("n2", "B"))]
    take(cluster, {"nodes": [{"name": "n1"}, {"name": "n2"}], "accelerators": cards})
    swapped = [card | {"serial": serial} for card, serial in zip(cards, ("B", "A"), strict=True)]
    take(cluster, {"accelerators": swapped})
    assert HardwareChange.objects.count() == 2
    assert not Part.objects.exists()
