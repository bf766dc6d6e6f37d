"""Doubts: which warnings count, and against which run of a file."""

from __future__ import annotations

from apps.benchmarks.engine.doubts import doubts_of_run

FIRST, SECOND = [{"line": 10}, {"line": 11}], [{"line": 30}]


def codes(points, warnings, others=()):
    return [doubt["code"] for doubt in doubts_of_run(points, warnings, lines_of_others=others)]


def test_warnings_that_say_nothing_against_the_figures_are_left_out():
    harmless = [{"code": "several_runs", "message": "m"}, {"code": "decimal_comma", "message": "m"}]
    assert codes(FIRST, harmless) == []


def test_a_warning_about_a_row_concerns_the_run_of_that_row_only():
    warnings = [{"code": "wrong_data", "message": "m", "line": 30}]
    assert codes(FIRST, warnings, others=[30]) == []
    assert codes(SECOND, warnings, others=[10, 11]) == ["wrong_data"]


def test_a_warning_about_no_row_concerns_every_run_of_the_file():
    warnings = [{"code": "independent_runs", "message": "m", "line": None}]
    assert (
        codes(FIRST, warnings, others=[30])
        == codes(SECOND, warnings, others=[10, 11])
        == ["independent_runs"]
    )


def test_each_code_counts_once_and_the_gravest_comes_first():
    warnings = [
        {"code": "sizes_descend", "message": "later", "line": 10},
        {"code": "wrong_data", "message": "first", "line": 10},
        {"code": "wrong_data", "message": "second", "line": 11},
    ]
    found = doubts_of_run(FIRST, warnings)
    assert found == [
        {"code": "wrong_data", "message": "first"},
        {"code": "sizes_descend", "message": "later"},
    ]
