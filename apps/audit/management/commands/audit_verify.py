"""manage.py audit_verify [CHECKPOINT]: is the audit trail as it was written?"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.audit.services import checkpoints
from apps.core.errors import Invalid, Missing

INTACT, BROKEN, NOTHING_TO_COMPARE = 0, 1, 3


class Command(BaseCommand):
    help = (
        "Walks the chain of audit events and compares it with a checkpoint file, or with all in the data folder."
        " Exit code: 0 intact, 1 broken (the first bad sequence number is printed), 3 no checkpoint."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("checkpoint", nargs="?", type=Path, help="a checkpoint file kept elsewhere")

    def handle(self, *args: Any, **options: Any) -> None:
        given: Path | None = options["checkpoint"]
        try:
            paths = [given] if given else checkpoints.kept()
            found = checkpoints.compare(paths)
        except Missing as error:
            raise CommandError(error.message, returncode=NOTHING_TO_COMPARE) from error
        except Invalid as error:
            raise CommandError(error.message, returncode=BROKEN) from error
        result = found.verification
        if not result.intact:
            self.stdout.write(f"broken at event {result.first_bad_seq}: {result.reason}")
            sys.exit(BROKEN)
        self.stdout.write(f"{result.count} events, head {result.head_seq} {result.head_hash}")
        if not found.compared:
            self.stdout.write("the chain holds, but there is no checkpoint to compare it with")
            sys.exit(NOTHING_TO_COMPARE)
        self.stdout.write(f"intact, compared with {found.checkpoints} checkpoint(s)")
