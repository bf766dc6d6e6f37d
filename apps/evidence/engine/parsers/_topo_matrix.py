"""The matrix of `nvidia-smi topo -m`: GPUs and NICs by GPUs and NICs, with affinity columns at the end.

Also printed inside of other reports, where tabs, the first blanks of the header, or gaps between columns may
be lost. Link cells are words and never empty, so they are counted from the left; what follows is affinity.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.source import Line

LINK_WORDS = frozenset({"X", "PIX", "PXB", "PHB", "NODE", "SYS", "SOC"})
PEER_WORDS = frozenset({"OK", "CNS", "NS", "GNS", "TNS", "DR", "U"})

_AFFINITY = re.compile(r"\b(CPU Affinity|NUMA Affinity|GPU NUMA ID)\b")
_GPU = re.compile(r"GPU\d{1,3}")
_SQUEEZED = re.compile(r"(?:GPU\d{1,3}|NIC\d{1,3})")
_LABEL = re.compile(r"[A-Za-z][\w.:-]{0,63}")
_WORD = re.compile(r"[A-Z][A-Z0-9]{0,7}")
_NVLINK = re.compile(r"NV\d{1,3}")
_CPU_LIST = re.compile(r"\d+(?:-\d+)?(?:,\d+(?:-\d+)?)*,?")
_NIC = re.compile(r"NIC\d{1,3}")
_LEGEND = re.compile(r"\s*(?P<label>NIC\d{1,3}): (?P<name>[\w.:-]{1,64})\s*")
_FIELDS = {"CPU Affinity": "cpu_affinity", "NUMA Affinity": "numa_affinity", "GPU NUMA ID": "gpu_numa_id"}


@dataclass(frozen=True, slots=True)
class Row:
    """A row as found: its label, its link words, and the texts behind them."""

    label: str
    words: list[str]
    tail: list[str]
    line: Line


@dataclass(slots=True)
class Matrix:
    """A matrix as found. rows: label to row; nic_names: label to device, from the legend."""

    columns: list[str]
    affinity_columns: list[str]
    first_line: Line
    rows: dict[str, Row] = field(default_factory=dict)
    nic_names: dict[str, str] = field(default_factory=dict)
    has_legend: bool = False
    named_at: list[Line] = field(default_factory=list)  # lines of the legend that name a NIC

    def words(self, label: str) -> list[str] | None:
        """Link words of a row, one for each column; None where their number is another."""
        row = self.rows.get(label)
        return row.words if row and len(row.words) == len(self.columns) else None

    def all_words(self) -> set[str]:
        return {word for row in self.rows.values() for word in row.words}


def find_matrix(lines: Iterable[Line], notes: Notes) -> Matrix | None:
    """The first matrix among the lines, None where there is none. A second one is noted and left out."""
    matrix: Matrix | None = None
    for line in lines:
        header = _header(line)
        if header and matrix and matrix.rows:
            notes.add(
                "several_matrices", say("there is more than one matrix; only the first is read"), at=line
            )
            break
        if header:
            matrix = header
        elif row := _row(line):
            matrix = matrix or Matrix([], [], line)
            _add(matrix, row, notes)
        elif matrix:
            _add_legend(matrix, line, notes)
    if matrix is None or not any(_GPU.fullmatch(label) for label in matrix.rows):
        if matrix and matrix.affinity_columns:
            notes.add("rows_missing", say("there is a header and no row of a GPU"), at=matrix.first_line)
        return None
    _settle_columns(matrix, notes)
    return matrix if matrix.columns else None


def _header(line: Line) -> Matrix | None:
    """The head of a matrix: labels only, beginning with a GPU, then names of affinity columns."""
    if "GPU" not in line.text:
        return None
    first = _AFFINITY.search(line.text)
    text = line.text[: first.start()] if first else line.text
    labels: list[str] = []
    for token in text.split():
        parts = _SQUEEZED.findall(token)
        labels += parts if len(parts) > 1 and "".join(parts) == token else [token]
    if not labels or not _GPU.fullmatch(labels[0]) or not all(_LABEL.fullmatch(label) for label in labels):
        return None
    if any(_is_link(label) for label in labels) or not (first or len(labels) > 1):
        return None
    columns = [match[1] for match in _AFFINITY.finditer(line.text)]
    return Matrix(labels, columns, line)


def _is_link(word: str) -> bool:
    return word in LINK_WORDS or word in PEER_WORDS or bool(_NVLINK.fullmatch(word))


def _row(line: Line) -> Row | None:
    """A label and words of which one at least is a link word."""
    label, *tokens = line.text.split() or [""]
    count = next((place for place, token in enumerate(tokens) if not _WORD.fullmatch(token)), len(tokens))
    words = tokens[:count]
    if not _LABEL.fullmatch(label) or _is_link(label) or not any(_is_link(word) for word in words):
        return None
    return Row(label, words, tokens[count:], line)


def _add(matrix: Matrix, row: Row, notes: Notes) -> None:
    usual = row.label in matrix.columns or _GPU.fullmatch(row.label) or row.label.startswith("NIC")
    if not usual and "X" not in row.words:
        return
    earlier = matrix.rows.setdefault(row.label, row)
    if (earlier.words, earlier.tail) != (row.words, row.tail):
        notes.add(
            "row_repeated", say("%(label)s has a second row with other words", label=row.label), at=row.line
        )


def _add_legend(matrix: Matrix, line: Line, notes: Notes) -> None:
    matrix.has_legend = matrix.has_legend or "Legend:" in line.text
    named = _LEGEND.fullmatch(line.text)
    if named:
        matrix.named_at.append(line)
    if named and matrix.nic_names.setdefault(named["label"], named["name"]) != named["name"]:
        notes.add("contradictory_value", say("%(label)s has a second name", label=named["label"]), at=line)


def _settle_columns(matrix: Matrix, notes: Notes) -> None:
    """Take the labels of the rows for the columns where the header is lost or squeezed and the rows are square."""
    labels = list(matrix.rows)
    if labels == matrix.columns:
        return
    if all(len(row.words) == len(labels) for row in matrix.rows.values()):
        notes.add("header_not_understood", say("the columns are named after the rows"), at=matrix.first_line)
        matrix.columns = labels


def _affinity(matrix: Matrix, row: Row, notes: Notes) -> list[str | None]:
    """Texts below the affinity columns. Where some are empty, tabs tell which; else none can be told."""
    wanted = len(matrix.affinity_columns)
    if len(row.tail) == wanted:
        return list(row.tail)
    tail = [cell.strip() for cell in row.line.text.split("\t")][len(matrix.columns) + 1 :]
    if len(tail) == wanted + 1 and not tail[-2]:
        del tail[-2]  # drivers print an empty column in front of GPU NUMA ID
    if len(tail) == wanted and [cell for cell in tail if cell] == row.tail:
        return [cell or None for cell in tail]
    if row.tail or wanted:
        notes.add("affinity_not_understood", say("the affinity columns cannot be told apart"), at=row.line)
    return [None] * wanted


def matrix_facts(matrix: Matrix, notes: Notes) -> dict[str, Any]:
    """Counts over ordered pairs, affinities by GPU, names of NICs, and the matrix itself.

    matrix: row to column to word; a row that was not understood is there and empty.
    """
    gpus = [label for label in matrix.columns if _GPU.fullmatch(label)]
    nics = [label for label in matrix.columns if label not in gpus]
    cells = {
        (row, column): word
        for row in matrix.rows
        for column, word in zip(matrix.columns, matrix.words(row) or (), strict=False)
    }
    _check_rows(matrix, nics, notes)
    _check_cells(matrix, cells, notes)
    affinities = {gpu: _affinity(matrix, matrix.rows[gpu], notes) for gpu in gpus if matrix.words(gpu)}
    _check_affinities(matrix, affinities, notes)
    between = Counter(cells[pair] for pair in cells if set(pair) <= set(gpus) and pair[0] != pair[1])
    to_nics = Counter(cells[row, column] for row, column in cells if row in gpus and column in nics)
    return {
        "gpus": len(gpus),
        "nics": len(nics),
        "gpu_gpu_links": dict(sorted(between.items())),
        "gpu_nic_links": dict(sorted(to_nics.items())),
        **{
            fact: {gpu: _of(affinities.get(gpu), matrix.affinity_columns.index(name)) for gpu in gpus}
            if name in matrix.affinity_columns
            else None
            for name, fact in _FIELDS.items()
        },
        "nic_names": [matrix.nic_names.get(label, label) for label in nics] or None,
        "nic_labels": nics,
        "matrix": {
            row: {column: cells[row, column] for column in matrix.columns if (row, column) in cells}
            for row in matrix.rows
        },
    }


def _of(texts: list[str | None] | None, place: int) -> str | None:
    return texts[place] if texts else None


def _check_rows(matrix: Matrix, nics: list[str], notes: Notes) -> None:
    """Lost, foreign and broken lines."""
    lost = [label for label in matrix.columns if label not in matrix.rows]
    foreign = [label for label in matrix.rows if label not in matrix.columns]
    if lost:
        notes.add("rows_missing", say("no row for %(lost)s", lost=", ".join(lost[:8])), at=matrix.first_line)
    if foreign:
        notes.add(
            "columns_missing",
            say("no column for %(foreign)s", foreign=", ".join(foreign[:8])),
            at=matrix.first_line,
        )
    if len(set(matrix.columns)) < len(matrix.columns):
        notes.add("column_repeated", say("a column stands twice in the header"), at=matrix.first_line)
    for label, row in matrix.rows.items():
        if matrix.words(label) is None:
            notes.add(
                "row_not_understood",
                say(
                    "link words of %(label)s: %(count)s, columns: %(count_2)s",
                    label=label,
                    count=len(row.words),
                    count_2=len(matrix.columns),
                ),
                at=row.line,
            )
    if not matrix.has_legend:
        notes.add("legend_missing", say("the legend is missing; the end of the output may be cut off"))
    elif any(_NIC.fullmatch(label) and label not in matrix.nic_names for label in nics):
        notes.add("nic_names_missing", say("the legend does not name every NIC"))


def _check_cells(matrix: Matrix, cells: dict[tuple[str, str], str], notes: Notes) -> None:
    """A wrong split of columns shows here at once."""
    for (row, column), word in cells.items():
        line = matrix.rows[row].line
        if (word == "X") != (row == column):
            notes.add(
                "diagonal",
                say("%(row)s to %(column)s is %(word)s", row=row, column=column, word=word),
                at=line,
            )
        elif row < column and cells.get((column, row), word) != word:
            notes.add(
                "asymmetric",
                say(
                    "%(row)s to %(column)s is %(word)s, back it is %(cells)s",
                    row=row,
                    column=column,
                    word=word,
                    cells=cells[column, row],
                ),
                at=line,
            )
    odd = sorted({word for word in cells.values() if not _is_link(word)})
    if odd:
        notes.add(
            "unknown_link_word",
            say("unknown link words: %(odd)s", odd=", ".join(odd[:8])),
            at=matrix.first_line,
        )


def _check_affinities(matrix: Matrix, affinities: dict[str, list[str | None]], notes: Notes) -> None:
    for gpu, texts in affinities.items():
        for name, text in zip(matrix.affinity_columns, texts, strict=True):
            if text and text != "N/A" and not _CPU_LIST.fullmatch(text):
                notes.add("odd_affinity", f"{gpu}: {name} is {text[:40]}", at=matrix.rows[gpu].line)
