"""Nodes: their life, their holds, their names, and the state that follows."""

from __future__ import annotations

import itertools

import pytest
from django.db import IntegrityError, transaction

from apps.core import clock
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from apps.fleet import queries, services
from apps.fleet.engine.life_cycle import MOVES, Stage, refusal
from apps.fleet.engine.node_state import NodeState, derive
from apps.fleet.models import HardwareChange, Hold, HoldKind, LifeCycle, Node, NodeHealth, Part
from tests import factories

pytestmark = pytest.mark.django_db


def held(node: Node, kind: HoldKind, **fields) -> Hold:
    return Hold.objects.create(node=node, kind=kind, reason="x", by_label="x", since=clock.now(), **fields)


def test_the_filter_of_states_agrees_with_how_states_are_derived(cluster):
    kinds = [None, *HoldKind]
    for life, health, kind in itertools.product(LifeCycle, NodeHealth, kinds):
        node = factories.node(cluster, life_cycle=life, health=health)
        if kind:
            held(node, kind)
            held(node, HoldKind.QUARANTINE if kind != HoldKind.QUARANTINE else HoldKind.CHANGE)
    for node in Node.objects.all():
        state = derive(
            life_cycle=node.life_cycle,
            health=node.health,
            holds=frozenset(node.holds.values_list("kind", flat=True)),
        )
        found = [one for one in NodeState if Node.objects.filter(queries.in_state(one), pk=node.pk).exists()]
        assert found == [state], (node.life_cycle, node.health)


def test_a_node_goes_to_repair_and_comes_back(cluster, bo, actor_for):
    node = factories.node(cluster)
    moved = services.move_node(
        actor=actor_for(bo), node_id=node.pk, expected_version=1, to=Stage.REPAIR, reason="board"
    )
    assert (moved.life_cycle, queries.state_of(moved)) == ("repair", NodeState.MAINTENANCE)
    back = services.move_node(
        actor=actor_for(bo), node_id=node.pk, expected_version=2, to=Stage.IN_SERVICE, reason="new board"
    )
    assert back.life_cycle == "in_service"


def test_a_move_needs_a_reason_and_the_version_seen(cluster, bo, actor_for):
    node = factories.node(cluster)
    values = {"actor": actor_for(bo), "node_id": node.pk, "to": Stage.SPARE}
    with pytest.raises(Invalid):
        services.move_node(**values, expected_version=1, reason=" ")
    with pytest.raises(Stale):
        services.move_node(**values, expected_version=7, reason="x")


def test_a_node_in_training_leaves_service_only_after_it(cluster, bo, actor_for):
    node = factories.node(cluster)
    held(node, HoldKind.TRAINING)
    with pytest.raises(Conflict) as refused:
        services.move_node(
            actor=actor_for(bo), node_id=node.pk, expected_version=1, to=Stage.SPARE, reason="x"
        )
    assert "training" in refused.value.message


def test_a_quarantined_node_may_go_to_repair_but_not_retire():
    held = frozenset({"quarantine"})
    assert refusal(now="in_service", to="repair", holds=held) == ""
    assert "quarantine" in refusal(now="in_service", to="retired", holds=held)


def test_a_retired_node_comes_back_as_a_spare_only():
    assert MOVES[Stage.RETIRED] == (Stage.SPARE,)
    assert "spare" in refusal(now="retired", to="in_service", holds=frozenset())


def test_somebody_quarantines_a_node_and_releases_it(cluster, bo, actor_for):
    node = factories.node(cluster)
    hold = services.hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="Xid 79")
    assert queries.state_of(node) is NodeState.QUARANTINED
    released = services.release_hold(actor=actor_for(bo), hold_id=hold.pk, reason="card exchanged")
    assert released.released_by_label == "Bo"
    with pytest.raises(Conflict) as refused:
        services.release_hold(actor=actor_for(bo), hold_id=hold.pk, reason="again")
    assert refused.value.code == "released"


def test_a_faulty_node_is_quarantined_only_once_it_is_held_so(cluster, bo, actor_for, client_of):
    node = factories.node(cluster, health=NodeHealth.FAULTY)
    nodes = f"/clusters/{cluster.slug}/nodes/"
    page = client_of(bo).get("/clusters/").content.decode()
    assert "1 faulty" in page and "1 quarantined" not in page
    assert node.name in client_of(bo).get(nodes + "?state=faulty").content.decode()
    assert client_of(bo).get(f"{nodes}{node.pk}/").context["page"].state is NodeState.FAULTY
    services.hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="Xid 79")
    page = client_of(bo).get("/clusters/").content.decode()
    assert "1 quarantined" in page and "1 faulty" not in page


def test_what_a_launch_holds_is_not_released_by_hand(cluster, bo, actor_for):
    hold = held(factories.node(cluster), HoldKind.TRAINING, owner="launches.launch:1")
    with pytest.raises(Conflict) as refused:
        services.release_hold(actor=actor_for(bo), hold_id=hold.pk, reason="x")
    assert refused.value.code == "hold_owner"


