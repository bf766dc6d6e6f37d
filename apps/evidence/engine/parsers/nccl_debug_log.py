"""The log that NCCL (and RCCL) writes with NCCL_DEBUG=INFO or WARN, also amid other output.

Streams: distinct values and errors are collected, memory does not grow with the file.
"""

from __future__ import annotations

import re

from apps.core.texts import say
from apps.evidence.engine.parsers._nccl_messages import VERSION_TEXT, Findings, read_message
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Source

KIND = "nccl_debug_log"
VERSION = 4

_LINE = re.compile(
    r"(?:[\w.-]{1,120}:\d+:\d+ \[-?\d+\] (?:\S{1,80}:\d+ )?|\]\[\d+:\d+\]\[-?\d+\]\S{0,80} )"
    r"NCCL (?:INFO|WARN|TRACE)\b"
)


def recognise(sample: str) -> int:
    found = len(_LINE.findall(sample))
    return 70 if found > 2 else 40 if found else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no message of NCCL is in the file."""
    findings = Findings()
    number = 0
    for line in source.lines():
        number = line.number
        text = line.text
        if "CCL" not in text:
            continue
        message = read_message(text) if " NCCL " in text else None
        if message:
            findings.add(number, message)
        elif found := VERSION_TEXT.search(text):
            findings.versions.setdefault(found.group(1))
    if not findings.messages:
        raise Unreadable(say("no message of NCCL was found"), code="no_nccl_messages")
    return Reading(
        kind=KIND,
        facts=_facts(findings, number),
        warnings=tuple(findings.warnings()),
        parser_version=VERSION,
    )


def _facts(findings: Findings, lines: int) -> dict[str, object]:
    return {
        "nccl_versions": list(findings.versions),
        "cuda_driver_versions": list(findings.drivers),
        "nranks": list(findings.nranks),
        "nnodes": list(findings.nnodes),
        "hosts": list(findings.hosts),
        "network": list(findings.networks),
        "transports": dict(findings.transports),
        "env_set": {name: next(iter(values)) for name, values in findings.environment.items()},
        "env_values": {name: list(values) for name, values in findings.environment.items()},
        "ib_devices": list(findings.ib_devices) or ("none found" if findings.ib_none else None),
        "warnings": findings.warn_lines,
        "lines": lines,
        "ranks": list(findings.ranks.values()),
        "p2p_disabled_pairs": [list(pair) for pair in findings.p2p_disabled],
        "gpu_direct_rdma": findings.gpu_direct,
        "errors": list(findings.errors.values()),
    }
