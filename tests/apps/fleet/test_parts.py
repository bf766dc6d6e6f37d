"""Spares, repairs and what swaps leave over."""

from __future__ import annotations

import threading

import pytest
from django.db import connection, transaction

from apps.audit.models import AuditEvent
from apps.core.actor import system
from apps.core.errors import Conflict, Invalid, Stale
from apps.fleet import services
from apps.fleet.engine.part_life import PartStage
from apps.fleet.models import Accelerator, HardwareChange, Node, Part, PartKind
from tests import factories

pytestmark = pytest.mark.django_db


def with_cards(cluster, name, *serials):
    """A node that reported cards of these serial numbers."""
    node = factories.node(cluster, name, accelerators=len(serials))
    report(node, *serials)
    return node


def report(node, *serials):
    cards = [{"serial": one, "uuid": f"GPU-{one}"} for one in serials]
    return services.note_hardware(node_id=node.pk, cards=cards)


def shelf(cluster, serial="S9", **more):
    return services.add_spare(
        actor=system(), cluster_id=cluster.pk, kind=PartKind.ACCELERATOR, serial=serial, **more
    )


def test_a_card_that_was_swapped_out_waits_for_a_decision(cluster):
    node = with_cards(cluster, "n1", "A", "B")
    report(node, "A", "C")
    part = Part.objects.get()
    assert (part.stage, part.serial, part.uuid, part.node, part.slot) == ("removed", "B", "GPU-B", node, "1")


def test_a_spare_that_a_node_reports_is_installed(cluster):
    node, spare = with_cards(cluster, "n1", "A", "B"), shelf(cluster, "C")
    report(node, "A", "C")
    spare.refresh_from_db()
    assert (spare.stage, spare.node, spare.slot, spare.version) == ("installed", node, "1", 2)


def test_cards_that_changed_places_in_one_node_have_not_left_it(cluster):
    node = with_cards(cluster, "n1", "A", "B")
    assert len(report(node, "B", "A")) == 4
    assert not Part.objects.exists()


@pytest.mark.parametrize("first", ["giver", "taker"])
def test_a_card_that_moved_to_another_node_is_not_left_over(cluster, first):
    giver, taker = with_cards(cluster, "n1", "A"), with_cards(cluster, "n2", "B")
    reports = [lambda: report(giver, "C"), lambda: report(taker, "A")]
    for one in reports if first == "giver" else reversed(reports):
        one()
    assert not Part.objects.filter(serial="A").exclude(stage=PartStage.INSTALLED).exists()
    assert Part.objects.get(serial="B").stage == PartStage.REMOVED


def test_a_board_that_was_swapped_out_and_put_back_is_followed(cluster):
    node = factories.node(cluster, "n1")
    for serial in ("B1", "B2"):
        services.note_hardware(node_id=node.pk, cards=[], board_serial=serial)
    part = Part.objects.get()
    assert (part.kind, part.serial, part.stage) == (PartKind.BOARD, "B1", PartStage.REMOVED)
    services.note_hardware(node_id=node.pk, cards=[], board_serial="B1")
    part.refresh_from_db()
    assert part.stage == PartStage.INSTALLED
    assert Part.objects.get(serial="B2").stage == PartStage.REMOVED


def test_a_card_that_fell_off_the_bus_is_no_swap(cluster):
    node = factories.node(cluster, "n1", accelerators=2)
    cards = [{"serial": "A", "bus_id": "0000:0f:00.0"}, {"serial": "B", "bus_id": "0000:2d:00.0"}]
    services.note_hardware(node_id=node.pk, cards=cards)
    assert services.note_hardware(node_id=node.pk, cards=cards[1:]) == []
    assert not HardwareChange.objects.exists()


def test_another_card_does_not_keep_the_serial_number_of_the_old_one(cluster):
    node = with_cards(cluster, "n1", "A")
    services.note_hardware(node_id=node.pk, cards=[{"uuid": "GPU-X"}])
    card = Accelerator.objects.get(node=node)
    assert (card.uuid, card.serial) == ("GPU-X", "")
    assert Part.objects.get().serial == "A"


def test_a_card_is_sent_to_repair_and_comes_back_as_a_spare(cluster, bo, actor_for):
    part = shelf(cluster)
    for version, (to, reason) in enumerate([(PartStage.REPAIR, "RMA 4711"), (PartStage.SPARE, "is back")], 1):
        part = services.move_part(
            actor=actor_for(bo), part_id=part.pk, expected_version=version, to=to, reason=reason
        )
        assert (part.stage, part.note) == (to, reason)
    assert list(
        AuditEvent.objects.filter(action__startswith="part.").values_list("action", flat=True).order_by("pk")
    ) == [
        "part.added",
        "part.moved",
        "part.moved",
    ]


