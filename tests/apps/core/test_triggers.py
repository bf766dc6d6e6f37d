"""Triggers are there after a migration, and come back after one that rebuilds tables."""

from __future__ import annotations

import pytest
from django.core.management import call_command
from django.db import connection

from apps.core import triggers


@pytest.mark.django_db
def test_no_trigger_is_missing_after_the_migrations() -> None:
    assert triggers.missing() == []
    assert len(list(triggers.all_guards())) > 20


def test_triggers_come_back_after_a_migration_lifted_them(committed_database: str) -> None:
    triggers.lift(using="default", plan=["something changes"])
    lifted = triggers.missing()

    call_command("migrate", verbosity=0)

    assert triggers.missing() == []
    assert bool(lifted) is (connection.vendor == "sqlite")


@pytest.mark.django_db
def test_a_migration_that_changes_nothing_leaves_triggers_alone() -> None:
    triggers.lift(using="default", plan=[])

    assert triggers.missing() == []
