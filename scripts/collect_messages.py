"""Brings locale/*/LC_MESSAGES/django.po up to date with the texts that the sources mark for translation.

Usage, from anywhere: python scripts/collect_messages.py
New texts arrive empty, texts that are gone leave, the others stay as they are; it ends with 1 while texts are missing.
No gettext tools are needed, as for compile_messages.py. Django's makemessages would do for the templates, but not
for modules that import gettext_lazy under another name than _ because they also need gettext itself.
"""

from __future__ import annotations

import ast
import io
import sys
from collections.abc import Iterator, Set
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize
from yaml import safe_load

ROOT = Path(__file__).resolve().parent.parent
CATALOGUES = sorted(ROOT.glob("locale/*/LC_MESSAGES/django.po"))
_PLAIN, _PLURAL, _CONTEXT, _CONTEXT_PLURAL = None, (1, 2), ((1, "c"), 2), ((1, "c"), 2, 3)
# What each function takes, as Babel says it: text, text and plural, a context before them.
FUNCTIONS = {
    "gettext": _PLAIN,
    "gettext_lazy": _PLAIN,
    "gettext_noop": _PLAIN,
    "ngettext": _PLURAL,
    "ngettext_lazy": _PLURAL,
    "pgettext": _CONTEXT,
    "pgettext_lazy": _CONTEXT,
    "npgettext": _CONTEXT_PLURAL,
    "npgettext_lazy": _CONTEXT_PLURAL,
}
# What data files say to people: file, part of it, and the keys under which its texts stand.
DATA_TEXTS: tuple[tuple[str, str, Set[str]], ...] = (
    ("apps/catalogue/data/xid.yaml", "xids", {"title", "meaning", "note"}),
    ("apps/catalogue/data/accelerators.yaml", "accelerators", {"note"}),
    ("apps/catalogue/data/nccl_env.yaml", "variables", {"risk", "note", "deprecated"}),
    ("apps/catalogue/data/nccl_env.yaml", "not_nccl", {"use"}),
    ("apps/catalogue/data/supernodes.yaml", "systems", {"note"}),
    ("apps/catalogue/data/cuda_driver.yaml", "minor_version_compat", {"note"}),
    ("apps/catalogue/data/cuda_driver.yaml", "toolkits", {"note"}),
    ("apps/catalogue/data/cuda_driver.yaml", "driver_branches", {"note"}),
    ("apps/catalogue/data/torch_stack.yaml", "releases", {"note"}),
    ("apps/planning/data/operations.yaml", "cooling_bands", {"source"}),
    ("apps/planning/data/operations.yaml", "failure_presets", {"source"}),
    ("apps/planning/data/operations.yaml", "power", {"source"}),
    ("apps/environments/data/compatibility.yaml", "rules", {"title", "why", "remedy", "source"}),
    ("apps/environments/data/job_env.yaml", "values", {"why", "instead"}),
    ("apps/environments/data/job_env.yaml", "idle", {"why", "instead"}),
)


def template_of_sources() -> Catalog:
    """Every text that the sources mark, without translations, in the order of the files."""
    template = Catalog()
    for path in sorted([*ROOT.glob("apps/**/*.py"), *ROOT.glob("supernode_portal/**/*.py")]):
        source = path.read_text("utf-8")
        _add(template, source, _functions_in(source))
        for text in _said_in(source):
            template.add(text)
    for path in sorted([*ROOT.glob("templates/**/*.html"), *ROOT.glob("apps/*/templates/**/*.html")]):
        _add(template, _calls_of(path.read_text("utf-8")), FUNCTIONS | {"_": _PLAIN})
    for text in texts_of_data():
        template.add(text)
    return template


def _said_in(source: str) -> Iterator[str]:
    """Templates of what engines and services say (`apps.core.texts.say`), also those within another one's values."""
    if "apps.core.texts" not in source:
        return
    for node in ast.walk(ast.parse(source)):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Name)
            and node.func.id == "say"
            and node.args
        ):
            yield ast.literal_eval(node.args[0])


def texts_of_data() -> Iterator[str]:
    """Every text that data files say to people."""
    for name, part, keys in DATA_TEXTS:
        yield from _texts_under(keys, safe_load((ROOT / name).read_text("utf-8"))[part])


def _texts_under(keys: Set[str], tree: Any, under: str = "") -> Iterator[str]:
    """Texts of a data file that stand under these keys, alone or in a list; names and addresses are none."""
    if isinstance(tree, dict):
        for key, value in tree.items():
            yield from _texts_under(keys, value, str(key))
    elif isinstance(tree, list):
        for value in tree:
            yield from _texts_under(keys, value, under)
    elif isinstance(tree, str) and under in keys and " " in tree:
        yield tree


def _functions_in(source: str) -> dict[str, Any]:
    """The translating functions of a module under the names that it gives them."""
    if "django.utils.translation" not in source:
        return {}
    return {
        name.asname or name.name: FUNCTIONS[name.name]
        for node in ast.walk(ast.parse(source))
        if isinstance(node, ast.ImportFrom) and node.module == "django.utils.translation"
        for name in node.names
        if name.name in FUNCTIONS
    }


def _calls_of(template: str) -> str:
    """A template as the calls that its tags stand for; lines begin at the margin, so that they are tokens of Python."""
    return "\n".join(line.strip() for line in templatize(template).splitlines())


def _add(template: Catalog, source: str, functions: dict[str, Any]) -> None:
    if not functions:
        return
    found = extract("python", io.BytesIO(source.encode()), keywords=functions, options={"encoding": "utf-8"})
    for _line, text, _comments, context in found:
        template.add(text, context=context)


def read_catalogue(path: Path) -> Catalog:
    with path.open("rb") as file:
        return read_po(file, locale=path.parent.parent.name)


def missing_in(catalogue: Catalog) -> Iterator[str]:
    """Texts without a translation, or with one that a person has yet to look at."""
    for message in catalogue:
        texts = message.string if isinstance(message.string, tuple) else (message.string,)
        if message.id and (message.fuzzy or not all(texts)):
            yield message.id if isinstance(message.id, str) else message.id[0]


def main() -> int:
    template = template_of_sources()
    missing = 0
    for path in CATALOGUES:
        catalogue = read_catalogue(path)
        template.creation_date = catalogue.creation_date  # no difference where no text differs
        catalogue.update(template, no_fuzzy_matching=True)
        fresh = path.with_suffix(".po.new")
        with fresh.open("wb") as file:
            write_po(file, catalogue, width=0, no_location=True, ignore_obsolete=True)
        fresh.replace(path)
        without = list(missing_in(catalogue))
        missing += len(without)
        print(f"{path.relative_to(ROOT)}: {len(catalogue)} texts, {len(without)} without a translation")
    return 1 if missing else 0


if __name__ == "__main__":
    sys.exit(main())
