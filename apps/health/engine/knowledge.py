"""Troubleshooting knowledge: symptom, causes, checks and remedies, as data in two languages."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from apps.core import safe_yaml

_DATA = Path(__file__).resolve().parents[1] / "data" / "knowledge.yaml"
LANGUAGES = ("en", "zh")

Phrase = tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Text:
    """One text in both languages."""

    en: str
    zh: str

    def in_language(self, code: str) -> str:
        """The text for a language code such as zh-hans or en-gb; English for all others than Chinese."""
        return self.zh if code.casefold().startswith("zh") else self.en


@dataclass(frozen=True, slots=True, kw_only=True)
class Cause:
    """One possible cause. weight: 1 (rare) to 5 (usual). phrases: words that speak for it, folded."""

    id: str
    weight: int
    text: Text
    phrases: tuple[Phrase, ...]
    check: Text
    remedy: Text


@dataclass(frozen=True, slots=True, kw_only=True)
class KnowledgeItem:
    """One symptom with its causes, most usual first. xids: kernel codes that show it."""

    id: str
    title: Text
    text: Text
    phrases: tuple[Phrase, ...]
    xids: frozenset[int]
    causes: tuple[Cause, ...]


@cache
def knowledge() -> tuple[KnowledgeItem, ...]:
    """All items that come with the portal, in the order of the file."""
    return tuple(_item(row) for row in safe_yaml.load(_DATA.read_text(encoding="utf-8"))["items"])


def search(words: str) -> tuple[KnowledgeItem, ...]:
    """Items that hold every one of the words, in any language and case; those with a word in the title first."""
    wanted = words.casefold().split()
    found = [item for item in knowledge() if all(word in _haystack(item) for word in wanted)]
    return tuple(sorted(found, key=lambda item: -sum(word in _title(item) for word in wanted)))


def items_about(*, kind: str, code: int) -> tuple[KnowledgeItem, ...]:
    """Items that show themselves by a fault: those of its Xid; of another kind, such as sxid, those that name it."""
    if kind == "xid":
        return tuple(item for item in knowledge() if code in item.xids)
    return tuple(item for item in knowledge() if any(kind in phrase for phrase in item.phrases))


def _title(item: KnowledgeItem) -> str:
    return f"{item.id} {item.title.en} {item.title.zh}".casefold()


def _haystack(item: KnowledgeItem) -> str:
    texts = [item.text, *(text for cause in item.causes for text in (cause.text, cause.check, cause.remedy))]
    phrases = [" ".join(phrase) for phrase in item.phrases]
    codes = [f"xid {code}" for code in sorted(item.xids)]
    return " ".join([_title(item), *(f"{text.en} {text.zh}" for text in texts), *phrases, *codes]).casefold()


def _item(row: Mapping[str, Any]) -> KnowledgeItem:
    causes = sorted((_cause(cause) for cause in row["causes"]), key=lambda cause: -cause.weight)
    return KnowledgeItem(
        id=row["id"],
        title=_text(row["title"]),
        text=_text(row["text"]),
        phrases=_phrases(row["phrases"]),
        xids=frozenset(row.get("xids", ())),
        causes=tuple(causes),
    )


def _cause(row: Mapping[str, Any]) -> Cause:
    return Cause(
        id=row["id"],
        weight=row["weight"],
        text=_text(row["text"]),
        phrases=_phrases(row["phrases"]),
        check=_text(row["check"]),
        remedy=_text(row["remedy"]),
    )


def _text(row: Mapping[str, str]) -> Text:
    return Text(en=row["en"], zh=row["zh"])


def _phrases(rows: Sequence[Sequence[Any]]) -> tuple[Phrase, ...]:
    return tuple(tuple(str(word).casefold() for word in row) for row in rows)
