"""plan_validate FILE.csv: predictions beside published measurements, one JSON line per run, then a summary."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.planning.engine.published_cells import MEASURED, NEEDED
from apps.planning.engine.published_run import PublishedRun, UnusableRun, read_run
from apps.planning.engine.validation import report
from apps.planning.management.plan_files import stop


class Command(BaseCommand):
    help = "Compare predicted step times with the measured ones of a table of published runs."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument(
            "file", help="CSV with columns of published_runs.csv; those that it lacks count as empty"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        runs = [read_run(row) for row in _rows(options["file"])]
        usable = [run for run in runs if isinstance(run, PublishedRun)]
        unusable = [run for run in runs if isinstance(run, UnusableRun)]
        lines, summary = report(usable, unusable)
        for line in lines:
            self.stdout.write(json.dumps(line))
        self.stdout.write(json.dumps(summary))


def _rows(path: str) -> list[dict[str, str]]:
    """Rows of the table. Exits 2 where the file is no such table."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file, restval="")
            header = reader.fieldnames or []
            missing = [name for name in NEEDED if name not in header]
            if not any(name in header for name in MEASURED):
                missing.append(" or ".join(MEASURED))
            if missing:
                stop(f"{path}:1: columns missing: {', '.join(missing)}")
            return [{name: row[name] for name in header} for row in reader]
    except OSError as error:
        stop(f"{path}: {error.strerror}")
    except UnicodeDecodeError:
        stop(f"{path}: not UTF-8")
