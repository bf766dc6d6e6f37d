"""docs/configuration.md names every setting, and no other."""

from __future__ import annotations

import ast
import re
from pathlib import Path

from supernode_portal import env

ROOT = Path(__file__).resolve().parents[2]
_OWN = {name for name, made in vars(env).items() if getattr(made, "__module__", "") == env.__name__}
READERS = _OWN | {"_kept_secret"}


def read_by_settings() -> dict[str, ast.Call]:
    """Each variable that the settings read, with the call that reads it."""
    tree = ast.parse((ROOT / "supernode_portal/settings.py").read_text())
    calls = [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
    return {
        call.args[0].value: call
        for call in calls
        if _name(call.func) in READERS and call.args and isinstance(call.args[0], ast.Constant)
    }


def _name(called: ast.expr) -> str:
    return called.attr if isinstance(called, ast.Attribute) else getattr(called, "id", "")


def rows() -> dict[str, str]:
    """Each variable that the page describes, with its line."""
    lines = (ROOT / "docs/configuration.md").read_text().splitlines()
    return {found[1]: line for line in lines if (found := re.match(r"\| `([A-Z][A-Z0-9_]+)` \|", line))}


def test_every_variable_of_the_settings_is_described_and_no_other():
    described = {name for name in rows() if not name.startswith("TEST_")}
    assert described == set(read_by_settings())


def test_ranges_and_defaults_of_numbers_are_those_of_the_settings():
    described = rows()
    for name, call in read_by_settings().items():
        if _name(call.func) != "integer":
            continue
        default = eval(
            compile(ast.Expression(call.args[1]), "settings", "eval")
        )  # constants such as 24 * 3600
        assert f"`{default}`" in described[name].split("|")[2], name
