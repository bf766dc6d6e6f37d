"""The runs in the output of nccl-tests and its relatives: which lines belong together, and what they say.

A file may hold several runs one after the other, or several independent programs at once; some runs die
after their header. Nothing is guessed here: a collective counts only where the text names the program.
"""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass, field

from apps.core.texts import say
from apps.evidence.engine.parsers import _perf_rows as rows
from apps.evidence.engine.reading import ReadingWarning
from apps.evidence.engine.source import Line

MOST_ROWS = 20_000
MOST_RUNS = 500
MOST_RANKS = 65_536
HIGHEST_COUNT = 2**31  # of ranks or nodes that a file may tell of
_MOST_WARNINGS = 50

_RANK = re.compile(
    r"\bRank (\d{1,7})(?: Group \d+)? Pid (\d{1,12}) on (\S+) device (\d{1,4}) \[([0-9A-Fa-fx:.]+)\] ?(.*)$"
)
_TOOL = re.compile(r"\b([nr])c+l-tests:? version:? (\S+)(.*)$", re.IGNORECASE)
_LIBRARY_CODE = re.compile(r"\b[nr]ccl-library=(\d{1,9})\b")
_SETTINGS = {
    "n_thread": re.compile(r"\bnThread (\d{1,18})\b"),
    "n_gpus": re.compile(r"\bnGpus (\d{1,18})\b"),
    "min_bytes_asked": re.compile(r"\bminBytes (\d{1,18})\b"),
    "max_bytes_asked": re.compile(r"\bmaxBytes (\d{1,18})\b"),
    "warmup_iters": re.compile(r"\bwarmup iters: (\d{1,18})\b"),
    "iters": re.compile(r"(?<!warmup )(?<!agg )\biters: (\d{1,18})\b"),
    "validation": re.compile(r"\bvalidation: (\d{1,18})\b"),
}
_COLLECTIVES = (
    "all_reduce|all_gather|alltoallv|alltoall|all_to_allv|all_to_all|broadcast|reduce_scatter|reduce|"
    "sendrecv|gather|scatter|hypercube"
)
_PROGRAM = re.compile(rf"(?<![A-Za-z0-9_])({_COLLECTIVES})_perf(?:_mpi)?(?![A-Za-z0-9_])( -{{1,2}}[A-Za-z])?")
_STARTING = re.compile(r"Collective test starting: (\S+)")
_AVERAGE = re.compile(r"Avg bus bandwidth ?: ?(\S+)")
_OUT_OF_BOUNDS = re.compile(r"Out of bounds values ?: ?(\d{1,18})\b")
_FAILURE = re.compile(
    r"Test (?:CUDA|HIP|NCCL|RCCL)? ?failure|\b(?:srun|slurmstepd|mpirun|prterun): error|: error:|"
    r"\bInvalid number of GPUs\b|Segmentation fault|Primary job terminated|\bexit code [1-9]",
    re.IGNORECASE,
)
_FAILURE_WORDS = ("failure", "error", "invalid", "fault", "terminated", "exit code")
_ROW_ENDS = "0123456789A*"  # the last cell is a count, N/A, or a count with the asterisk of rccl-tests
_LIBRARY = re.compile(r"\b[NR]CCL version :? ?(\d\S*)")


@dataclass(frozen=True, slots=True)
class Rank:
    """One line of the rank list. bus: as printed, a byte (0x1b) in old versions."""

    rank: int
    pid: int
    host: str
    device: int
    bus: str
    gpu: str


@dataclass(slots=True)
class Run:
    """What was found of one run. first_ranks: host and process id of each line that says rank 0."""

    tool: str | None = None
    tool_version: str | None = None
    library_code: int | None = None
    library_version: str | None = None
    starting: str | None = None
    commanded: list[str] = field(default_factory=list)
    mentioned: list[str] = field(default_factory=list)
    settings: dict[str, int] = field(default_factory=dict)
    ranks: list[Rank] = field(default_factory=list)
    first_ranks: set[tuple[str, int]] = field(default_factory=set)
    rank_list_cut: bool = False
    unlisted_ranks: int = 0
    told_ranks: int | None = None
    told_nodes: int | None = None
    header: rows.Header | None = None
    rows: list[rows.Row] = field(default_factory=list)
    rows_left_out: int = 0
    averages: list[float | None] = field(default_factory=list)
    out_of_bounds: int | None = None
    failures: list[tuple[int, str]] = field(default_factory=list)
    failure_count: int = 0
    warnings: list[ReadingWarning] = field(default_factory=list)

    @property
    def programs(self) -> int:
        """How many programs called one of their processes rank 0; at least one."""
        return max(1, len(self.first_ranks))

    @property
    def rank_count(self) -> int | None:
        """As told, else the highest rank plus one and those behind it that are not listed.

        None without any, and where that is a number which no job has.
        """
        highest = max((rank.rank for rank in self.ranks), default=None)
        count = self.told_ranks if highest is None else highest + 1 + self.unlisted_ranks
        return count if count is not None and 0 < count < HIGHEST_COUNT else None

    @property
    def concluded(self) -> bool:
        return len(self.averages) >= self.programs

    @property
    def says_something(self) -> bool:
        """Whether there is more than a mention of the program."""
        return bool(self.settings or self.ranks or self.rows or self.failures or self.header or self.averages)

    def warn(self, code: str, message: str, line: int | None = None, text: str = "") -> None:
        if len(self.warnings) < _MOST_WARNINGS:
            self.warnings.append(ReadingWarning(code=code, message=message, line=line, text=text[:200]))


