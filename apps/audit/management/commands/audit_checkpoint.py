"""manage.py audit_checkpoint: keep where the audit trail stands."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.audit.services import checkpoints
from apps.core.errors import PortalError


class Command(BaseCommand):
    help = "Verifies the trail and writes a checkpoint file; prints its path. Copy it to another machine."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            self.stdout.write(str(checkpoints.write_checkpoint()))
        except PortalError as error:
            raise CommandError(error.message) from error
