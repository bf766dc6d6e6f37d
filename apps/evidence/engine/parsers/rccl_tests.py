"""Output of rccl-tests, AMD's descendant of nccl-tests: the same table, told apart by name or GPUs."""

from __future__ import annotations

from apps.evidence.engine.parsers import _perf_facts, _perf_objects, _perf_sample
from apps.evidence.engine.parsers._perf_runs import runs_in
from apps.evidence.engine.reading import Reading
from apps.evidence.engine.source import Source

KIND = "rccl_tests"
VERSION = 1


def recognise(sample: str) -> int:
    if _perf_objects.are_in(sample):
        return 95
    score = _perf_sample.score(sample)
    return min(100, score + 5) if score and _perf_sample.is_amd(sample) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no run of the tool is in the file."""
    objects = _perf_objects.are_in(source.sample)
    runs = _perf_objects.runs_in(source) if objects else runs_in(source.lines())
    return _perf_facts.reading(KIND, VERSION, runs, tool="rccl-tests")
