"""The command check_job_env."""

from __future__ import annotations

import io
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command


def run(file: Path, *arguments: str) -> list[dict[str, Any]]:
    out = io.StringIO()
    call_command("check_job_env", str(file), *arguments, stdout=out)
    return [json.loads(line) for line in out.getvalue().splitlines()]


def test_it_prints_one_json_line_per_finding(tmp_path: Path) -> None:
    script = tmp_path / "train.sh"
    script.write_text("#!/bin/bash\nexport NCCL_P2P_LEVEL=LOCAL\nexport NCCL_TIMEOUT=1800\n")

    lines = run(script)

    assert [(line["name"], line["line"], line["severity"]) for line in lines] == [
        ("NCCL_P2P_LEVEL", 2, "fail"),
        ("NCCL_TIMEOUT", 3, "warn"),
    ]
    assert set(lines[0]) == {
        "file",
        "code",
        "severity",
        "name",
        "value",
        "line",
        "why",
        "instead",
        "suggestions",
    }


def test_it_prints_nothing_for_a_sound_environment(tmp_path: Path) -> None:
    script = tmp_path / "env"
    script.write_text("NCCL_DEBUG=WARN\n")

    assert run(script) == []


def test_it_reads_what_powershell_writes(tmp_path: Path) -> None:
    script = tmp_path / "env.txt"
    script.write_bytes("NCCL_IB_DISABLE=1\r\n".encode("utf-16"))

    assert [line["code"] for line in run(script)] == ["fast_path_off"]


def test_it_takes_the_version_of_nccl(tmp_path: Path) -> None:
    script = tmp_path / "env"
    script.write_text("NCCL_RAS_ENABLE=0\n")

    assert [line["code"] for line in run(script, "--nccl-version", "2.20.5")] == ["no_effect"]


@pytest.mark.parametrize("content", [None, b"", b"\x01\x02\x03\x7f\x05" * 50])
def test_it_exits_with_2_and_a_reason_where_the_file_cannot_be_read(
    tmp_path: Path, content: bytes | None
) -> None:
    file = tmp_path / "env"
    if content is not None:
        file.write_bytes(content)

    out = io.StringIO()
    with pytest.raises(SystemExit) as stopped:
        call_command("check_job_env", str(file), stdout=out)

    assert stopped.value.code == 2
    assert json.loads(out.getvalue())["error"]
