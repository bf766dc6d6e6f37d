"""The embedded broker: messages are whole, are taken once, and a broken one stops nobody."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from queue import Empty

import pytest
from kombu import Connection, Consumer, Exchange, Producer, Queue

from supernode_portal import broker
from supernode_portal.celery import application


@pytest.fixture
def queue(tmp_path: Path) -> Path:
    """The folder of the messages."""
    folder = tmp_path / "queue"
    folder.mkdir()
    return folder


@pytest.fixture
def control(tmp_path: Path) -> Path:
    """The folder of the tables that say which queues an exchange feeds."""
    folder = tmp_path / "control"
    folder.mkdir()
    return folder


@pytest.fixture
def channels(queue: Path, control: Path) -> Iterator[list[broker.Channel]]:
    """Channels of several processes on one broker."""
    options = {"data_folder_in": str(queue), "data_folder_out": str(queue), "control_folder": str(control)}
    connections = [Connection("filesystem://localhost", transport_options=options) for _number in range(8)]
    yield [connection.channel() for connection in connections]
    for connection in connections:
        connection.close()


def test_the_application_works_with_this_broker():
    with application.connection_for_write("filesystem://localhost") as connection:
        assert isinstance(connection.transport, broker.Transport)


def test_messages_come_in_the_order_in_which_they_were_sent(channels):
    sender, worker, *_others = channels
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
    sender, worker, *_others = channels
    sender._put("default", {"number": 1})
    assert worker._get("default") == {"number": 1}
    assert list(queue.iterdir()) == []


def test_a_broker_whose_folders_were_deleted_goes_on(channels, queue, control):
    sender, worker, *_others = channels
    queue.rmdir()
    control.rmdir()
    with pytest.raises(Empty):
        worker._get("default")
    worker._queue_bind("celery", "default", "", "default")
    sender._put("default", {"number": 1})
    assert worker._get("default") == {"number": 1}


def test_a_message_of_another_queue_stays(channels):
    sender, worker, *_others = channels
    sender._put("other", {"number": 1})
    with pytest.raises(Empty):
        worker._get("default")
    assert worker._get("other") == {"number": 1}


def test_two_workers_take_each_message_once(channels):
    sender, other, *_others = channels
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


@pytest.mark.parametrize("exchange", [f"exchange-{number}" for number in range(10)])
def test_processes_that_start_together_find_and_leave_a_whole_table_of_queues(channels, exchange):
    together = threading.Barrier(len(channels))

    def bind(number: int) -> list[str]:
        together.wait()
        channels[number]._queue_bind(exchange, "default", "", f"queue-{number}")
        return [row.queue for row in channels[number].get_table(exchange)]

    with ThreadPoolExecutor(len(channels)) as pool:
        seen = list(pool.map(bind, range(len(channels))))
    assert all(f"queue-{number}" in queues for number, queues in enumerate(seen))
    assert len(channels[0].get_table(exchange)) == len(channels)


@pytest.mark.parametrize("content", ["", "[[", '"'])
def test_a_broken_table_of_queues_stops_nobody_and_is_written_anew(channels, control, content):
    (control / "celery.exchange").write_text(content)
    sender, worker, *_others = channels
    assert sender.get_table("celery") == []
    worker._queue_bind("celery", "default", "", "default")
    assert [row.queue for row in sender.get_table("celery")] == ["default"]


def test_a_worker_takes_what_is_there_as_far_as_it_has_room(channels):
    sender, worker, *_others = channels
    queue = Queue("default", Exchange("default"), routing_key="default")
    taken: list[int] = []
    consumer = Consumer(worker, [queue], callbacks=[lambda body, _message: taken.append(body["number"])])
    consumer.qos(prefetch_count=2)
    consumer.consume()
    for number in range(5):
        Producer(sender).publish({"number": number}, exchange=queue.exchange, routing_key="default")
    worker.connection._look()
    assert taken == [0, 1]