def program_in(text: str) -> str | None:
    """The collective whose program the text names, all_reduce for all_reduce_perf_mpi; None without one."""
    found = _PROGRAM.search(text)
    return found.group(1) if found else None


def runs_in(lines: Iterable[Line]) -> list[Run]:
    """The runs in order. A run of which only the command is there counts where there is no other."""
    reader = _Reader()
    for line in lines:
        reader.take(line.number, rows.squeezed(line.text))
    runs = [run for run in reader.runs if run.says_something]
    return runs or [run for run in reader.runs if run.commanded][:1]


class _Reader:
    """Goes over the lines once, holding the run that the next line belongs to."""

    def __init__(self) -> None:
        self.runs = [Run()]
        self.rows_kept = 0

    @property
    def run(self) -> Run:
        return self.runs[-1]

    def next_run(self, *, when: bool) -> Run:
        """The run that the line belongs to: a new one `when` the line cannot belong to the current one."""
        if (when or self.run.concluded) and len(self.runs) < MOST_RUNS:
            self.runs.append(Run())
        return self.run

    def take(self, number: int, text: str) -> None:
        if not text:
            return
        row = rows.read_row(number, text, self.run.header) if text[-1] in _ROW_ENDS else None
        if row:
            self.take_row(row)
        elif "algbw" in text and (header := rows.read_header(text)):
            self.next_run(when=bool(self.run.rows) and self.run.programs == 1).header = header
        elif "Rank " in text and (found := _RANK.search(text)):
            self.take_rank(number, found)
        elif not (self.take_heading(text) or self.take_summary(text)):
            self.take_other(number, text)

    def take_row(self, row: rows.Row) -> None:
        run = self.next_run(when=False)
        if self.rows_kept >= MOST_ROWS:
            run.rows_left_out += 1
            return
        self.rows_kept += 1
        run.rows.append(row)

    def take_rank(self, number: int, found: re.Match[str]) -> None:
        rank, pid, host, device, bus, gpu = found.groups()
        run = self.next_run(when=bool(self.run.rows))
        if len(run.ranks) >= MOST_RANKS:
            return
        name, cut, _ = gpu.partition("...")
        run.rank_list_cut |= bool(cut)
        new = Rank(int(rank), int(pid), host, int(device), bus.lower(), name.strip())
        if new in run.ranks[-8:]:
            run.warn(
                "rank_repeated", say("the same line of the rank list is there twice"), number, found.group(0)
            )
        else:
            run.ranks.append(new)
            if new.rank == 0:
                run.first_ranks.add((new.host, new.pid))

    def take_heading(self, text: str) -> bool:
        """Version, name of the test, first line with the settings."""
        if "-tests" in text and (found := _TOOL.search(text)):
            run = self.next_run(when=bool(self.run.rows) or self.died())
            run.tool = "rccl-tests" if found.group(1).lower() == "r" else "nccl-tests"
            run.tool_version = found.group(2)
            code = _LIBRARY_CODE.search(found.group(3))
            run.library_code = int(code.group(1)) if code else None
        elif found := _STARTING.search(text):
            run = self.next_run(when=bool(self.run.rows or self.run.starting) and self.run.programs == 1)
            run.starting = program_in(found.group(1))
        elif "nThread " in text and _SETTINGS["n_thread"].search(text):
            run = self.next_run(when=self.died() or bool(self.run.rows and self.run.programs == 1))
            for key, pattern in _SETTINGS.items():
                if value := pattern.search(text):
                    run.settings[key] = int(value.group(1))
        else:
            return False
        return True

    def died(self) -> bool:
        """Whether the current run had begun and then failed."""
        return bool(self.run.settings and self.run.failures)

    def take_summary(self, text: str) -> bool:
        if found := _AVERAGE.search(text):
            if len(self.run.averages) < MOST_RUNS:
                self.run.averages.append(rows.number(found.group(1)))
        elif found := _OUT_OF_BOUNDS.search(text):
            several = self.run.out_of_bounds if self.run.programs > 1 else None
            self.run.out_of_bounds = int(found.group(1)) + (several or 0)
        else:
            return False
        return True

    def take_other(self, number: int, text: str) -> None:
        if found := _LIBRARY.search(text):
            self.run.library_version = self.run.library_version or found.group(1)
        lower = text.lower()
        failed = any(word in lower for word in _FAILURE_WORDS) and bool(_FAILURE.search(text))
        if failed:
            self.take_failure(number, text)
        if "_perf" in text and "test concluded" not in text:
            self.take_program(text, failed=failed)
        elif not failed and rows.looks_like_row(text):
            self.run.warn("row_not_understood", say("this row of the table could not be read"), number, text)

    def take_failure(self, number: int, text: str) -> None:
        self.run.failure_count += 1
        if len(self.run.failures) < _MOST_WARNINGS:
            self.run.failures.append((number, text[:200]))

    def take_program(self, text: str, *, failed: bool) -> None:
        """Names of programs: in a command, which begins a run, or mentioned, which an error does too."""
        found = list(_PROGRAM.finditer(text))
        if not found:
            return
        is_command = not failed and any(match.group(2) for match in found)
        begun = bool(self.run.settings or self.run.rows or self.run.failures)
        run = self.run if failed else self.next_run(when=is_command and begun)
        names = run.commanded if is_command else run.mentioned
        names += dict.fromkeys(match.group(1) for match in found if match.group(1) not in names)
