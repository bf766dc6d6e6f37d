"""Recognition: which parser reads a piece of evidence, told by its content and never by its name."""

from __future__ import annotations

import importlib
import pkgutil
import re
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from types import ModuleType
from typing import Any, Protocol

from apps.core.texts import Text, say
from apps.evidence.engine import parsers
from apps.evidence.engine.parsers._hosts import Host, hosts_in
from apps.evidence.engine.parsers._prefixes import without_prefix
from apps.evidence.engine.reading import Reading, ReadingWarning, Unreadable
from apps.evidence.engine.source import Source

_QUITE_SURE = 100
# The short table, and what `amd-smi list` and `amd-smi static` print for people.
_AMD_SMI = re.compile(r"\| AMD-SMI +\d|^GPU: \d{1,3}\n[ \t]+(?:ASIC|BDF|BUS|UUID)\b", re.MULTILINE)
# `nvidia-smi --query-gpu` with noheader: comma-separated, with a UUID, an address or a size among the values.
_GPU_VALUES = re.compile(
    r"^(?=[^\n]{0,400},)[^\n]{0,400}?"
    r"(?:\bGPU-[0-9a-f]{8}-[0-9a-f-]{27}|\b[0-9A-F]{8}:[0-9A-F]{2}:[0-9A-F]{2}\.0|, ?\d+ MiB)(?:,|$)",
    re.MULTILINE,
)
_DIGIT = re.compile(r"\d")
_ENDS_OF_PROMPTS = "#$>%"
# Lines of these name their host themselves: the former parser reads it in front, the latter behind it.
_KEEPS_HOSTS, _SAYS_HOSTS = "kernel_log", "nccl_debug_log"
# Warnings by which a parser itself says that its last line may be cut.
_SAYS_CUT = frozenset({"cut_line", "cut_off", "last_line_not_ended"})


class Parser(Protocol):
    """A module of the family apps/evidence/engine/parsers: one format, one file.

    KIND names the format; VERSION counts up when the same bytes read differently.
    """

    KIND: str
    VERSION: int

    def recognise(self, sample: str) -> int:
        """How sure the parser is that the clean sample is its format: 0 (not at all) to 100 (its title)."""

    def read(self, source: Source) -> Reading:
        """Read it. Raises Unreadable with a one-line reason."""


@cache
def all_parsers() -> dict[str, ModuleType]:
    """Kind to parser module, for every file of the family."""
    found: dict[str, ModuleType] = {}
    for info in pkgutil.iter_modules(parsers.__path__):
        if info.name.startswith("_"):
            continue
        module = importlib.import_module(f"{parsers.__name__}.{info.name}")
        found[module.KIND] = module
    return dict(sorted(found.items()))


def recognise(source: Source) -> str:
    """The kind whose parser is surest. Raises Unreadable where none is."""
    return _recognised(source)[0]


def _recognised(source: Source, kind: str = "") -> tuple[str, Source]:
    """The kind that evidence is (`kind` where it is named), and the evidence as its tool printed it.

    What a tool that asks many hosts adds is taken away where that leaves something at least as sure as it was.
    Raises Unreadable where no parser is sure, and for what several hosts printed, unless each line says whose it is.
    """
    found, score = _surest(source.sample, kind)
    hosts = hosts_in(source.sample)
    if hosts:
        name, of_one = _surest(hosts[0].part_of(source.sample), kind)
        if of_one and of_one >= score and name != _KEEPS_HOSTS:
            return name, source.as_printed(_printed_by(hosts, name))
    if not found:
        raise Unreadable(_why_unrecognised(source.sample), code="unrecognised")
    return found, source


def _surest(sample: str, kind: str) -> tuple[str, int]:
    """The kind of the surest parser (the last of equals by name), or `kind`, and how sure it is; no kind: none is."""
    best, most = kind, 0
    for name, parser in reversed(({kind: all_parsers()[kind]} if kind else all_parsers()).items()):
        if (sure := parser.recognise(sample)) > most:
            best, most = name, sure
        if most == _QUITE_SURE:
            break
    return best, most


def _printed_by(hosts: Sequence[Host], kind: str) -> Callable[[str], str]:
    if kind == _SAYS_HOSTS:
        return hosts[0].without
    if len(hosts) > 1:
        raise hosts[0].beside(hosts[1].name)
    return hosts[0].alone


def _why_unrecognised(sample: str) -> Text:
    if _GPU_VALUES.search(sample):
        return say(
            "these are values without their names; ask nvidia-smi --query-gpu for them without noheader"
        )
    if _AMD_SMI.search(sample):
        command = "amd-smi static --json"
        return say(
            "this form of the tool's output is not read; hand in what %(command)s prints", command=command
        )
    return say("this is not the output of a tool that the portal knows")


def read(source: Source, *, kind: str = "") -> Reading:
    """Read evidence, as `kind` or as what it is recognised to be. Raises Unreadable."""
    if kind and kind not in all_parsers():
        raise Unreadable(
            say(
                "unknown kind %(kind)s; known: %(all_parsers)s",
                kind=f"{kind!r}",
                all_parsers=", ".join(all_parsers()),
            ),
            code="unknown_kind",
        )
    kind, source = _recognised(source, kind)
    parser = all_parsers()[kind]
    reading: Reading = parser.read(source)
    return _with_open_end(reading, source, parser)


def _with_open_end(reading: Reading, source: Source, parser: Parser) -> Reading:
    """Warns where the last line has no line end, as in a file that was cut, and something is read from it alone, or it
    is the beginning of a line such as came before.

    A text of one line, and a document that ends with its closing bracket, are whole without a line end.
    """
    last = source.open_end
    if last is None or last.number == 1 or not last.text.strip() or _closes_document(last.text, source):
        return reading
    if any(one.code in _SAYS_CUT and one.line in (None, last.number) for one in reading.warnings):
        return reading
    if not _begins_another(last.text, source) and _says_nothing_alone(reading, source, parser):
        return reading
    message = say("the file ends without a line end; what its last line says may be cut")
    warning = ReadingWarning(code="open_end", message=message, line=last.number, text=last.text.strip()[:200])
    return replace(reading, warnings=(*reading.warnings, warning))


def _says_nothing_alone(reading: Reading, source: Source, parser: Parser) -> bool:
    """Whether the same is read without the last line."""
    try:
        return _said(parser.read(source.without_open_end())) == _said(reading)
    except Unreadable:
        return False


def _begins_another(last: str, source: Source) -> bool:
    """Whether a longer line of the sample begins like it, whatever its digits. A shell's prompt or a fence is none."""
    start = _DIGIT.sub("0", without_prefix(last).strip())
    if not start or not start[0].isalnum() or start[-1] in _ENDS_OF_PROMPTS:
        return False
    others = (_DIGIT.sub("0", without_prefix(other).strip()) for other in source.sample.split("\n"))
    return any(len(other) > len(start) and other.startswith(start) for other in others)


def _closes_document(last: str, source: Source) -> bool:
    end, start = last.rstrip()[-1:], source.sample.lstrip()[:1]
    return end in ("}", ">") or (end == "]" and start == "[")


def _said(reading: Reading) -> dict[str, Any]:
    """What the reading says, but for how many lines the file has."""
    return {key: value for key, value in reading.facts.items() if key != "lines"}
