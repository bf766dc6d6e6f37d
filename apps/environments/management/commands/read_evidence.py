"""Read evidence files and print what they say, one JSON line per file; needs no database.

With --components also what each says of the components of its node, by the catalogue as the portal has it where its
database is there, else as it is shipped.
"""

from __future__ import annotations

import json
import sys
from argparse import ArgumentParser
from dataclasses import asdict
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from apps.catalogue.engine.components import laid_over
from apps.catalogue.queries import components_at_hand
from apps.environments.engine.facts import component_facts
from apps.evidence.engine.reading import Unreadable
from apps.evidence.engine.registry import read
from apps.evidence.engine.source import Source

EXIT_UNREADABLE = 2


class Command(BaseCommand):
    help = "Print what evidence files say: one JSON line per file; exit code 2 if any could not be read."
    requires_system_checks: list[str] = []
    requires_migrations_checks = False

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("files", nargs="+", metavar="FILE")
        parser.add_argument("--kind", default="", help="read as this format instead of recognising it")
        parser.add_argument(
            "--components", action="store_true", help="also say which versions of which components it states"
        )

    def handle(self, *, files: list[str], kind: str, components: bool, **options: Any) -> None:
        answers = []
        with laid_over(components_at_hand):
            for name in files:
                answer = read_file(name, kind=kind, with_components=components)
                answers.append(answer)
                self.stdout.write(json.dumps(answer, ensure_ascii=False, allow_nan=False))
        if any("error" in answer for answer in answers):
            sys.exit(EXIT_UNREADABLE)


def read_file(name: str, *, kind: str = "", with_components: bool = False) -> dict[str, Any]:
    """`{file, kind, facts, warnings}` and perhaps `components`, or `{file, error}` with a one-line reason."""
    path = Path(name)
    try:
        size_bytes = path.stat().st_size
        reading = read(Source(lambda: path.open("rb"), name=path.name, size_bytes=size_bytes), kind=kind)
    except Unreadable as refused:
        return {"file": name, "error": " ".join(refused.message.split())}
    except OSError as failure:
        return {"file": name, "error": failure.strerror or type(failure).__name__}
    answer: dict[str, Any] = {
        "file": name,
        "kind": reading.kind,
        "facts": reading.facts,
        "warnings": [asdict(warning) for warning in reading.warnings],
    }
    if with_components:
        answer["components"] = [asdict(fact) for fact in component_facts(reading)]
    return answer
