"""A database of its own for a test that commits: a copy of the migrated one, thrown away afterwards.

The append-only triggers refuse what TransactionTestCase would do between tests, and threads and worker
processes see only what is committed. On SQLite the copy is a file, on PostgreSQL a clone of the template.
"""

from __future__ import annotations

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.db import connections


@contextmanager
def own_database(folder: Path) -> Iterator[str]:
    """The default connection leads to a fresh copy; gives the DATABASE_URL of it for other processes."""
    original = connections["default"]
    described = original.settings_dict
    name = described["NAME"]
    if original.in_atomic_block:
        raise RuntimeError("a test that commits cannot also use the db fixture or the django_db mark")
    copy = (_copy_sqlite if original.vendor == "sqlite" else _copy_postgresql)(original, folder)
    described["NAME"] = copy
    connections["default"] = type(original)(described, "default")
    try:
        yield _url(described)
    finally:
        connections["default"].close()
        described["NAME"] = name
        connections["default"] = original
        if original.vendor == "postgresql":
            with original._nodb_cursor() as cursor:
                cursor.execute(f'DROP DATABASE "{copy}" WITH (FORCE)')


def _copy_sqlite(original, folder: Path) -> str:
    path = folder / f"portal-{uuid.uuid4().hex[:8]}.sqlite3"
    with original.cursor() as cursor:
        cursor.execute("VACUUM INTO %s", [str(path)])
    return str(path)


def _copy_postgresql(original, folder: Path) -> str:
    template = original.settings_dict["NAME"]
    name = f"{template}_{uuid.uuid4().hex[:8]}"
    original.close()
    with original._nodb_cursor() as cursor:
        cursor.execute(f'CREATE DATABASE "{name}" TEMPLATE "{template}"')
    return name


def _url(described) -> str:
    if described["ENGINE"].endswith("sqlite3"):
        return f"sqlite:///{described['NAME']}"
    user, password = quote(described["USER"], safe=""), quote(described["PASSWORD"], safe="")
    port = f":{described['PORT']}" if described["PORT"] else ""
    host = quote(described["HOST"], safe="")
    return f"postgresql://{user}:{password}@{host}{port}/{described['NAME']}"
