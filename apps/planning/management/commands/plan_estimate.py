"""plan_estimate FILE.json: memory per stage and time of a step for one configuration, as JSON."""

from __future__ import annotations

import json
from typing import Any

from django.core.management.base import BaseCommand, CommandParser

from apps.core.errors import Invalid
from apps.planning.engine.estimate import estimate
from apps.planning.engine.reading import read_plan
from apps.planning.management.plan_files import load_json, refuse


class Command(BaseCommand):
    help = "Print memory per pipeline stage and the time of a step for the configuration in a JSON file."
    requires_system_checks: list[str] = []

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", help="plan as JSON, or - for standard input")

    def handle(self, *args: Any, **options: Any) -> None:
        document = load_json(options["file"])
        try:
            answer = estimate(read_plan(document)).to_json()
        except Invalid as error:
            refuse(error)
        self.stdout.write(json.dumps(answer, indent=2))
