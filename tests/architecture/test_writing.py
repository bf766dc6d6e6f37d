"""Only services write, and nothing happens by signal."""

from __future__ import annotations

import ast

from tests.architecture.sources import Source, sources

WRITES = {
    "save",
    "create",
    "update",
    "delete",
    "get_or_create",
    "update_or_create",
    "bulk_create",
    "bulk_update",
}
# Rooms that read, ask and show. Managers of models build rows for services; migrations move data.
READERS = {"urls", "views", "api", "tasks", "forms", "filters", "tables", "queries", "engine", "page"}
PLAIN = {"dict", "set", "sha256", "digest", "hasher", "headers", "cookies", "context", "session"}


def looks_like_a_table(call: ast.Call) -> bool:
    """Whether the call is on a manager, a queryset or a row, and not on a dict, set or hash."""
    owner = call.func.value
    text = ast.unparse(owner)
    if ".objects" in text:
        return True
    chained = isinstance(owner, ast.Call) and isinstance(owner.func, ast.Attribute)
    if chained and owner.func.attr in ("filter", "exclude", "all", "select_for_update"):
        return True
    return call.func.attr in ("save", "delete", "create") and text.split(".")[-1] not in PLAIN


def writes(source: Source) -> list[int]:
    return [
        node.lineno
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Call)
        and isinstance(node.func, ast.Attribute)
        and node.func.attr in WRITES
        and looks_like_a_table(node)
    ]


def test_only_services_write():
    wrong = [
        f"apps/{source.path}:{line}"
        for source in sources()
        if source.room in READERS
        for line in writes(source)
    ]
    assert wrong == []


def test_no_business_rule_hangs_on_a_signal():
    """Migrating is Django's own business: guards of the database are lifted before it and put back after."""
    wrong = [
        f"apps/{source.path}:{line} imports {name}"
        for source in sources()
        for line, name in source.imports()
        if not name.startswith("apps.")
        and not name.endswith(("pre_migrate", "post_migrate"))
        and ("signals" in name.split(".") or name.endswith(".receiver"))
    ]
    assert wrong == []


def test_no_app_reads_raw_environment_variables():
    wrong = [
        f"apps/{source.path}:{node.lineno}"
        for source in sources()
        if not source.path.startswith(("portal/client/", "audit/verifier/"))
        for node in ast.walk(source.tree)
        if isinstance(node, ast.Attribute) and node.attr in ("environ", "getenv")
    ]
    assert wrong == []
