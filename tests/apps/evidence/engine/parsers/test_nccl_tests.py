"""nccl-tests and rccl-tests: versions, several runs, warnings, and what is never guessed."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from apps.evidence.engine import registry
from apps.evidence.engine.parsers import nccl_tests, rccl_tests
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source
from tests.apps.evidence.engine.parsers.readings import codes

CORPUS = Path(__file__).parents[4] / "corpus"
HEADER = """\
#                                                              out-of-place                       in-place
#       size         count      type   redop    root     time   algbw   busbw #wrong     time   algbw   busbw #wrong
#        (B)    (elements)                               (us)  (GB/s)  (GB/s)            (us)  (GB/s)  (GB/s)
"""
GOOD_ROWS = """\
     1048576        262144     float     sum      -1    100.0   10.49   18.35      0    100.0   10.49   18.35      0
     2097152        524288     float     sum      -1    150.0   13.98   24.47      0    150.0   13.98   24.47      0
"""
SUMMARY = "# Out of bounds values : 0 OK\n# Avg bus bandwidth    : 21.41\n#\n"
SETTINGS = (
    "# nThread 1 nGpus 1 minBytes 8 maxBytes 64 step: 2(factor) warmup iters: 5 iters: 20 validation: 1\n"
)


def ranks(count: int, *, host: str = "n1", pid: int = 100) -> str:
    return "".join(
        f"#  Rank {rank:2d} Group  0 Pid {pid + rank:6d} on {host:>10} device {rank:2d} "
        f"[0000:{16 + rank:02x}:00] NVIDIA H100 80GB HBM3\n"
        for rank in range(count)
    )


def read(text: str) -> Reading:
    return nccl_tests.read(Source.of_text(text))


def corpus(name: str) -> Reading:
    return registry.read(Source.of_bytes((CORPUS / name).read_bytes()))


def good_run(program: str = "all_reduce_perf") -> str:
    return f"$ ./build/{program} -b 1M -e 2M -g 8\n{SETTINGS}{ranks(8)}{HEADER}{GOOD_ROWS}{SUMMARY}"


def test_a_good_run_reads_without_a_warning() -> None:
    reading = read(good_run())
    assert reading.warnings == ()
    assert reading.facts["collective"] == "all_reduce"
    assert reading.facts["collective_candidates"] == []
    assert [point["size_bytes"] for point in reading.facts["points"]] == [1048576, 2097152]


def test_a_point_holds_both_columns_and_its_line() -> None:
    point = read(good_run()).facts["points"][0]
    assert point == {
        "line": 14,
        "size_bytes": 1048576,
        "count": 262144,
        "dtype": "float",
        "redop": "sum",
        "root": -1,
        "out_of_place": {"time_us": 100.0, "algbw_gbps": 10.49, "busbw_gbps": 18.35, "wrong": 0},
        "in_place": {"time_us": 100.0, "algbw_gbps": 10.49, "busbw_gbps": 18.35, "wrong": 0},
    }


def test_hosts_and_devices_come_from_the_rank_list() -> None:
    facts = corpus("nccl-tests/h100x16-2node-allreduce-lost-hash.log").facts
    assert [(host["name"], len(host["ranks"])) for host in facts["hosts"]] == [
        ("node-mig-a01", 8),
        ("node-mig-a02", 8),
    ]
    assert facts["devices"][8] == {
        "rank": 8,
        "host": "node-mig-a02",
        "device": 0,
        "bus": "0000:04:00",
        "gpu": "NVIDIA H100 80GB HBM3",
    }


def test_a_table_without_a_name_gives_candidates_but_no_collective() -> None:
    facts = corpus("nccl-tests/a100x8-alltoall-old-blank-redop.log").facts
    assert facts["collective"] is None
    assert facts["collective_candidates"] == ["all_gather", "alltoall", "gather", "scatter"]


def test_the_programs_of_a_loop_do_not_name_the_collective() -> None:
    text = (
        f"+ for t in all_reduce_perf all_gather_perf -b 8\n{SETTINGS}{ranks(8)}{HEADER}{GOOD_ROWS}{SUMMARY}"
    )
    reading = read(text)
    assert reading.facts["collective"] is None
    assert "collective_ambiguous" in codes(reading)


def test_runs_one_after_the_other_are_kept_apart() -> None:
    second = good_run("reduce_scatter_perf").replace("18.35", " 9.18").replace("24.47", "12.23")
    reading = read(good_run() + second.replace("21.41", "10.71"))
    assert [run["collective"] for run in reading.facts["runs"]] == ["all_reduce", "reduce_scatter"]
    assert codes(reading) == ["several_runs"]


def test_a_run_that_died_after_its_header_does_not_hide_the_next() -> None:
    died = f"{SETTINGS}# Using devices\nn1: Test CUDA failure common.cu:893 'no CUDA-capable device is detected'\n"
    reading = read(died + good_run())
    assert [run["status"] for run in reading.facts["runs"]] == ["failed", "complete"]
    assert reading.facts["status"] == "complete"


def test_names_of_tests_between_tables_belong_to_the_table_below() -> None:
    group = "    100.0   10.49    9.18  0e+00"
    old = f"     1048576        262144     float        {group}{group}\n"
    text = (
        f"=== begin all_reduce_perf test ===\n{SETTINGS}{ranks(8)}{HEADER}{GOOD_ROWS}{SUMMARY}\n"
        f"=== begin all_gather_perf test ===\n{SETTINGS}{ranks(8)}"
        f"#       size         count    type     time   algbw   busbw  error     time   algbw   busbw  error\n{old}"
    )
    assert [run["collective"] for run in read(text).facts["runs"]] == ["all_reduce", "all_gather"]


def test_programs_that_each_call_themselves_rank_0_are_independent() -> None:
    mixed = (
        SETTINGS * 2
        + ranks(1, pid=100)
        + ranks(1, pid=200)
        + HEADER * 2
        + GOOD_ROWS
        + GOOD_ROWS
        + SUMMARY * 2
    )
    assert "independent_runs" in codes(read(mixed))


def test_one_rank_is_no_measurement() -> None:
    assert "single_rank" in codes(corpus("nccl-tests/b200x1-alltoall-half-single-rank.log"))


@pytest.mark.parametrize(
    "name",
    ["nccl-tests/rtx5090x2-allreduce-2.18.0-mpi-tag.log", "rccl-tests/mi300x-partitions-allreduce.log"],
)
def test_ranks_that_share_a_gpu_are_no_measurement_of_links(name: str) -> None:
    assert "ranks_share_gpu" in codes(corpus(name))


def test_one_bus_byte_for_all_gpus_of_a_host_is_not_sharing() -> None:
    assert "ranks_share_gpu" not in codes(corpus("nccl-tests/a100x8-allreduce-old-header.log"))


def test_wrong_data_is_warned_of_with_its_line() -> None:
    rows = GOOD_ROWS.replace("18.35      0\n", "18.35     12\n")
    reading = read(f"{SETTINGS}{ranks(8)}{HEADER}{rows}{SUMMARY.replace('0 OK', '12 FAILED')}")
    assert {"wrong_data", "out_of_bounds"} <= set(codes(reading))
    assert reading.facts["wrong_total"] == 12
    assert next(w.line for w in reading.warnings if w.code == "wrong_data") == 13


def test_a_factor_that_is_not_that_of_the_collective_is_warned_of() -> None:
    assert "factor_contradicts" in codes(read(good_run("all_gather_perf")))


def test_a_factor_that_is_not_that_of_the_ranks_is_warned_of() -> None:
    text = good_run().replace(ranks(8), ranks(4))
    assert "factor_contradicts" in codes(read(text))


def test_an_average_that_is_not_that_of_the_rows_is_warned_of() -> None:
    assert "average_contradicts_rows" in codes(read(good_run().replace(GOOD_ROWS.splitlines()[1] + "\n", "")))


def test_invented_figures_are_warned_of() -> None:
    invented = GOOD_ROWS.replace("10.49", "77.00", 1)
    assert "algbw_contradicts_time" in codes(read(f"{SETTINGS}{HEADER}{invented}"))


FIRST, SECOND = GOOD_ROWS.splitlines(keepends=True)


@pytest.mark.parametrize(
    ("code", "rows"),
    [
        ("size_contradicts_count", FIRST.replace("1048576", "  48576") + SECOND),
        ("size_contradicts_count", FIRST.replace(" 262144", " 262143") + SECOND),
        (
            "busbw_contradicts_algbw",
            FIRST.replace("18.35", "81.35", 1) + SECOND + SECOND.replace("24.47", "24.48"),
        ),
        ("row_repeated", FIRST + SECOND + SECOND),
        ("sizes_descend", SECOND + FIRST),
        ("text_before_row", "n1:1:2 [0] NCCL INFO Connected" + FIRST + SECOND),
        ("figure_unreadable", FIRST.replace("10.49", "  nan", 1) + SECOND),
    ],
)
def test_rows_that_contradict_themselves_or_each_other_are_warned_of(code: str, rows: str) -> None:
    assert code in codes(read(HEADER + rows))


@pytest.mark.parametrize(
    ("code", "gpu"),
    [("partitioned_gpu", "NVIDIA H100 80GB HBM3 MIG 1g.10gb"), ("mixed_gpu_models", "NVIDIA A100-SXM4-80GB")],
)
def test_gpus_that_are_partitions_or_differ_are_warned_of(code: str, gpu: str) -> None:
    assert code in codes(read(good_run().replace("NVIDIA H100 80GB HBM3", gpu, 1)))


def test_rows_are_bounded_and_said_to_be(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("apps.evidence.engine.parsers._perf_runs.MOST_ROWS", 1)
    reading = read(good_run())
    assert reading.facts["rows"] == 1
    assert codes(reading) == ["rows_left_out"]


def test_a_doubled_line_of_the_rank_list_is_no_second_program() -> None:
    line = ranks(1)
    reading = read(good_run().replace(line, line * 2))
    assert "rank_repeated" in codes(reading)
    assert "independent_runs" not in codes(reading)
    assert reading.facts["rank_lines"] == 8


def test_a_row_with_letters_for_figures_is_said_to_be_unread() -> None:
    reading = read(HEADER + GOOD_ROWS.splitlines()[0].replace("18.35", "XX.XX") + "\n" + GOOD_ROWS)
    assert [(w.code, w.line) for w in reading.warnings if w.code == "row_not_understood"] == [
        ("row_not_understood", 4)
    ]
    assert reading.facts["rows"] == 2


def test_time_of_the_cpu_gives_no_bandwidth() -> None:
    assert "cpu_time" in codes(read(HEADER.replace("   time", "cputime") + GOOD_ROWS))


def test_time_stamps_behind_the_rows_are_passed_over() -> None:
    rows = GOOD_ROWS.replace("0\n", "0  2026-03-01 10:00:00\n")
    assert read(f"{HEADER}{rows}").facts["rows"] == 2


def test_statistics_of_iterations_are_passed_over() -> None:
    extra = "    90.0   110.0   109.0     3.2"
    header = HEADER.replace("#wrong", "#wrong   i_min   i_max   i_p99   i_cv%")
    rows = "".join(
        line[: line.index("    100.0", 60) if "100.0" in line else line.index("    150.0", 60)]
        + extra
        + line[line.index("    100.0", 60) if "100.0" in line else line.index("    150.0", 60) :]
        + extra
        + "\n"
        for line in GOOD_ROWS.splitlines()
    )
    facts = read(header + rows).facts
    assert facts["rows"] == 2
    assert facts["ip_busbw_gbps_at_max"] == 24.47


def test_a_root_of_zero_is_no_time() -> None:
    facts = corpus("nccl-tests/a100x8-reduce-old-root-column.log").facts
    assert facts["points"][-1]["root"] == 0
    assert facts["points"][-1]["out_of_place"]["time_us"] == 37613.0


def test_the_json_file_of_the_tool_reads_like_its_text() -> None:
    def group(busbw: float) -> dict[str, Any]:
        return {"time": 100.0, "alg_bw": 10.48576, "bus_bw": busbw, "nwrong": 0.0}

    document = {
        "version": 1,
        "args": ["./build/all_reduce_perf_mpi", "-b", "1M"],
        "env": ["HOME=/root"],
        "nccl_version": 22907,
        "config": {
            "nthreads": 1,
            "ngpus": 1,
            "minimum_bytes": 1048576,
            "maximum_bytes": 1048576,
            "warmup_iters": 1,
            "iterations": 20,
            "validation": 1,
            "devices": [
                {"rank": r, "pid": r, "hostname": "n1", "device": r, "device_hex": f"0000:1{r}:00", "device_info": "X"}
                for r in range(2)
            ],
        },
        "results": [
            {"size": 1048576, "count": 262144, "type": "float", "redop": "sum", "root": "    -1",
             "out_of_place": group(10.48576), "in_place": group(10.48576)}
        ],
        "out_of_bounds": {"count": 0, "okay": "true"},
        "average_bus_bandwidth": {"bandwidth": 10.48576, "okay": "unchecked"},
    }  # fmt: skip
    reading = registry.read(Source.of_text(json.dumps(document)))
    assert reading.kind == "nccl_tests"
    assert reading.warnings == ()
    assert reading.facts["collective"] == "all_reduce"
    assert reading.facts["library_code"] == 22907
    assert (reading.facts["ranks"], reading.facts["nodes"]) == (2, 1)
    assert reading.facts["oop_busbw_gbps_at_max"] == 10.48576


def test_the_json_file_lists_one_rank_for_each_process() -> None:
    document = {"config": {"nthreads": 1, "ngpus": 8, "devices": [{"rank": 0}, {"rank": 8}]}, "results": [],
                "nccl_version": 22907}  # fmt: skip
    assert read(json.dumps(document)).facts["ranks"] == 16


def test_cut_json_is_refused() -> None:
    with pytest.raises(Unreadable, match="damaged"):
        read('{"nccl_version": 22907, "config": {"nthr')


def test_a_text_without_the_tool_is_refused() -> None:
    with pytest.raises(Unreadable):
        read("nothing of the kind\n")


def test_names_of_amd_make_it_rccl_tests() -> None:
    amd = good_run().replace("NVIDIA H100 80GB HBM3", "AMD Instinct MI300X")
    assert registry.recognise(Source.of_text(amd)) == rccl_tests.KIND
    assert registry.recognise(Source.of_text(good_run())) == nccl_tests.KIND


def test_a_table_amid_messages_of_nccl_is_a_table() -> None:
    noise = "n1:100:100 [0] NCCL INFO Channel 00 : 0[0] -> 1[1] via P2P/IPC\n" * 5
    assert registry.recognise(Source.of_text(noise + good_run())) == nccl_tests.KIND


def rccl_object(size: int, place: int, *, name: str = "AllReduce", **more: Any) -> dict[str, Any]:
    figures = {"time": 100.0, "algBw": size / 1e5, "busBw": size / 1e5 * 1.75, "wrong": 0}
    return {
        "numCycle": 0,
        "name": name,
        "size": size,
        "type": "float",
        "redop": "sum",
        "inPlace": place,
        **figures,
        **more,
    }


def test_the_json_objects_of_rccl_tests_become_rows() -> None:
    objects = [rccl_object(size, place, nodes=1, ranks=8) for size in (1048576, 2097152) for place in (0, 1)]
    reading = registry.read(Source.of_text(json.dumps(objects, indent=1)))
    assert reading.kind == rccl_tests.KIND
    assert reading.warnings == ()
    facts = reading.facts
    assert (facts["collective"], facts["ranks"], facts["nodes"], facts["rows"]) == ("all_reduce", 8, 1, 2)
    assert facts["ip_busbw_gbps_at_max"] == pytest.approx(36.70016)


@pytest.mark.parametrize(
    "told", [{"ranks": 10**12}, {"ranks": -1}, {"ranks": 0}, {"nodes": 10**12}, {"nodes": -1}]
)
def test_counts_that_no_job_has_are_not_known(told: dict[str, int]) -> None:
    facts = rccl_tests.read(Source.of_text(json.dumps([rccl_object(1048576, 0, **told)]))).facts
    assert facts[next(iter(told))] is None


def test_a_size_that_no_memory_has_is_no_row() -> None:
    objects = [rccl_object(size, 0) for size in (1048576, 10**40, -8)]
    assert rccl_tests.read(Source.of_text(json.dumps(objects))).facts["rows"] == 1


def test_wrong_values_stay_a_number_that_can_be_kept() -> None:
    facts = rccl_tests.read(Source.of_text(json.dumps([rccl_object(1048576, 0, wrong=10**30)]))).facts
    assert facts["wrong_total"] == 2**53


def test_collectives_of_one_json_file_are_runs() -> None:
    objects = [
        rccl_object(1048576, place, name=name) for name in ("AllReduce", "Broadcast") for place in (0, 1)
    ]
    reading = rccl_tests.read(Source.of_text("\n".join(map(json.dumps, objects))))
    assert [run["collective"] for run in reading.facts["runs"]] == ["all_reduce", "broadcast"]


def test_a_place_that_was_not_measured_is_unknown_and_said() -> None:
    reading = rccl_tests.read(Source.of_text(json.dumps([rccl_object(1048576, 1)])))
    assert reading.facts["oop_busbw_gbps_at_max"] is None
    assert "figure_unreadable" in codes(reading)


def test_sweeps_of_several_types_in_one_table_do_not_descend() -> None:
    halves = FIRST.replace(" 262144     float", " 524288      half") + SECOND.replace(
        " 524288     float", "1048576      half"
    )
    reading = read(HEADER + GOOD_ROWS + halves)
    assert "several_operations" in codes(reading)
    assert "sizes_descend" not in codes(reading)


def test_a_guide_that_shows_a_command_is_no_output() -> None:
    guide = "# How to test\n\nRun `./build/all_reduce_perf -b 8 -e 128M -g 8`. An error means that NCCL is broken.\n"
    assert nccl_tests.recognise(guide) == 0


def test_a_command_that_the_launcher_refused_is_a_failed_run() -> None:
    text = "$ all_reduce_perf -b 8 -e 128M\nbash: all_reduce_perf: command not found\n"
    assert nccl_tests.recognise(text) > 0
    facts = read(text).facts
    assert (facts["collective"], facts["status"], facts["rows"]) == ("all_reduce", "failed", 0)
