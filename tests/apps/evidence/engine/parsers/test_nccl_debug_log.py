"""The debug log of NCCL and its descendants: what is collected, and what is warned of."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.evidence.engine import registry
from apps.evidence.engine.parsers import nccl_debug_log
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[4] / "corpus"
INFO = "n1:11:22 [3] NCCL INFO "


def read(text: str) -> Reading:
    return nccl_debug_log.read(Source.of_text(text))


def corpus(name: str) -> Reading:
    return registry.read(Source.of_bytes((CORPUS / name).read_bytes()))


@pytest.mark.parametrize(
    "line",
    [
        "NCCL version 2.27.3+cuda12.9",
        f"{INFO}NCCL version 2.27.3+cuda12.9",
        f"{INFO}RCCL version : 2.27.3+cuda12.9",
        "(Worker pid=7, ip=192.0.2.1) NCCL version 2.27.3+cuda12.9",
    ],
)
def test_the_version_on_a_line_of_its_own_or_in_a_message(line: str) -> None:
    assert read(f"{line}\n{INFO}Connected all rings\n").facts["nccl_versions"] == ["2.27.3+cuda12.9"]


@pytest.mark.parametrize(
    ("channel", "transport"),
    [
        ("Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM/read", "P2P/CUMEM/read"),
        ("Channel 00/0 : 8[0] -> 0[0] [receive] via NET/IB/0/GDRDMA", "NET/IB/0/GDRDMA"),
        (
            "Channel 01/0 : 7[7] -> 8[0] [send] via NET/IB/1(3)/GDRDMA comm 0x55d nRanks 16",
            "NET/IB/1(3)/GDRDMA",
        ),
        ("Channel 02 : 0[1a000] -> 1[1b000] via P2P/IPC", "P2P/IPC"),
    ],
)
def test_transports_of_channels(channel: str, transport: str) -> None:
    assert read(f"{INFO}{channel}\n").facts["transports"] == {transport: 1}


def test_devices_of_infiniband_are_listed() -> None:
    text = f"{INFO}NET/IB : Using [0]mlx5_0:1/IB [1]mlx5_1:1/RoCE [RO]; OOB eth0:192.0.2.1<0>\n{INFO}Using network IB\n"
    facts = read(text).facts
    assert facts["ib_devices"] == ["mlx5_0:1/IB", "mlx5_1:1/RoCE"]
    assert facts["network"] == ["IB"]


def test_ranks_tell_host_device_and_whether_they_finished() -> None:
    (rank, _) = corpus("nccl-debug-log/rtx3080x2-2.26.2.log").facts["ranks"]
    assert (rank["rank"], rank["nranks"], rank["host"], rank["device"], rank["bus_id"], rank["complete"]) == (
        1, 2, "nodea0000001", 1, "6000", True,
    )  # fmt: skip


def test_ranks_of_rccl_finish_too() -> None:
    start = (
        f"{INFO}ncclCommInitRank comm 0xa0 rank 0 nranks 8 cudaDev 0 busId 5000 commId 0x99 - Init START\n"
    )
    end = f"{INFO}comm 0xa0 rank 0 nranks 8 cudaDev 0 busId 5000 localSize 304 used 9216 bytes - Init COMPLETE\n"
    (rank,) = read(start + end).facts["ranks"]
    assert rank["complete"] is True


@pytest.mark.parametrize(("first", "second"), [("0: ", "1: "), ("[1,0]<stdout>:", "[1,1]<stdout>:")])
def test_lines_of_one_process_under_two_ranks_count_once(first: str, second: str) -> None:
    line = f"{INFO}Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    reading = read(first + line + second + line)
    assert reading.facts["transports"] == {"P2P/CUMEM": 1}
    assert [one.code for one in reading.warnings] == ["lines_repeated"]


def test_lines_that_a_collector_dated_apart_count_each() -> None:
    line = f"{INFO}Channel 00/0 : 0[0] -> 1[1] via P2P/CUMEM\n"
    assert read(f"12:00:01 {line}12:00:02 {line}").facts["transports"] == {"P2P/CUMEM": 2}


def test_a_rank_that_never_finished_is_warned_of() -> None:
    start = "ncclCommInitRank comm 0xa{0} rank {0} nranks 2 cudaDev {0} nvmlDev {0} busId 5000 commId 0x17 - Init {1}"
    text = "".join(f"{INFO}{start.format(*pair)}\n" for pair in ((0, "START"), (1, "START"), (0, "COMPLETE")))
    assert [w.code for w in read(text).warnings] == ["ranks_not_initialised"]


def test_aborted_ranks_are_warned_of() -> None:
    text = f"{INFO}comm 0x55 rank 16 nranks 32 cudaDev 0 busId 1b000 - Abort COMPLETE\n"
    reading = read(text)
    assert [w.code for w in reading.warnings] == ["ranks_aborted"]
    assert reading.facts["ranks"][0]["aborted"] is True


def test_the_same_error_of_several_ranks_is_one_entry_with_its_first_line() -> None:
    errors = corpus("nccl-debug-log/v100x2-2.18.6-socket.log").facts["errors"]
    assert [(e["line"], e["count"], e["level"], e["source"]) for e in errors] == [
        (73, 2, "WARN", "enqueue.cc:267"),
        (74, 2, "INFO", "enqueue.cc:1045"),
    ]


def test_the_date_in_front_of_a_warning_is_kept() -> None:
    errors = corpus("nccl-debug-log/rtx3080x2-2.26.2.log").facts["errors"]
    assert errors[0]["at"] == "2025-07-09 00:57:25"


def test_a_variable_with_two_values_is_warned_of() -> None:
    text = f"{INFO}NCCL_IB_HCA set by environment to mlx5_0\n{INFO}NCCL_IB_HCA set by environment to mlx5_1\n"
    reading = read(text)
    assert reading.facts["env_values"] == {"NCCL_IB_HCA": ["mlx5_0", "mlx5_1"]}
    assert [w.code for w in reading.warnings] == ["environment_differs"]


def test_two_versions_are_warned_of() -> None:
    assert "several_versions" in [w.code for w in corpus("nccl-debug-log/v100x2-2.18.6-socket.log").warnings]


def test_pairs_without_peer_to_peer_are_listed_once() -> None:
    pairs = corpus("nccl-debug-log/ray-2pods-2.21.5.log").facts["p2p_disabled_pairs"]
    assert len(pairs) == 12
    assert [1, 0] in pairs


def test_brackets_of_a_descendant_are_understood() -> None:
    text = (
        "[n1][101714:103566][1][init.cc:2595] NCCL INFO comm 0x56406137e980 rank 1 nranks 2 xpuDev 1 busId c000"
        " - Init COMPLETE\n"
    )
    facts = registry.read(Source.of_text(text)).facts
    assert (facts["hosts"], facts["nranks"], facts["ranks"][0]["device"]) == (["n1"], [2], 1)


def test_a_text_without_messages_is_refused() -> None:
    with pytest.raises(Unreadable):
        read("NCCL is a library\n")


@pytest.mark.parametrize(
    "name", ["nccl-debug-log/" + path.name for path in sorted((CORPUS / "nccl-debug-log").glob("*"))]
)
def test_transports_of_a_log_that_was_pasted_twice_count_once(name: str) -> None:
    whole = (CORPUS / name).read_bytes()
    once = registry.read(Source.of_bytes(whole), kind="nccl_debug_log")
    twice = registry.read(Source.of_bytes(whole + whole), kind="nccl_debug_log")
    assert twice.facts["transports"] == once.facts["transports"]
    assert "lines_repeated" not in [warning.code for warning in once.warnings]
    has_repeats = "lines_repeated" in [warning.code for warning in twice.warnings]
    assert has_repeats or not once.facts["transports"]


def test_a_warning_with_the_same_time_counts_once_and_one_without_counts_again() -> None:
    timed = "[2025-01-21 04:41:44] n1:11:22 [3] misc/socket.cc:49 NCCL WARN socketPoll failed\n"
    plain = "n1:11:22 [3] misc/socket.cc:49 NCCL WARN socketPoll failed\n"
    assert read(timed + timed).facts["warnings"] == 1
    assert [warning.code for warning in read(timed + timed).warnings] == ["lines_repeated"]
    assert read(plain + plain).facts["warnings"] == 2
