"""plan_validate FILE.csv: predictions beside published measurements, one JSON line per run, then a summary."""

from __future__ import annotations

import csv
import json
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.core.texts import say
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
        runs = _runs(options["file"])
        usable = [run for run in runs if isinstance(run, PublishedRun)]
        unusable = [run for run in runs if isinstance(run, UnusableRun)]
        lines, summary = report(usable, unusable)
        for line in lines:
            self.stdout.write(json.dumps(line))
        self.stdout.write(json.dumps(summary))


def _runs(path: str) -> list[PublishedRun | UnusableRun]:
    """Runs of the table; one without an id goes by its line. Exits 2 where the file is no such table."""
    try:
        with Path(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.reader(file, strict=True)
            header = [name.strip() for name in next(reader, [])]
            if wrong := _wrong_columns(header):
                stop(f"{path}:1: {wrong}")
            return [_run(header, cells, reader.line_num) for cells in reader if any(cells)]
    except OSError as error:
        stop(f"{path}: {error.strerror}")
    except UnicodeDecodeError:
        stop(f"{path}: not UTF-8")
    except csv.Error as error:
        stop(f"{path}:{reader.line_num}: not CSV: {error}")


def _run(header: list[str], cells: list[str], line: int) -> PublishedRun | UnusableRun:
    row = dict.fromkeys(header, "") | dict(zip(header, cells, strict=False))
    row["id"] = row["id"].strip() or f"line {line}"
    if any(cells[len(header) :]):
        reason = say("more cells than columns: a comma inside a cell needs quotes around it")
        return UnusableRun(id=row["id"], source=row["source"], reasons=(reason,))
    return read_run(row)


def _wrong_columns(header: list[str]) -> str:
    """What is wrong with the names of the columns; empty where nothing is."""
    missing = [name for name in NEEDED if name not in header]
    if not any(name in header for name in MEASURED):
        missing.append(" or ".join(MEASURED))
    if missing:
        return f"columns missing: {', '.join(missing)}"
    twice = sorted({name for name in header if name and header.count(name) > 1})
    return f"columns named twice: {', '.join(twice)}" if twice else ""
