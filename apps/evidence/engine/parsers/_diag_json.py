"""The JSON that `dcgmi diag -j` prints, of DCGM 3 ("DCGM GPU Diagnostic") and 4 ("DCGM Diagnostic")."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator, Mapping
from typing import Any

from apps.core.texts import say
from apps.evidence.engine.parsers._diag_results import Result, not_passed, result_counts
from apps.evidence.engine.reading import ReadingWarning, Unreadable

ROOT = re.compile(r'"DCGM (?:GPU )?Diagnostic"\s*:')
_BRACE = re.compile(r"[{}]")
_MOST_DOCUMENTS = 500
_MOST_TRIES = 4  # braces of the text in front that were never closed


def documents_in(text: str) -> list[tuple[Mapping[str, Any], int]]:
    """Each JSON document with a diagnostic, and the line on which it begins; text around them is passed over.

    Raises Unreadable where a document is cut or damaged.
    """
    documents: list[tuple[Mapping[str, Any], int]] = []
    position, line = 0, 1
    while (root := ROOT.search(text, position)) and len(documents) < _MOST_DOCUMENTS:
        document, start, end = _document_around(text, position, root.start())
        line += text.count("\n", position, start)
        documents.append((document, line))
        line += text.count("\n", start, end)
        position = end
    return documents


def _document_around(text: str, begin: int, root: int) -> tuple[Mapping[str, Any], int, int]:
    """The outermost object around the root key, and where it begins and ends."""
    open_braces: list[int] = []
    for brace in _BRACE.finditer(text, begin, root):
        if brace.group() == "{":
            open_braces.append(brace.start())
        elif open_braces:
            open_braces.pop()
    reason = say("the JSON of dcgmi diag has lost its beginning")
    decoder = json.JSONDecoder()
    for start in [*open_braces[:_MOST_TRIES], *open_braces[-1:]]:
        try:
            document, end = decoder.raw_decode(text, start)
        except (ValueError, RecursionError):
            line = text.count("\n", 0, start) + 1
            reason = say("line %(line)s: the JSON of dcgmi diag is cut or damaged", line=line)
            continue
        if end > root and isinstance(document, dict):
            return document, start, end
    raise Unreadable(reason, code="damaged_json")


def facts_of(document: Mapping[str, Any], line: int) -> tuple[dict[str, Any], list[ReadingWarning]]:
    root = next((document[key] for key in document if ROOT.fullmatch(f'"{key}":')), None)
    if not isinstance(root, dict):
        raise Unreadable(
            say("line %(line)s: the JSON of dcgmi diag has no diagnostic", line=line), code="no_diagnostic"
        )
    results = list(_results(root))
    metadata = _mapping(document.get("metadata")) or _mapping(root.get("metadata"))
    warnings = []
    if problem := root.get("runtime_error") or document.get("runtime_error"):
        warnings.append(
            ReadingWarning(
                code="runtime_error", message=say("the diagnostic failed"), line=line, text=str(problem)[:200]
            )
        )
    if not results:
        warnings.append(
            ReadingWarning(code="no_results", message=say("the diagnostic holds no result"), line=line)
        )
    gpus = {entity for result in results for entity in result.entities if entity.isdigit()}
    categories = dict.fromkeys(result.category for result in results if result.category)
    return {
        "dcgm_version": _text(_first(document, root, metadata, "version", "DCGM Version")),
        "driver_version": _text(
            _first(document, root, metadata, "Driver Version Detected", "driver_version")
        ),
        "categories": list(categories),
        "tests": len({(result.category, result.test) for result in results}),
        "result_counts": result_counts(results),
        "not_passed": not_passed(results),
        "gpu_ids": sorted(gpus, key=int) or None,
        "results": [result.facts() for result in results],
    }, warnings


def _first(
    document: Mapping[str, Any], root: Mapping[str, Any], metadata: Mapping[str, Any], *keys: str
) -> Any:
    return next((said[key] for said in (metadata, root, document) for key in keys if said.get(key)), None)


def _text(value: Any) -> str | None:
    return str(value) if isinstance(value, str | int | float) else None


def _results(root: Mapping[str, Any]) -> Iterator[Result]:
    for category in _list(root.get("test_categories")) or [root]:
        name = _text(category.get("category"))
        for test in _list(category.get("tests")):
            single = _list(test.get("results"))
            if not single and isinstance(test.get("test_summary"), dict):
                single = [test["test_summary"]]
            for result in single:
                yield Result(
                    category=name,
                    test=str(test.get("name") or "?"),
                    status=str(result.get("status") or "?"),
                    entities=_entities(result),
                    messages=_messages(result),
                )


def _entities(result: Mapping[str, Any]) -> list[str]:
    """GPU numbers as text; entities of other groups carry the name of their group."""
    said = next(
        (result[key] for key in ("gpu_ids", "gpu_id", "entity_ids", "entity_id") if key in result), None
    )
    if said is None or said == "":
        return []
    parts = said if isinstance(said, list) else str(said).split(",")
    group = str(result.get("entity_group") or "GPU")
    prefix = "" if group.upper() == "GPU" else group
    return [f"{prefix}{str(part).strip()}" for part in parts]


def _messages(result: Mapping[str, Any]) -> list[str]:
    found = []
    for key in ("warnings", "warning", "errors", "error", "info"):
        value = result.get(key)
        for item in value if isinstance(value, list) else [value]:
            text = (
                next((item[k] for k in ("warning", "error", "info") if k in item), None)
                if isinstance(item, dict)
                else item
            )
            if text:
                found.append(str(text)[:500])
    return found


def _mapping(value: Any) -> Mapping[str, Any]:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Mapping[str, Any]]:
    return [item for item in value if isinstance(item, dict)] if isinstance(value, list) else []
