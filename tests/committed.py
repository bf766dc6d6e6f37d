"""A database of its own for a test that commits: a copy of the migrated one, thrown away afterwards.

The append-only triggers refuse what TransactionTestCase would do between tests, and threads and worker
processes see only what is committed. On SQLite the copy is a file, on PostgreSQL a clone of the template.
"""

from __future__ import annotations

import shutil
import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import quote

from django.db import connections


@contextmanager
def own_database(folder: Path, of: str = "") -> Iterator[str]:
    """The default connection leads to a fresh copy; gives the DATABASE_URL of it for other processes.

    of: name of the database to copy; that of the default connection unless said.
    """
    with copy_of(of or connections["default"].settings_dict["NAME"], folder) as copy, connected_to(copy):
        yield _url(connections["default"].settings_dict)


@contextmanager
def copy_of(source: str, folder: Path) -> Iterator[str]:
    """The name of a copy of a database, which is gone afterwards. Nobody may be connected to the other one."""
    original = connections["default"]
    if original.in_atomic_block:
        raise RuntimeError("a test that commits cannot also use the db fixture or the django_db mark")
    if original.vendor == "sqlite":
        yield _copy_sqlite(original, folder, source)
        return
    copy = _copy_postgresql(original, source)
    try:
        yield copy
    finally:
        with original._nodb_cursor() as cursor:
            cursor.execute(f'DROP DATABASE "{copy}" WITH (FORCE)')


@contextmanager
def connected_to(name: str) -> Iterator[None]:
    """The default connection leads to this database."""
    original = connections["default"]
    described = original.settings_dict
    before, described["NAME"] = described["NAME"], name
    connections["default"] = type(original)(described, "default")
    try:
        yield
    finally:
        connections["default"].close()
        described["NAME"] = before
        connections["default"] = original


def _copy_sqlite(original, folder: Path, source: str) -> str:
    path = folder / f"portal-{uuid.uuid4().hex[:8]}.sqlite3"
    if source == original.settings_dict["NAME"]:
        with original.cursor() as cursor:
            cursor.execute("VACUUM INTO %s", [str(path)])
    else:
        shutil.copy(source, path)
    return str(path)


def _copy_postgresql(original, template: str) -> str:
    name = f"{original.settings_dict['NAME']}_{uuid.uuid4().hex[:8]}"
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
