"""The texts of structured documents within what was pasted: what is in ``` fences, or else everything.

Here, unlike in tables, a line that only looks like a prefix, an entity or a fence may be content, so each is
taken off only where the whole text has it. Line numbers stay those of the file.
"""

from __future__ import annotations

import html
import re
from collections.abc import Sequence

from apps.core.texts import say
from apps.evidence.engine.parsers._notes import Notes
from apps.evidence.engine.parsers._prefixes import by_process, untag
from apps.evidence.engine.source import Line, Source

_ENTITY = re.compile(r"&(?:lt|gt|quot|amp|nbsp|#\d{1,4}|#x[0-9a-fA-F]{1,4});")
_FENCE = re.compile(r"\s{0,8}(?:`{3,}|~{3,})\s*([\w+-]*)\s*")
_TAGS_ONLY = re.compile(
    r"\s*(?:(?:<summary>[^<>]{0,200}</summary>|</?(?:details|summary|pre|code)(?: [^<>]{0,200})?/?>)\s*)+"
)
_PROMPT = re.compile(r"\s*(?:\$|\[?[\w.-]{1,64}@[\w.-]{1,64}[^|\n]{0,80}?[#$])\s+\S")
_SAMPLE_LINES = 200
_SHARE_PREFIXED = 0.5


def documents_text(source: Source, notes: Notes) -> list[list[Line]]:
    """The lines of each text that may hold documents, as the tool printed them.

    Of several processes that are mixed, the one with most lines. Raises Unreadable above 32 MiB.
    """
    text = source.text().replace("\xa0", " ")
    if _ENTITY.search(text) and "<" not in text and '"' not in text:
        text = html.unescape(text).replace("\xa0", " ")
    lines = [Line(number, part) for number, part in enumerate(text.split("\n"), start=1)]
    return _blocks(_one_process(lines, notes) if _has_prefixes(lines) else lines)


def _has_prefixes(lines: Sequence[Line]) -> bool:
    sample = [line.text for line in lines if line.text.strip()][:_SAMPLE_LINES]
    return sum(bool(untag(text).prefix) for text in sample) > _SHARE_PREFIXED * len(sample)


def _one_process(lines: Sequence[Line], notes: Notes) -> list[Line]:
    groups = by_process(lines)
    used = max(groups, key=lambda key: sum(bool(line.text.strip()) for line in groups[key]))
    for key, others in groups.items():
        said = [line for line in others if line.text.strip()]
        if key != used and said:
            name = say("output of %(key)s", key=key) if key else say("lines without a prefix")
            notes.add(
                "other_processes",
                say(
                    "%(name)s not read, only %(used)s; lines left out: %(count)s",
                    name=name,
                    count=len(said),
                    used=used or say("the rest"),
                ),
                at=said[0],
            )
    return groups[used]


def _blocks(lines: Sequence[Line]) -> list[list[Line]]:
    """The text within each ``` fence, or all of it where there is none; without prompts, tags and indentation."""
    found: list[list[Line]] = []
    inside: list[Line] | None = None
    for line in lines:
        if _FENCE.fullmatch(line.text):
            if inside is None:
                inside = []
            else:
                found.append(inside)
                inside = None
        elif inside is not None:
            inside.append(line)
    if inside:
        found.append(inside)
    kept = [block for block in found if any(line.text.strip() for line in block)] or [list(lines)]
    return [_dedented(_bare(block)) for block in kept]


def _bare(lines: Sequence[Line]) -> list[Line]:
    return [line for line in lines if not _PROMPT.match(line.text) and not _TAGS_ONLY.fullmatch(line.text)]


def _dedented(lines: list[Line]) -> list[Line]:
    depths = [len(line.text) - len(line.text.lstrip(" ")) for line in lines if line.text.strip()]
    depth = min(depths, default=0)
    return [Line(line.number, line.text[depth:]) for line in lines] if depth else lines
