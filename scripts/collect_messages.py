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
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from babel.messages.catalog import Catalog
from babel.messages.extract import extract
from babel.messages.pofile import read_po, write_po
from django.utils.translation.template import templatize

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


def template_of_sources() -> Catalog:
    """Every text that the sources mark, without translations, in the order of the files."""
    template = Catalog()
    for path in sorted([*ROOT.glob("apps/**/*.py"), *ROOT.glob("supernode_portal/**/*.py")]):
        source = path.read_text("utf-8")
        _add(template, source, _functions_in(source))
    for path in sorted([*ROOT.glob("templates/**/*.html"), *ROOT.glob("apps/*/templates/**/*.html")]):
        _add(template, _calls_of(path.read_text("utf-8")), FUNCTIONS | {"_": _PLAIN})
    return template


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