def test_nobody_declares_a_part_installed(cluster, bo, actor_for):
    part = shelf(cluster)
    with pytest.raises(Conflict, match="a part that is spare can become repair, retired"):
        services.move_part(
            actor=actor_for(bo), part_id=part.pk, expected_version=1, to=PartStage.INSTALLED, reason="x"
        )


def test_a_move_needs_a_reason_and_the_newest_version(cluster, bo, actor_for):
    part = shelf(cluster)
    values = {"actor": actor_for(bo), "part_id": part.pk, "to": PartStage.REPAIR}
    with pytest.raises(Invalid):
        services.move_part(**values, expected_version=1, reason=" ")
    with pytest.raises(Stale):
        services.move_part(**values, expected_version=2, reason="x")


def test_a_spare_has_an_identity_of_its_own(cluster):
    with_cards(cluster, "n1", "A")
    shelf(cluster, "C")
    with pytest.raises(Conflict) as known:
        shelf(cluster, "C")
    with pytest.raises(Conflict) as installed:
        shelf(cluster, "A")
    assert (known.value.code, installed.value.code) == ("part_known", "part_installed")
    with pytest.raises(Invalid):
        shelf(cluster, " ")


def test_the_page_shelves_and_moves(cluster, bo, client_of):
    client, page = client_of(bo), f"/clusters/{cluster.slug}/parts/"
    assert b"No spares" in client.get(page).content
    client.post(page, {"kind": "accelerator", "serial": "S1"})
    part = Part.objects.get()
    client.post(f"{page}{part.pk}/move/", {"to": "repair", "reason": "RMA 4711", "version": part.version})
    assert b"RMA 4711" in client.get(page).content
    refused = client.post(f"{page}{part.pk}/move/", {"to": "installed", "reason": "x", "version": 2})
    assert refused.status_code == 400
    assert b"can become" in refused.content


def test_the_list_needs_as_many_queries_for_many_parts(cluster, bo, client_of, api, assert_constant_queries):
    def grow() -> None:
        for _number in range(10):
            shelf(cluster, f"S{Part.objects.count()}")

    grow()
    client, caller = client_of(bo), api(bo)
    assert_constant_queries(lambda: client.get(f"/clusters/{cluster.slug}/parts/?per_page=200"), grow)
    assert_constant_queries(lambda: caller.get("/api/v1/parts/?limit=500"), grow)


def test_cards_that_two_nodes_report_are_noted_at_both(cluster, other_cluster):
    with_cards(other_cluster, "far", "A", "B")
    with_cards(cluster, "gone", "A")
    Node.objects.filter(name="gone").update(life_cycle="retired")
    first, second = with_cards(cluster, "n1", "A", "B"), factories.node(cluster, "n2", accelerators=2)
    [noted] = report(second, "A", "B")
    assert (noted.what, noted.before, noted.after) == ("twin", "n1", "GPU-A, GPU-B")
    assert "n2" in first.hardware_changes.get().sentence
    assert report(second, "A", "B") == []
    with_cards(cluster, "n3", *"PQRSTUVW")
    many = report(factories.node(cluster, "n4", accelerators=8), *"PQRSTUVW")
    assert [one.after for one in many] == ["GPU-P, GPU-Q, …"]


@pytest.mark.postgres
def test_nodes_that_report_the_same_cards_at_the_same_moment_are_both_told(committed_database):
    cluster = factories.cluster()
    nodes = [factories.node(cluster, name, accelerators=1) for name in ("n1", "n2")]

    def second() -> None:
        report(nodes[1], "A")
        connection.close()

    with transaction.atomic(), connection.cursor() as cursor:
        report(nodes[0], "A")
        other = threading.Thread(target=second)
        other.start()
        waits = 0  # until it waits for this one, or is through without having seen it
        while other.is_alive() and not waits:
            other.join(timeout=0.01)
            cursor.execute(
                "SELECT count(*) FROM pg_locks WHERE NOT granted AND transactionid = pg_current_xact_id()::xid"
            )
            waits = cursor.fetchone()[0]
    other.join(timeout=30)
    assert {change.node_id for change in HardwareChange.objects.all()} == {node.pk for node in nodes}


def test_cards_without_uuid_are_known_by_serial_and_blanked_ones_say_nothing(cluster):
    first, second, third = (factories.node(cluster, f"n{number}", accelerators=1) for number in range(3))
    blank = [{"uuid": "GPU-00000000-0000-0000-0000-000000000001", "serial": "1320000000001"}]
    assert [services.note_hardware(node_id=node.pk, cards=blank) for node in (first, second)] == [[], []]
    services.note_hardware(node_id=third.pk, cards=[{"serial": "S1"}])
    fourth = factories.node(cluster, "n4", accelerators=1)
    [noted] = services.note_hardware(node_id=fourth.pk, cards=[{"serial": "S1"}])
    assert (noted.before, noted.after) == ("n2", "S1")
