"""Who differs from the majority of a domain, and which version holds it back."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Mapping, Sequence

from apps.catalogue.engine.components import component
from apps.catalogue.engine.versions import ParsedVersion, parse
from apps.environments.engine.drift.values import Cell, NodeReport, OddOne, ShortestBoard
from apps.environments.engine.rules import MatrixEntry, Outcome, sameness

# 22.x is for ConnectX-6 Dx and 28.x for ConnectX-7: no 22 is behind a 28.
_CARD_IN_FIRST_NUMBER = frozenset({"nic_firmware"})
Holders = Mapping[tuple[str, ...], Sequence[str]]


def holders_of(
    entry: MatrixEntry, reports: Sequence[NodeReport], column: Sequence[Cell | None]
) -> list[Holders]:
    """Versions found in a column to the nodes that have them; what is stale or not reported is left out.

    Once for each kind of card where it is firmware, since that of one card says nothing of another's.
    """
    alike: dict[tuple[str, ...], dict[tuple[str, ...], list[str]]] = {}
    for report, cell in zip(reports, column, strict=True):
        if cell is None or not cell.found or cell.outcome is Outcome.STALE:
            continue
        by_card: dict[tuple[str, ...], list[str]] = defaultdict(list)
        for text in cell.found:
            by_card[_card_of(entry, report, text)].append(text)
        for card, found in by_card.items():
            alike.setdefault(card, defaultdict(list))[tuple(found)].append(report.node)
    return [alike[card] for card in sorted(alike)]


def _card_of(entry: MatrixEntry, report: NodeReport, text: str) -> tuple[str, ...]:
    """Which card a version of firmware is for; nothing for what is no firmware."""
    if entry.component in _CARD_IN_FIRST_NUMBER:
        return tuple(map(str, parse(text, entry.scheme).numbers[:1]))
    return report.models if component(entry.component).area == "firmware" else ()


def odd_ones_of(entry: MatrixEntry, holders: Holders) -> list[OddOne]:
    """The nodes outside of the majority, for a component that has a clear one."""
    same: dict[object, list[tuple[str, ...]]] = defaultdict(list)
    for values in sorted(holders):
        same[tuple(sorted({repr(sameness(parse(text, entry.scheme))) for text in values}))].append(values)
    ranked = sorted(
        ((sorted(node for one in group for node in holders[one]), group[0]) for group in same.values()),
        key=lambda pair: (-len(pair[0]), pair[1]),
    )
    if len(ranked) < 2 or len(ranked[0][0]) == len(ranked[1][0]):
        return []
    most, majority = ranked[0]
    return [
        OddOne(
            component=entry.component,
            nodes=tuple(nodes),
            found=found,
            majority=majority,
            majority_count=len(most),
        )
        for nodes, found in ranked[1:]
    ]


def shortest_board_of(entry: MatrixEntry, holders: Holders) -> ShortestBoard | None:
    """The oldest version, where all versions found can be ordered and are not all the same."""
    versions = [parse(text, entry.scheme) for text in sorted({text for values in holders for text in values})]
    alike = {(version.family, version.flavour) for version in versions}
    if len(versions) < 2 or len(alike) != 1 or not all(version.is_ordered for version in versions):
        return None
    versions.sort(key=_order)
    oldest, newest = versions[0], versions[-1]
    if _order(oldest) == _order(newest):
        return None
    low = {version.raw for version in versions if _order(version) == _order(oldest)}
    nodes = sorted(node for values, names in holders.items() if low & set(values) for node in names)
    return ShortestBoard(component=entry.component, value=oldest.raw, newest=newest.raw, nodes=tuple(nodes))


def _order(version: ParsedVersion) -> tuple[object, ...]:
    return (version.key, version.detail)
