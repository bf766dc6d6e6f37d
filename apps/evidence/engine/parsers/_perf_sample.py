"""How sure it is, from the beginning of a file, that it holds output of nccl-tests or a relative."""

from __future__ import annotations

import re

from apps.evidence.engine.parsers import _perf_json
from apps.evidence.engine.parsers._perf_rows import read_header, read_row, squeezed

_HEADING = re.compile(
    r"\bnThread +\d+ +nGpus +\d+ +minBytes|\bRank +\d+ +(?:Group +\d+ +)?Pid +\d+ +on +\S+ +device +\d+ +\[|"
    r"\b[nr]c+l-tests:? version",
    re.IGNORECASE,
)
_COMMAND = re.compile(
    r"(?<![A-Za-z0-9_])(?:all_reduce|all_gather|all_?to_?all(?:v|_v)?|broadcast|reduce_scatter|reduce|sendrecv|"
    r"gather|scatter|hypercube)_perf(?:_mpi)? +-{1,2}[A-Za-z]"
)
_FAILED = re.compile(
    r"^.{0,80}?\b(?:srun|slurmstepd|mpirun|mpiexec|prterun|bash|sh): .{0,200}?"
    r"(?:[Ee]rror|not found|No such file|[Dd]enied|[Ff]ailed|[Uu]nable)|\b(?:ORTE|PRTE|PMIX) ERROR\b",
    re.MULTILINE,
)
_AMD = re.compile(
    r"\br+c+l-tests|rccl-library|\bAMD (?:Instinct|Radeon)|exceeded the maximum threshold|\bgfx9"
)


def score(sample: str) -> int:
    """90 for a heading or column names, 50 for rows alone, 30 for a command that failed, else 0."""
    if _perf_json.is_json(sample):
        return 90
    if _HEADING.search(sample):
        return 90
    lines = [squeezed(line) for line in sample.splitlines() if "algbw" in line]
    if any(read_header(line) for line in lines):
        return 90
    if _COMMAND.search(sample) and _FAILED.search(sample):
        return 30
    rows = (read_row(0, squeezed(line), None) for line in sample.splitlines())
    return 50 if any(rows) else 0


def is_amd(sample: str) -> bool:
    """Whether the sample names rccl-tests, RCCL or AMD's GPUs."""
    return bool(_AMD.search(sample))
