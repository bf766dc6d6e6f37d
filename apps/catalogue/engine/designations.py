"""Which part a tool's words mean: the word of a name that tells accelerators apart, such as H100 or 910B3."""

from __future__ import annotations

import re
from collections.abc import Collection

_APART = re.compile(r"[^A-Z0-9]+")
# Sizes of memory, kinds of it, form factors and sizes of domains: many parts share them.
_SHARED = re.compile(r"\d+[GT]I?B?|HBM\w*|SXM\w*|PCIE\d*|NVL\d*|OAM\d*|\d{1,2}")


def designation(name: str) -> str:
    """The first word with a digit that is no size and no form: `H100 SXM5 80GB` gives H100. "" where there is none."""
    return next((word for word in _words(name) if _tells(word)), "")


def means_another(reported: str, registered: str, known: Collection[str]) -> bool:
    """Whether a reported name certainly is that of another part than the registered one.

    known: designations of the catalogue. A name without any of them is not judged; nor is the word of a family, such
    as 910 for a 910C.
    """
    own = designation(registered)
    named = {word for word in _words(reported) if word in known and not _is_family_of(word, own)}
    return bool(named) and named.isdisjoint(_words(registered))


def _is_family_of(word: str, own: str) -> bool:
    return own.startswith(word) and own[len(word) :][:1].isalpha()


def _words(name: str) -> list[str]:
    return [word for word in _APART.split(name.upper()) if word]


def _tells(word: str) -> bool:
    return any(letter.isdigit() for letter in word) and not _SHARED.fullmatch(word)