def test_a_node_is_not_held_for_training_by_hand(cluster, bo, actor_for):
    node = factories.node(cluster)
    with pytest.raises(Invalid):
        services.hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.TRAINING, reason="x")


def test_the_database_allows_one_exclusive_hold_and_one_quarantine(cluster):
    node = factories.node(cluster)
    held(node, HoldKind.CHANGE)
    held(node, HoldKind.QUARANTINE)
    for kind in (HoldKind.TRAINING, HoldKind.QUARANTINE):
        with pytest.raises(IntegrityError), transaction.atomic():
            held(node, kind)


def test_a_second_maintenance_is_a_conflict_that_names_the_first(cluster, bo, actor_for):
    node = factories.node(cluster, "sn-n01")
    values = {"actor": actor_for(bo), "node_id": node.pk, "kind": HoldKind.MAINTENANCE}
    services.hold_node(**values, reason="cold plate")
    with pytest.raises(Conflict) as refused:
        services.hold_node(**values, reason="other")
    assert "cold plate" in refused.value.message


def test_holds_of_another_cluster_are_missing(cluster, eve, actor_for):
    node = factories.node(cluster)
    hold = held(node, HoldKind.QUARANTINE)
    with pytest.raises(Missing):
        services.release_hold(actor=actor_for(eve), hold_id=hold.pk, reason="x")
    with pytest.raises(Missing):
        services.hold_node(actor=actor_for(eve), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="x")


def test_a_viewer_decides_nothing_about_a_node(cluster, vic, actor_for):
    node = factories.node(cluster)
    with pytest.raises(NotAllowed):
        services.hold_node(actor=actor_for(vic), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="x")


@pytest.mark.parametrize(
    "name", ["", "two words", "a/b", "--all", "#n1", "n1\N{RIGHT-TO-LEFT OVERRIDE}", "\N{ZERO WIDTH SPACE}"]
)
def test_an_alias_is_a_name_that_files_of_schedulers_can_hold(name, cluster, bo, actor_for):
    node = factories.node(cluster, "n1")
    with pytest.raises(Invalid) as refused:
        services.add_alias(actor=actor_for(bo), node_id=node.pk, name=name)
    assert refused.value.errors[0].pointer == "/name"


def test_an_alias_means_one_node(cluster, bo, actor_for):
    first, second = factories.node(cluster, "n1"), factories.node(cluster, "n2")
    services.add_alias(actor=actor_for(bo), node_id=first.pk, name="pod-0")
    for taken in ("POD-0", "n2"):
        with pytest.raises(Conflict) as refused:
            services.add_alias(actor=actor_for(bo), node_id=second.pk, name=taken)
        assert refused.value.code == "alias_taken"
    assert queries.node_by_reported_name(cluster, "pod-0") == first


def test_of_many_names_those_that_mean_a_node_are_told_without_looking_up_each(
    cluster, bo, actor_for, count_queries
):
    node, _other = factories.node(cluster, "n1.hall-1"), factories.node(cluster, "n1.hall-2")
    services.add_alias(actor=actor_for(bo), node_id=node.pk, name="pod-0")
    own, others = {"N1.hall-1", "POD-0", "n1.hall-1."}, {"n1.hall-2", "n1", "pod-1", "hall-1"}
    assert queries.names_meaning(node, own | others) == own
    many = [f"sn-n{number}" for number in range(1000)]
    assert count_queries(lambda: queries.names_meaning(node, many)) == 1


def test_saving_a_node_unchanged_writes_nothing(cluster, bo, actor_for):
    node = factories.node(cluster, rack="R1")
    values = {"rack": "R1", "position": "", "serial": ""}
    same = services.edit_node(actor=actor_for(bo), node_id=node.pk, expected_version=1, **values)
    assert same.version == 1


def test_another_board_written_down_by_hand_stands_in_the_history_and_the_old_one_among_the_parts(
    cluster, bo, actor_for
):
    node = factories.node(cluster)
    place = {"rack": "R1", "position": ""}
    for version, serial in ((1, "BRD-1"), (2, "BRD-2")):
        services.edit_node(
            actor=actor_for(bo), node_id=node.pk, expected_version=version, serial=serial, **place
        )
    change = HardwareChange.objects.get()
    assert (change.slot, change.before, change.after) == ("board", "BRD-1", "BRD-2")
    assert Part.objects.get().serial == "BRD-1"


def test_a_card_that_was_swapped_is_written_down(cluster):
    node = factories.node(cluster, accelerators=2)
    services.note_hardware(node_id=node.pk, cards=[{"uuid": "a"}, {"uuid": "b"}])
    assert services.note_hardware(node_id=node.pk, cards=[{"uuid": "a"}, {"uuid": "b"}]) == []
    services.note_hardware(node_id=node.pk, cards=[{"uuid": "a"}, {"uuid": "c"}], sha256="0" * 64)
    change = HardwareChange.objects.get()
    assert (change.slot, change.what, change.before, change.after) == ("1", "uuid", "b", "c")


