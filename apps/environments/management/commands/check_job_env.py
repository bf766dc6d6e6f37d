"""Check the environment of a job: one JSON line per finding; needs no database."""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from apps.environments.engine.job_env import JobEnvReport, check_text
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.source import Source

EXIT_UNREADABLE = 2


class Command(BaseCommand):
    help = (
        "Check NCCL, PyTorch, CUDA and allocator variables in a pasted env, launch script or manifest: "
        "one JSON line per finding; exit code 2 if the file could not be read."
    )
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("file", metavar="FILE", help="a file, or - for standard input")
        parser.add_argument("--nccl-version", default="", help="the NCCL that the job loads")

    def handle(self, *, file: str, nccl_version: str, **options: Any) -> None:
        try:
            report = check_file(file, nccl_version=nccl_version)
        except (Unreadable, OSError) as failure:
            reason = failure.message if isinstance(failure, Unreadable) else failure.strerror or str(failure)
            self.stdout.write(json.dumps({"file": file, "error": " ".join(reason.split())}))
            sys.exit(EXIT_UNREADABLE)
        for finding in report.findings:
            self.stdout.write(json.dumps({"file": file, **asdict(finding)}, ensure_ascii=False))


def check_file(name: str, *, nccl_version: str = "") -> JobEnvReport:
    """The report on a file of any text encoding. Raises Unreadable and OSError."""
    data = sys.stdin.buffer.read() if name == "-" else Path(name).read_bytes()
    return check_text(Source.of_bytes(data, name=name).text(), nccl_version=nccl_version)
