"""Loads the demonstration fleet through the ordinary intake; safe to run again."""

from __future__ import annotations

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import PortalError
from apps.portal.services import demo


class Command(BaseCommand):
    help = "Load the demonstration fleet (marked as such). Does nothing where it is loaded already."

    def handle(self, *args: Any, **options: Any) -> None:
        if demo.is_loaded():
            self.stdout.write("The demonstration fleet is loaded already.")
            return
        try:
            logins = demo.load()
        except PortalError as error:
            raise CommandError(str(error)) from error
        self.stdout.write(
            self.style.SUCCESS("The demonstration fleet is loaded. These passwords are shown once:")
        )
        for login in logins:
            self.stdout.write(f"  {login.role.value:9} {login.email:20} {login.password}")
