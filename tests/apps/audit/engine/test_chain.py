"""The chain as plain values: what a walk along it finds."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from apps.audit.engine import chain

BODY = {
    "at": "2026-01-01T00:00:00+00:00",
    "action": "change.approved",
    "actor": {"id": 7, "label": "person 7", "via": "session"},
    "object": {"type": "changes.change", "id": "3", "label": "NCCL 2.27"},
    "scope_id": 1,
    "request_id": "r-1",
}


def trail(length: int) -> list[chain.Link]:
    """A chain of so many events that holds."""
    links, prev = [], chain.GENESIS
    for seq in range(1, length + 1):
        body = json.dumps({**BODY, "reason": f"event {seq}"})
        made = chain.event_hash(seq=seq, prev_hash=prev, body=body)
        links.append(chain.Link(seq, prev, body, made, chain.columns_of(json.loads(body))))
        prev = made
    return links


def test_the_hash_of_an_event_is_the_same_everywhere():
    made = chain.event_hash(seq=1, prev_hash="0" * 64, body='{"action":"x"}')
    assert made == "e66d0ccab3992bd583f97c899cf704cc5cb6eb0314db98575f37f22bb9da06fd"


def test_an_empty_and_a_whole_trail_hold():
    assert chain.verify([]).intact
    found = chain.verify(trail(5))
    assert (found.intact, found.count, found.head_seq) == (True, 5, 5)


@pytest.mark.parametrize("touched", [1, 3, 5])
def test_a_changed_text_is_found_at_its_event(touched):
    links = trail(5)
    links[touched - 1] = replace(links[touched - 1], body=links[touched - 1].body.replace("event", "other"))
    assert chain.verify(links).first_bad_seq == touched


@pytest.mark.parametrize("missing", [1, 3])
def test_a_missing_event_is_named(missing):
    links = trail(5)
    del links[missing - 1]
    assert chain.verify(links).first_bad_seq == missing


@pytest.mark.parametrize(
    ("column", "value"),
    [
        ("action", "change.refused"),
        ("actor_id", 8),
        ("actor_label", "person 8"),
        ("object_id", "4"),
        ("object_label", "another"),
        ("object_type", "fleet.node"),
        ("scope_id", None),
        ("request_id", "r-2"),
        ("via", "token"),
    ],
)
def test_a_column_that_contradicts_the_text_is_found(column, value):
    links = trail(3)
    links[1] = replace(links[1], columns={**links[1].columns, column: value})
    found = chain.verify(links)
    assert found.first_bad_seq == 2
    assert column in found.reason


def rewritten(links: list[chain.Link], at: int) -> list[chain.Link]:
    """The trail with another event there, and all hashes from there on made anew."""
    made, prev = [], chain.GENESIS
    for link in links:
        body = link.body.replace("event", "other") if link.seq == at else link.body
        digest = chain.event_hash(seq=link.seq, prev_hash=prev, body=body)
        made.append(replace(link, body=body, prev_hash=prev, hash=digest))
        prev = digest
    return made


def test_a_rewritten_trail_holds_in_itself_and_contradicts_the_checkpoint():
    links = trail(5)
    marks = {2: links[1].hash, 4: links[3].hash}
    forged = rewritten(links, 3)
    assert chain.verify(forged).intact
    assert chain.verify(forged, marks=marks).first_bad_seq == 4


def test_a_shortened_trail_holds_in_itself_and_ends_before_the_checkpoint():
    links = trail(5)
    found = chain.verify(links[:3], marks={5: links[4].hash})
    assert found.first_bad_seq == 4
    assert chain.verify(links[:3]).intact


def test_a_trail_that_went_on_agrees_with_older_checkpoints():
    links = trail(5)
    assert chain.verify(links, marks={3: links[2].hash}).intact
