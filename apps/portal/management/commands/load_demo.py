"""Loads the demonstration fleet through the ordinary intake; safe to run again."""

from __future__ import annotations

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from apps.core.errors import PortalError
from apps.portal.services import demo

_LOADED = """The demonstration fleet is loaded already; its passwords were shown when it was loaded.
New ones: stop the portal or open another shell, and run  .venv/bin/python manage.py load_demo --new-passwords"""


class Command(BaseCommand):
    help = "Load the demonstration fleet (marked as such). Does nothing where it is loaded already."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--new-passwords",
            action="store_true",
            help="give the people of a loaded demonstration new passwords, and print them once",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            if options["new_passwords"]:
                self._show("The people of the demonstration have new passwords,", demo.new_passwords())
            elif demo.is_loaded():
                self.stdout.write(_LOADED)
            else:
                self._show(
                    "The demonstration fleet is loaded. Its people sign in with passwords", demo.load()
                )
        except PortalError as error:
            raise CommandError(str(error)) from error

    def _show(self, what: str, logins: list[demo.Login]) -> None:
        self.stdout.write(self.style.SUCCESS(f"{what} which are shown once:"))
        for login in logins:
            self.stdout.write(f"  {login.role.value:9} {login.email:20} {login.password}")
