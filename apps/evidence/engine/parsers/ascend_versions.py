"""Versions of an Ascend node: `version.info` of driver and firmware, install files of CANN, `npu-smi info -t board`.

The files look alike; what a block is about is told by the keys that only it has. `package_version` is the
release (24.1.rc3), `Version` of the firmware counts by itself (7.5.0.1.129).
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._dressing import one_process, plain_lines
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._values import known
from apps.evidence.engine.parsers._version_files import by_file, note_cut, sample_lines
from apps.evidence.engine.reading import Reading, Unreadable
from apps.evidence.engine.source import Line, Source

KIND = "ascend_versions"
VERSION = 2

_PAIR = re.compile(r"(?P<key>[A-Za-z_]{3,60})=(?P<value>\S.{0,400}|)")
_BOARD_PAIR = re.compile(r"(?P<key>[A-Z][\w /()-]{1,40}?)\s*: (?P<value>.{0,120})")
_RELEASE = re.compile(
    r"[vV]?\d{1,4}(?:\.\d{1,6})+(?:\.?(?:rc|alpha|beta|b|RC)\d{1,3}(?:\.\d{1,4})*)?", re.IGNORECASE
)
_DRIVER_KEYS = frozenset({"ascendhal_version", "tsfw_version", "compatible_version_fw"})
_FIRMWARE_KEYS = frozenset({"firmware_version", "compatible_version_drv"})
_STARTS = frozenset({"version", "package_name"})
_SAMPLE = re.compile(
    r"^\s*(?:\S{0,80}:)?(?:ascendhal_version=|compatible_version_drv=|package_name=Ascend-cann)", re.MULTILINE
)
_BOARD_SAMPLE = re.compile(r"^\s*(?:NPU ID|Product Name)\s*: ", re.MULTILINE)
_BOARD_SOFTWARE = re.compile(r"^\s*Software Version\s*: ", re.MULTILINE)


@dataclass(slots=True)
class _Block:
    """Pairs of one file (keys in lower case) or of one NPU's board."""

    path: str = ""
    pairs: dict[str, tuple[str, Line]] = field(default_factory=dict)

    def about(self) -> str | None:
        """driver, firmware or cann, by the keys that only it has, else by its path; None where nothing tells."""
        for name, keys in (("driver", _DRIVER_KEYS), ("firmware", _FIRMWARE_KEYS)):
            if keys & self.pairs.keys():
                return name
        if self.pairs.get("package_name", ("", None))[0].startswith("Ascend-cann"):
            return "cann"
        return next((name for name in ("driver", "firmware") if f"/{name}/" in self.path), None)


def recognise(sample: str) -> int:
    if "=" not in sample and "Software Version" not in sample:
        return 0
    text = "\n".join(sample_lines(sample))
    if _SAMPLE.search(text):
        return 84
    return 84 if _BOARD_SAMPLE.search(text) and _BOARD_SOFTWARE.search(text) else 0


def read(source: Source) -> Reading:
    """Raises Unreadable where no version is there."""
    notes = Notes()
    lines = one_process(plain_lines(source), _is_output, notes)
    files, boards = _blocks(lines, notes)
    taken: list[Line] = []
    facts: dict[str, Any] = {
        "driver": _release(files, "driver", ("package_version", "version"), notes, taken),
        "firmware": _release(files, "firmware", ("version",), notes, taken),
        "firmware_package": _release(files, "firmware", ("package_version",), notes, taken),
        "cann": _release(files, "cann", ("version",), notes, taken),
        "board_driver": _of_boards(boards, "software version", taken),
        "board_firmware": _of_boards(boards, "firmware version", taken),
        "boards": len(boards),
    }
    if not any(facts[key] for key in facts if key != "boards"):
        raise Unreadable(say("Ascend: no version of driver, firmware or CANN was found"), code="no_version")
    note_cut(source, taken, notes)
    return Reading(kind=KIND, facts=facts, warnings=notes.all(), parser_version=VERSION)


def _is_output(lines: list[Line]) -> bool:
    keys = {found["key"].lower() for line in lines if (found := _PAIR.fullmatch(line.text.strip()))}
    if keys & (_DRIVER_KEYS | _FIRMWARE_KEYS | {"package_name"}):
        return True
    return any(line.text.strip().startswith("Software Version") for line in lines)


def _blocks(lines: list[Line], notes: Notes) -> tuple[list[_Block], list[_Block]]:
    """Blocks of files and of boards. A key that comes again begins another block."""
    files: list[_Block] = []
    boards: list[_Block] = []
    for named in by_file(lines):
        block, board = _Block(named.path), _Block(named.path)
        for line in named.lines:
            text = line.text.strip()
            if pair := _PAIR.fullmatch(text):
                key = pair["key"].lower()
                if key in block.pairs and key in _STARTS:
                    files.append(block)
                    block = _Block(named.path)
                if block.pairs.setdefault(key, (pair["value"].strip(), line))[0] != pair["value"].strip():
                    notes.add("key_repeated", say("%(key)s comes again with another value", key=key), at=line)
            elif pair := _BOARD_PAIR.fullmatch(text):
                if pair["key"].lower() in board.pairs:
                    boards.append(board)
                    board = _Block(named.path)
                board.pairs[pair["key"].lower()] = (pair["value"].strip(), line)
        files.append(block)
        boards.append(board)
    return files, _told_apart([board for board in boards if "software version" in board.pairs], notes)


def _told_apart(boards: list[_Block], notes: Notes) -> list[_Block]:
    """The boards, each once: one that comes again (same NPU, chip and serial number) is warned of."""
    found: dict[tuple[str, ...], _Block] = {}
    for place, board in enumerate(boards):
        npu, line = board.pairs.get("npu id", ("", None))
        named = [board.pairs.get(key, ("", None))[0] for key in ("chip id", "serial number")]
        identity = (board.path, npu, *named) if line is not None else (str(place),)
        if found.setdefault(identity, board) is not board:
            notes.add(
                "repeated_device", say("the device %(identity)s came before", identity=f"NPU {npu}"), at=line
            )
    return list(found.values())


def _release(
    blocks: list[_Block], about: str, keys: tuple[str, ...], notes: Notes, taken: list[Line]
) -> str | None:
    """The first of the keys in the blocks about it; a warning where blocks differ or the value is no version."""
    found: list[str] = []
    for block in (one for one in blocks if one.about() == about):
        value, line = next((block.pairs[key] for key in keys if key in block.pairs), ("", None))
        if line is None:
            continue
        if not _RELEASE.fullmatch(value):
            notes.add("version_not_understood", say("this is no version of %(what)s", what=about), at=line)
            continue
        taken.append(line)
        found.append(value)
    if (count := len(set(found))) > 1:
        notes.add(
            "versions_differ",
            say("the text names %(count)s versions of %(what)s", count=count, what=about),
        )
        return None
    return found[0] if found else None


def _of_boards(boards: list[_Block], key: str, taken: list[Line]) -> dict[str, int]:
    """Version to the number of boards that report it."""
    counts: dict[str, int] = {}
    for board in boards:
        value, line = board.pairs.get(key, ("", None))
        if line is not None and known(value) and _RELEASE.fullmatch(value):
            counts[value] = counts.get(value, 0) + 1
            taken.append(line)
    return counts
