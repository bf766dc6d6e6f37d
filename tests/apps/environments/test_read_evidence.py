"""The command read_evidence: a JSON line per file, exit code 2 if any cannot be read, no database."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

CORPUS = Path(__file__).parents[2] / "corpus"
GOOD = str(CORPUS / "nvidia-smi-q" / "l40s-595.80.txt")


def run(capsys: pytest.CaptureFixture[str], *arguments: str) -> tuple[int, list[dict[str, Any]]]:
    """Exit code and the answers."""
    code = 0
    try:
        call_command("read_evidence", *arguments)
    except SystemExit as ended:
        code = int(ended.code or 0)
    return code, [json.loads(line) for line in capsys.readouterr().out.splitlines()]


def test_a_file_is_answered_by_one_json_line(capsys: pytest.CaptureFixture[str]) -> None:
    code, answers = run(capsys, GOOD)
    assert code == 0
    assert [sorted(answer) for answer in answers] == [["facts", "file", "kind", "warnings"]]
    assert (answers[0]["file"], answers[0]["kind"]) == (GOOD, "nvidia_smi_q")
    assert answers[0]["facts"]["driver_version"] == "595.80"


def test_a_warning_says_code_message_line_and_text(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    cut = tmp_path / "cut"
    cut.write_text("".join(Path(GOOD).read_text().splitlines(keepends=True)[:40]))
    _, answers = run(capsys, str(cut))
    assert [sorted(warning) for warning in answers[0]["warnings"]] == [["code", "line", "message", "text"]]


def test_files_that_cannot_be_read_do_not_keep_the_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    prose = tmp_path / "prose"
    prose.write_text("nothing of interest\n")
    code, answers = run(capsys, str(prose), str(tmp_path / "missing"), str(tmp_path), GOOD)
    assert code == 2
    assert ["error" in answer for answer in answers] == [True, True, True, False]
    assert all(sorted(answer) == ["error", "file"] for answer in answers[:3])
    assert all("\n" not in answer["error"] for answer in answers[:3])


def test_a_kind_can_be_named(capsys: pytest.CaptureFixture[str]) -> None:
    code, answers = run(capsys, "--kind", "nvidia_smi_topo", GOOD)
    assert code == 2
    assert answers[0]["error"].startswith("nvidia-smi topo:")
