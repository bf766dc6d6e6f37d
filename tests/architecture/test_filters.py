"""What filters of lists have in common, so that what one address takes its siblings take too."""

from __future__ import annotations

import importlib
from collections.abc import Iterator

from django_filters import CharFilter, FilterSet

from tests.architecture.sources import APPS

for _path in sorted(APPS.glob("*/filters.py")):
    importlib.import_module(f"apps.{_path.parent.name}.filters")


def filter_sets(of: type[FilterSet] = FilterSet) -> Iterator[type[FilterSet]]:
    for one in of.__subclasses__():
        if one.__module__.startswith("apps."):
            yield one
        yield from filter_sets(one)


def test_a_node_is_asked_for_by_name_in_any_case_wherever_lists_are_filtered_by_node():
    by_node = {one: one.base_filters["node"] for one in filter_sets() if "node" in one.base_filters}
    assert len(by_node) > 8
    wrong = [
        one.__name__
        for one, node in by_node.items()
        if not isinstance(node, CharFilter) or (node.method is None and node.lookup_expr != "iexact")
    ]
    assert not wrong
