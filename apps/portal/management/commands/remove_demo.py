"""Removes the demonstration fleet whole."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core import actor as actors
from apps.core.errors import PortalError
from apps.portal.services import demo_removal


class Command(BaseCommand):
    help = "Remove every demonstration cluster with all that belongs to it; the audit trail keeps its events."

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            removed = demo_removal.remove(actor=actors.command("remove_demo"))
        except PortalError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            self.style.SUCCESS(
                f"Removed {sum(removed.values())} rows; its people and service accounts have left."
            )
        )
