"""Facts as an outline: nothing is left out in silence."""

from __future__ import annotations

import pytest

from apps.evidence.engine import outline as outlines
from apps.evidence.engine import registry
from apps.evidence.engine.outline import Part, outline
from apps.evidence.engine.source import Source
from tests.support import corpus


def by_name(parts: tuple[Part, ...]) -> dict[str, Part]:
    return {part.name: part for part in parts}


def test_values_come_first_and_what_is_not_stated_is_none():
    parts = outline({"gpus": {"a": 1}, "driver": "570", "cuda": None, "ecc": False, "models": ["A", "B"]})
    assert [part.name for part in parts] == ["driver", "cuda", "ecc", "models", "gpus"]
    assert [part.text for part in parts[:4]] == ["570", None, "false", "A, B"]


def test_none_at_all_is_told_from_not_stated():
    parts = outline({"warnings": [], "counts": {}, "text": "", "unknown": None})
    assert [part.text for part in parts] == ["", "", "", None]
    assert all(part.is_value for part in parts)


def test_alike_things_are_a_table_with_every_column():
    (part,) = outline({"rows": [{"size": 8, "time": 1.5}, {"size": 16, "wrong": None, "links": [1, 2]}]})
    assert part.table.columns == ("size", "time", "wrong", "links")
    assert part.table.rows == (("8", "1.5", "—", "—"), ("16", "—", "—", "1, 2"))


def test_unlike_things_are_groups_under_their_names():
    (part,) = outline({"gpus": [{"bus_id": "00:1b", "ecc": {"total": 0}}, {"ecc": {"total": 1}}]})
    assert [one.name for one in part.parts] == ["00:1b", "1"]
    assert by_name(part.parts[0].parts)["ecc"].parts[0].text == "0"


def test_what_does_not_fit_is_counted():
    many = outlines.ITEMS_SHOWN + 3
    values, groups, rows, deep = outline(
        {
            "values": list(range(many)),
            "groups": {str(number): {"a": {}} for number in range(many)},
            "rows": [{"a": 1}] * (outlines.ROWS_SHOWN + 2),
            "deep": nested(outlines.DEPTH_SHOWN + 2),
        }
    )
    assert (values.left_out, groups.left_out, rows.table.left_out) == (3, 3, 2)
    while deep.parts:
        (deep,) = deep.parts
    assert deep.left_out == 1


def nested(depth: int) -> dict:
    return {"in": nested(depth - 1)} if depth else {"end": 1}


@pytest.mark.parametrize("name", [corpus.XML, corpus.ALL_REDUCE, corpus.KERNEL_LOG, corpus.KUBERNETES])
def test_each_fact_of_real_output_has_its_part(name):
    facts = registry.read(Source.of_bytes(corpus.read(name))).facts
    assert set(by_name(outline(facts))) == set(facts)
