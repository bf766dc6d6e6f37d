"""plan_search FILE.json: the best configurations for a model on a system, as JSON."""

from __future__ import annotations

import json
import time
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.core.errors import Invalid
from apps.planning.engine.nearest import shortfall
from apps.planning.engine.reading_search import read_search
from apps.planning.engine.search import search
from apps.planning.management.plan_files import load_json, refuse


class Command(BaseCommand):
    help = "Search all parallel configurations of a model on a system and print the best, or the nearest."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="search as JSON, or - for standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        document = load_json(options["file"])
        started = time.perf_counter()
        try:
            wanted = read_search(document)
            found = search(wanted)
        except Invalid as error:
            refuse(error)
        answer = found.to_json(time.perf_counter() - started)
        if not found.feasible:
            answer |= shortfall(wanted).to_json()
        self.stdout.write(json.dumps(answer, indent=2))
