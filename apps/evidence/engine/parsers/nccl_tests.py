"""Output of nccl-tests (all_reduce_perf and its sisters) in all versions, as text or as its JSON file.

Each line is found by its own shape, so prefixes, noise between rows and lost comment marks do no harm.
"""

from __future__ import annotations

from apps.evidence.engine.parsers import _perf_facts, _perf_json, _perf_sample
from apps.evidence.engine.parsers._perf_runs import runs_in
from apps.evidence.engine.reading import Reading
from apps.evidence.engine.source import Source

KIND = "nccl_tests"
VERSION = 1


def recognise(sample: str) -> int:
    return _perf_sample.score(sample)


def read(source: Source) -> Reading:
    """Raises Unreadable where no run of the tool is in the file."""
    runs = [_perf_json.read_run(source)] if _perf_json.is_json(source.sample) else runs_in(source.lines())
    return _perf_facts.reading(KIND, VERSION, runs, tool="nccl-tests")
