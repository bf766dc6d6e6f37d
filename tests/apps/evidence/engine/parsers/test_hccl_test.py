"""hccl_test: its table, its two meanings of GB/s, failures and several runs."""

from __future__ import annotations

from pathlib import Path

import pytest

from apps.evidence.engine import registry
from apps.evidence.engine.parsers import hccl_test
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

CORPUS = Path(__file__).parents[4] / "corpus"
FIRST = "the minbytes is 8192, maxbytes is 67108864, iters is 20, warmup_iters is 5\n"
HEADER = "data_size(Bytes): | aveg_time(us): | alg_bandwidth(GB/s): | check_result:\n"
WHOLE = (CORPUS / "hccl-test/910b-8p-allreduce-fp32.log").read_text()
LAST_ROW = WHOLE.index("67108864  ")
ROW = "2097152           | 1000.00        | 2.09715              | success\n"


def read(text: str) -> Reading:
    return hccl_test.read(Source.of_text(text))


def corpus(name: str) -> Reading:
    return registry.read(Source.of_bytes((CORPUS / name).read_bytes()))


def test_rows_become_points() -> None:
    assert read(HEADER + ROW).facts["points"] == [
        {
            "line": 2,
            "size_bytes": 2097152,
            "time_us": 1000.0,
            "algbw_gbps": 2.09715,
            "check_result": "success",
        }
    ]


def test_the_base_of_its_gigabyte_is_told_from_size_over_time() -> None:
    assert corpus("hccl-test/910b-8p-allreduce-fp32.log").facts["bandwidth_base_bytes"] == 2**30
    assert corpus("hccl-test/older-header-single-row.log").facts["bandwidth_base_bytes"] == 10**9


def test_a_row_with_too_few_digits_tells_no_base() -> None:
    reading = read(HEADER + "64 | 1000.00 | 0.00006 | success\n")
    assert reading.facts["bandwidth_base_bytes"] is None
    assert reading.warnings == ()


def test_a_bandwidth_that_contradicts_the_time_is_warned_of() -> None:
    reading = read(HEADER + ROW + ROW.replace("2097152", "4194304").replace("2.09715", "9.09715"))
    assert [(w.code, w.line) for w in reading.warnings] == [("algbw_contradicts_time", 3)]


def test_unchecked_is_not_wrong_and_failed_is() -> None:
    reading = read(
        HEADER
        + ROW.replace("success", "NULL")
        + ROW.replace("2097152 ", "2097156 ").replace("success", "failed")
    )
    assert reading.facts["check_results"] == {"NULL": 1, "failed": 1}
    assert [w.code for w in reading.warnings if w.line == 3] == ["wrong_data"]


def test_the_collective_is_known_only_from_the_command() -> None:
    command = "mpirun -n 8 ./bin/all_reduce_test -b 8K -e 64M -f 2 -p 8\n"
    assert read(command + FIRST + HEADER + ROW).facts["collective"] == "all_reduce"
    assert read(FIRST + HEADER + ROW).facts["collective"] is None


def test_a_failed_run_and_the_one_after_it() -> None:
    failed = FIRST + "hccl interface return err ./common/src/hccl_test_common.cc:538, retcode: 7\n"
    reading = read(failed + FIRST.replace("67108864", "2097152") + HEADER + ROW)
    assert [(run["status"], run["retcode"]) for run in reading.facts["runs"]] == [
        ("failed", 7),
        ("complete", None),
    ]
    assert reading.facts["status"] == "complete"


def test_a_cut_row_is_said_with_its_line() -> None:
    reading = read(HEADER + ROW + "4194304           | 1801.\n")
    assert [(w.code, w.line) for w in reading.warnings] == [("row_not_understood", 3)]


def test_a_text_without_the_tool_is_refused() -> None:
    with pytest.raises(Unreadable):
        read("nothing of the kind\n")


@pytest.mark.parametrize("cut", [0, 1, 4, 7, 10, 13, 16, 19, 22, 30, 36, 45, 50])
def test_a_run_without_its_last_row_is_incomplete(cut: int) -> None:
    reading = read(WHOLE[: LAST_ROW + cut])
    assert (reading.facts["status"], reading.facts["rows"]) == ("incomplete", 13)
    assert "rows_missing" in [warning.code for warning in reading.warnings]


def rows_of(*sizes: int) -> str:
    """Rows of 1 GB/s, as decimal as the older tool is."""
    return "".join(f"{size} | {size / 1000:.2f} | 1.00000 | success\n" for size in sizes)


@pytest.mark.parametrize(
    ("asked", "sizes", "status"),
    [
        (64_000, [8_000, 16_000, 32_000, 64_000], "complete"),
        (100_000, [8_000, 16_000, 32_000, 64_000], "complete"),  # the next would be 128 000
        (130_000, [8_000, 16_000, 32_000, 64_000], "incomplete"),
        (40_000, [10_000, 20_000, 30_000, 40_000], "complete"),
        (50_000, [10_000, 20_000, 30_000, 40_000], "incomplete"),  # in equal steps
        (8_000, [8_000], "complete"),
        (16_000, [8_000], "incomplete"),
    ],
)
def test_the_size_that_comes_next_tells_whether_rows_are_missing(
    asked: int, sizes: list[int], status: str
) -> None:
    first = f"the minbytes is {sizes[0]}, maxbytes is {asked}, iters is 20, warmup_iters is 5\n"
    reading = read(first + HEADER + rows_of(*sizes))
    assert reading.facts["status"] == status
    assert [warning.code for warning in reading.warnings] == ["rows_missing"] * (status == "incomplete")
