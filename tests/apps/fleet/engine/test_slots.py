"""Which reported card sits in which slot."""

from __future__ import annotations

import pytest

from apps.fleet.engine.slots import bus_key, slots_of


def cards(*addresses: str) -> list[dict[str, str]]:
    return [{"bus_id": address, "uuid": f"card-{place}"} for place, address in enumerate(addresses)]


@pytest.mark.parametrize("other", ["0000:0f:00.0", "00000000:0F:00.0", " 0000:0F:00.0 "])
def test_spellings_of_one_bus_address_are_one(other):
    assert bus_key(other) == "0000:0f:00.0"


def test_a_card_that_fell_off_the_bus_leaves_the_others_in_their_slots():
    recorded = {0: "0000:0f:00.0", 1: "0000:2d:00.0", 2: "0000:44:00.0"}
    found = list(slots_of(recorded, cards("00000000:0F:00.0", "00000000:44:00.0")))
    assert [(slot, card["uuid"]) for slot, card in found] == [(0, "card-0"), (2, "card-1")]


def test_without_addresses_a_whole_list_goes_by_place_and_a_shorter_one_tells_nothing():
    recorded = {0: "", 1: ""}
    assert [slot for slot, _card in slots_of(recorded, [{"uuid": "a"}, {"uuid": "b"}])] == [0, 1]
    assert list(slots_of(recorded, [{"uuid": "b"}])) == []


def test_cards_beyond_the_slots_on_record_are_left_out():
    assert [slot for slot, _card in slots_of({0: ""}, cards("0000:01:00.0", "0000:02:00.0"))] == [0]


def test_a_renumbered_bus_goes_by_place():
    recorded = {0: "0000:0f:00.0", 1: "0000:2d:00.0"}
    assert [slot for slot, _card in slots_of(recorded, cards("0001:0f:00.0", "0001:2d:00.0"))] == [0, 1]
