"""`nvidia-smi topo -m`: how GPUs and NICs of one host are connected."""

from __future__ import annotations

import re

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._topo_matrix import PEER_WORDS, find_matrix, matrix_facts
from apps.evidence.engine.parsers._version_files import note_cut
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "nvidia_smi_topo"
VERSION = 1

_HEADER = re.compile(r"\bGPU\d{1,3}\b[^\n]{0,4000}?\bCPU Affinity\b")
_ROW = re.compile(r"\bGPU\d{1,3}[ \t]+(?:[A-Z][A-Z0-9]{0,7}[ \t]+){0,128}X(?:[ \t]|$)", re.MULTILINE)
_LEGEND = re.compile(r"\bX +=? *= Self\b|\bNV# += Connection\b")


def recognise(sample: str) -> int:
    if not _ROW.search(sample):
        return 0
    return 90 if _HEADER.search(sample) or _LEGEND.search(sample) else 50


def read(source: Source) -> Reading:
    notes = Notes()
    lines = one_process(plain_lines(source), _has_matrix, notes)
    matrix = find_matrix(lines, notes)
    if matrix is None:
        raise Unreadable(
            say("nvidia-smi topo: there is no matrix with a header and rows of GPUs"), code="no_matrix"
        )
    used = matrix.all_words() - {"X"}
    if used and used <= PEER_WORDS:
        raise Unreadable(
            say(
                "nvidia-smi topo: this is the matrix of peer access (topo -p2p), not of connections (topo -m)"
            ),
            code="peer_matrix",
        )
    note_cut(source, matrix.named_at, notes)
    return Reading(kind=KIND, facts=matrix_facts(matrix, notes), warnings=notes.all(), parser_version=VERSION)


def _has_matrix(lines: list[Line]) -> bool:
    return find_matrix(lines, Notes()) is not None