def test_the_list_needs_as_many_queries_for_many_nodes(cluster, bo, client_of, api, assert_constant_queries):
    domain = factories.domain(cluster)
    client, caller = client_of(bo), api(bo)

    def grow() -> None:
        for _number in range(30):
            node = factories.node(cluster, domain=domain, accelerators=2)
            held(node, HoldKind.QUARANTINE)

    grow()
    assert_constant_queries(lambda: client.get(f"/clusters/{cluster.slug}/nodes/?per_page=200"), grow)
    assert_constant_queries(lambda: caller.get("/api/v1/nodes/?limit=500"), grow)


def test_a_misspelt_filter_is_an_error_on_the_page_and_over_rest(cluster, bo, client_of, api):
    assert client_of(bo).get(f"/clusters/{cluster.slug}/nodes/?stat=spare").status_code == 400
    assert api(bo).get("/api/v1/nodes/?stat=spare").json()["code"] == "unknown_filter"


def test_the_node_page_takes_and_releases(cluster, bo, client_of):
    node = factories.node(cluster, accelerators=1)
    client, page = client_of(bo), f"/clusters/{cluster.slug}/nodes/{node.pk}/"
    client.post(page + "hold/", {"kind": "maintenance", "reason": "coolant"})
    hold = Hold.objects.get()
    assert b"coolant" in client.get(page).content
    client.post(f"{page}holds/{hold.pk}/release/", {"reason": "refilled"})
    hold.refresh_from_db()
    assert hold.released_at is not None


def test_a_refused_form_keeps_the_page_and_says_why(cluster, bo, client_of):
    node = factories.node(cluster)
    held(node, HoldKind.TRAINING, owner="launches.launch:1")
    page = f"/clusters/{cluster.slug}/nodes/{node.pk}/"
    answer = client_of(bo).post(page + "move/", {"to": "spare", "reason": "x", "version": "1"})
    assert answer.status_code == 400
    assert b"held for training" in answer.content


def test_a_viewer_sees_no_forms(cluster, vic, client_of):
    node = factories.node(cluster)
    answer = client_of(vic).get(f"/clusters/{cluster.slug}/nodes/{node.pk}/")
    assert answer.status_code == 200
    assert b"/hold/" not in answer.content


def test_a_board_that_was_swapped_under_the_same_name_is_written_down(cluster):
    node = factories.node(cluster)
    assert services.note_hardware(node_id=node.pk, cards=[], board_serial="B1") == []
    (change,) = services.note_hardware(node_id=node.pk, cards=[], board_serial="B2")
    node.refresh_from_db()
    assert (change.slot, change.before, change.after, node.serial) == ("board", "B1", "B2", "B2")
    assert change.sentence == "The board was seen with another serial"


def test_the_list_offers_the_domains_for_choice_and_keeps_the_chosen_one(cluster, vic, client_of):
    for name in ("a<b", "c"):
        factories.node(cluster, f"host-{name[0]}", domain=factories.domain(cluster, name))
    page = client_of(vic).get(f"/clusters/{cluster.slug}/nodes/", {"domain": "a<b"}).content.decode()
    assert '<option value="a&lt;b" selected>a&lt;b</option><option value="c">c</option>' in page
    assert ("host-a" in page, "host-c" in page) == (True, False)


@pytest.mark.parametrize(
    ("sort", "order"), [("accelerator_count", ["few", "many"]), ("-accelerator_count", ["many", "few"])]
)
def test_the_list_is_sorted_by_accelerators_and_tells_their_number(sort, order, cluster, vic, client_of):
    factories.node(cluster, "many", accelerators=8)
    factories.node(cluster, "few", accelerators=2)
    page = client_of(vic).get(f"/clusters/{cluster.slug}/nodes/?sort={sort}").content.decode()
    assert sorted(order, key=page.index) == order
    assert page.count('<td class="number" data-label="Accelerators">8</td>') == 1


def test_a_list_of_nodes_is_read_in_its_order_and_says_everything_that_is_wrong_with_it(cluster):
    first, second = (factories.node(cluster, f"n{place}") for place in (1, 2))
    second.aliases.create(cluster=cluster, name="sn2.example")

    assert queries.node_ids_named(cluster, "sn2.example, n1") == [second.pk, first.pk]
    assert queries.node_ids_named(cluster, " ") == []
    with pytest.raises(Invalid) as refused:
        queries.node_ids_named(cluster, "n[1-3],n1")
    assert [(error.pointer, error.code) for error in refused.value.errors] == [
        ("/nodes/2", "unknown_node"),
        ("/nodes/3", "given_twice"),
    ]
    with pytest.raises(Invalid) as refused:
        queries.node_ids_named(cluster, "n[1-")
    assert [error.pointer for error in refused.value.errors] == ["/nodes"]
