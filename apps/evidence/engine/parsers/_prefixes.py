"""What launchers, log collectors and people put in front of each line of a tool's output.

srun -l (`0: `), mpirun --tag-output (`[1,0]<stdout>:`) and -l (`[0] `), torchrun (`[default0]:`,
`[rank0]: `), Ray (`(Worker pid=7, ip=192.0.2.1) `, `(raylet) `), kubectl, docker and the files that a node keeps of
its containers (`[pod/a/b] `, `a-0 | `, `stdout F `), timestamps, quote marks.
Prefixes may be stacked; the indentation behind the last one belongs to the tool and stays.
"""

from __future__ import annotations

import re
import string
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from apps.evidence.engine.source import Line

_CLOCK = r"\d{1,2}:\d{2}:\d{2}(?:[.,]\d{1,9})?"
_ISO = rf"\d{{4}}-\d{{2}}-\d{{2}}[T ]{_CLOCK}(?: ?(?:Z|UTC|[+-]\d{{2}}:?\d{{2}}))?"
_CTIME = rf"(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun) [A-Z][a-z]{{2}} {{1,2}}\d{{1,2}} {_CLOCK} \d{{4}}"

# Each takes exactly one separating blank, so that indentation survives. Named groups: task, stream, source.
_TIME = re.compile(rf"(?:\[(?:{_ISO}|{_CTIME}|{_CLOCK})\]|{_ISO}|{_CLOCK})(?:[:,|]? |\t|$)")
# A worker (`(Train pid=7, ip=192.0.2.1)`, `(pid=7)`) or a service of Ray itself (`(raylet)`, `(autoscaler +5s)`).
RAY = (
    r"\((?P<source>(?:(?:[\w.:<>-]{1,80}(?: [\w.=-]{1,40})? )?pid=\w{1,20}|"
    r"raylet|gcs_server|log_monitor|dashboard(?:_agent)?|runtime_env_agent|(?:autoscaler|scheduler) \+[\dhms]{1,12})"
    r"(?:, (?:ip|node_id)=[\w.:-]{1,64}){0,2})\) ?"
)
_RAY = re.compile(RAY)
_TASK = re.compile(r" {0,5}(?P<task>\d{1,6}):(?: |$)")
_CRI = re.compile(r"(?P<stream>stdout|stderr) [FP](?: |$)")
_COMPOSE = re.compile(r"(?P<source>[a-z0-9]{1,40}(?:[.-][a-z0-9]{1,40}){1,12}) {1,40}\|(?: |$)")
_IN_BRACKETS = tuple(
    re.compile(pattern)
    for pattern in (
        r"\[\d{1,6},(?P<task>\d{1,6})\]<(?P<stream>stdout|stderr|stddiag)>:",
        r"\[[\w.@-]{1,99}@\d{1,6},(?P<task>\d{1,6})\]<(?P<stream>stdout|stderr|stddiag)>:(?: |$)",
        r"\[(?P<task>\d{1,6})\] ",
        r"\[default(?P<task>\d{1,6})\]:",
        r"\[rank(?P<task>\d{1,6})\]:(?: |$)",
        r"\[(?P<source>pod/[\w./-]{1,300})\] ?",
    )
)
# By the character that a line begins with; most lines begin with none of these, and there are many lines.
_BY_FIRST = {
    "[": (_TIME, *_IN_BRACKETS),
    "(": (_RAY,),
    ">": (re.compile(r">(?: |$)"),),
    " ": (_TASK,),
    **dict.fromkeys(string.digits, (_TIME, _TASK, _COMPOSE)),
    **dict.fromkeys(string.ascii_lowercase, (_COMPOSE,)),
    "s": (_CRI, _COMPOSE),
}
_MOST_STACKED = 4


@dataclass(frozen=True, slots=True)
class Tagged:
    """A line taken apart.

    text: what the tool printed. task: number that the launcher gave to the process, None where it gave none.
    stream: stdout, stderr, stddiag or empty. source: pod, container or Ray process, or empty.
    prefix: everything that was in front, as found.
    """

    text: str
    task: int | None = None
    stream: str = ""
    source: str = ""
    prefix: str = ""


def untag(text: str) -> Tagged:
    """The line without its prefixes, and what they say."""
    task: int | None = None
    stream = source = ""
    rest = text
    for _ in range(_MOST_STACKED):
        patterns = _BY_FIRST.get(rest[:1], ())
        found = next((match for pattern in patterns if (match := pattern.match(rest))), None)
        if found is None or not found.end():
            break
        said = found.groupdict()
        if said.get("task") is not None and task is None:
            task = int(said["task"])
        stream = stream or said.get("stream") or ""
        source = source or said.get("source") or ""
        rest = rest[found.end() :]
    return Tagged(rest, task, stream, source, text[: len(text) - len(rest)])


def without_prefix(text: str) -> str:
    """The line as the tool printed it."""
    return untag(text).text


def unprefixed(lines: Iterable[Line]) -> Iterator[Line]:
    """The same lines, numbered as before, without prefixes."""
    return (Line(line.number, untag(line.text).text) for line in lines)


def by_process(lines: Iterable[Line]) -> dict[str, list[Line]]:
    """Lines grouped by the process that printed them, in order of first appearance.

    The key is `task N`, the pod or Ray process, or empty for lines that name neither; prefixes are gone.
    """
    groups: dict[str, list[Line]] = {}
    for line in lines:
        tagged = untag(line.text)
        key = f"task {tagged.task}" if tagged.task is not None else tagged.source
        groups.setdefault(key, []).append(Line(line.number, tagged.text))
    return groups
