"""manage.py create_admin EMAIL [--name NAME]: the first person, who administrates everywhere."""

from __future__ import annotations

import getpass
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser

from apps.accounts import services
from apps.core import actor as actors
from apps.core.errors import PortalError


class Command(BaseCommand):
    help = "Creates an administrator of everywhere and prints a random password, this once."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("email")
        parser.add_argument("--name", default="")

    def handle(self, *args: Any, **options: Any) -> None:
        email = options["email"]
        try:
            person, password = services.create_first_admin(
                email=email,
                name=options["name"] or email.partition("@")[0],
                actor=actors.command(f"create_admin by {_account()}"),
            )
        except PortalError as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"email: {person.email}")
        self.stdout.write(f"password: {password}")


def _account() -> str:
    """The account of the server's system that ran the command."""
    try:
        return getpass.getuser()
    except (KeyError, OSError):  # a container's user may have no name
        return "unknown"
