"""Loads the demonstration fleet through the ordinary intake; safe to run again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import PortalError
from apps.portal.services import demo

_LOADED = """The demonstration fleet is loaded already; its passwords were shown when it was loaded.
New ones: stop the portal or open another shell, and run  .venv/bin/python manage.py load_demo --new-passwords"""

_IN_USE = "This portal is in use, so it starts without loading the demonstration fleet."


class Command(BaseCommand):
    help = "Load the demonstration fleet (marked as such). Does nothing where it is loaded already."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--new-passwords",
            action="store_true",
            help="give the people of a loaded demonstration new passwords, and print them once",
        )
        parser.add_argument(
            "--unless-in-use",
            action="store_true",
            help="leave a portal as it is that has a fleet of its own, or whose demonstration was removed",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["new_passwords"]:
                self._show("The people of the demonstration have new passwords,", demo.new_passwords())
            elif demo.is_loaded():
                self.stdout.write(_LOADED)
            elif options["unless_in_use"] and demo.is_in_use():
                self.stdout.write(_IN_USE)
            else:
                self.stdout.write("Loading the demonstration fleet (half a minute)")
                self._show(
                    "The demonstration fleet is loaded. Its people sign in with passwords", demo.load()
                )
        except PortalError as error:
            raise CommandError(str(error)) from error

    def _show(self, what: str, logins: list[demo.Login]) -> None:
        self.stdout.write(self.style.SUCCESS(f"{what} which are shown once:"))
        for login in logins:
            self.stdout.write(f"  {login.role.value:9} {login.email:20} {login.password}")
