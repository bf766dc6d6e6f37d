"""The embedded broker: messages are whole, are taken once, and a broken one stops nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection

from supernode_portal import broker
from supernode_portal.celery import application


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """The folder of the messages."""
    folder = tmp_path / "queue"
    folder.mkdir()
    return folder


@pytest.fixture
def channels(queue: Path, tmp_path: Path) -> Iterator[list[broker.Channel]]:
    """Channels of two processes on one broker."""
    options = {
        "data_folder_in": str(queue),
        "data_folder_out": str(queue),
        "control_folder": str(tmp_path / "c"),
    }
    connections = [Connection("filesystem://localhost", transport_options=options) for _number in range(2)]
    yield [connection.channel() for connection in connections]
    for connection in connections:
        connection.close()


def test_the_application_works_with_this_broker():
    with application.connection_for_write("filesystem://localhost") as connection:
        assert isinstance(connection.transport, broker.Transport)


def test_messages_come_in_the_order_in_which_they_were_sent(channels):
    sender, worker = channels
    for number in range(12):
        sender._put("default", {"number": number})
    assert [worker._get("default")["number"] for _message in range(12)] == list(range(12))
    with pytest.raises(Empty):
        worker._get("default")


def test_a_message_that_is_still_being_written_is_not_taken(channels, queue):
    (queue / "00_x.default.msg.part").write_text("")
    with pytest.raises(Empty):
        channels[1]._get("default")


@pytest.mark.parametrize("content", ["", "{", "\x00"])
def test_a_broken_message_is_put_away_and_the_next_one_taken(channels, queue, content):
    (queue / "00000000000000000000_x.default.msg").write_text(content)
    sender, worker = channels
    sender._put("default", {"number": 1})
    assert worker._get("default") == {"number": 1}
    assert list(queue.iterdir()) == []


def test_a_message_of_another_queue_stays(channels):
    sender, worker = channels
    sender._put("other", {"number": 1})
    with pytest.raises(Empty):
        worker._get("default")
    assert worker._get("other") == {"number": 1}


def test_two_workers_take_each_message_once(channels):
    sender, other = channels
    for number in range(200):
        sender._put("default", {"number": number})
    taken: list[int] = []

    def take(channel: broker.Channel) -> None:
        while True:
            try:
                taken.append(channel._get("default")["number"])
            except Empty:
                return

    threads = [threading.Thread(target=take, args=(channel,)) for channel in (sender, other)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(taken) == list(range(200))


def test_a_table_of_queues_that_is_just_being_made_is_waited_for(channels, tmp_path):
    control = tmp_path / "c"
    control.mkdir()
    table = control / "celery.exchange"
    table.touch()
    writer = threading.Timer(0.2, table.write_text, ['[["default", "", "default"]]'])
    writer.start()
    assert [row.queue for row in channels[0].get_table("celery")] == ["default"]
    writer.join()


@pytest.mark.parametrize(("asked_s", "waited_s"), [(2.0, broker._LONGEST_WAIT_S), (0.1, 0.1), (None, None)])
def test_who_waits_for_messages_looks_up_often_enough_to_be_stopped(channels, monkeypatch, asked_s, waited_s):
    waits = []
    monkeypatch.setattr(
        broker.filesystem.Transport, "drain_events", lambda *_args, timeout: waits.append(timeout)
    )
    transport = channels[0].connection  # kombu's virtual transports are their own connection
    transport.drain_events(transport, timeout=asked_s)
    assert waits == [waited_s]
