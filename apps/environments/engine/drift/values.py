"""What goes into the drift of a domain and what comes out: reports, cells, groups, findings."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum

from apps.core.verdicts import Verdict
from apps.environments.engine.rules import Outcome, Reason, verdict_of


@dataclass(frozen=True, slots=True, kw_only=True)
class Reported:
    """What a node reports of one component: raw versions that run, raw versions that packages declare.

    Both sorted and distinct. seen_at: when the newest report that confirms what is judged was collected.
    contradicting: what other kinds of evidence say against it at the same time, such as `dcgm_metrics: 570.1`.
    contradicted: what they say it against, such as `nvidia_smi_xml: 570.2`; empty where nothing contradicts.
    """

    loaded: tuple[str, ...] = ()
    declared: tuple[str, ...] = ()
    seen_at: datetime
    contradicting: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()

    @property
    def values(self) -> tuple[str, ...]:
        """What is judged: the loaded versions where there are any, the declared ones otherwise."""
        return self.loaded or self.declared


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeReport:
    """One node with its components, by component id. models: its accelerators on record, whose firmware it has."""

    node: str
    reported: Mapping[str, Reported]
    models: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """One square of the heat map, shared by all nodes that report the same.

    expected: what the matrix asks for; for uniform, the version of the majority. found: raw versions.
    loaded_differs: a package declares another version than the one that runs. contradicting: what other
    kinds of evidence say against the versions found; contradicted: which kinds say those.
    """

    component: str
    outcome: Outcome
    reason: Reason
    expected: str
    found: tuple[str, ...]
    declared: tuple[str, ...] = ()
    loaded_differs: bool = False
    contradicting: tuple[str, ...] = ()
    contradicted: tuple[str, ...] = ()
    severity: Verdict = Verdict.FAIL  # of the component: what a drift of it comes to

    @property
    def verdict(self) -> Verdict:
        verdict = verdict_of(self.outcome)
        return self.severity if verdict is Verdict.FAIL else verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """One node: its cells in the order of `DomainDrift.components` (None: left out), and its verdict."""

    node: str
    cells: tuple[Cell | None, ...]
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Nodes with identical cells, sorted by name; fingerprint is stable between runs."""

    fingerprint: str
    nodes: tuple[str, ...]
    cells: tuple[Cell | None, ...]
    verdict: Verdict


class FindingKind(StrEnum):
    """drift: a cell is not a match. loaded_differs: what runs is not what the package declares.

    contradiction: two kinds of fresh evidence cannot both be right. no_intent: nothing is asked of the domain.
    """

    DRIFT = "drift"
    LOADED_DIFFERS = "loaded_differs"
    CONTRADICTION = "contradiction"
    NO_INTENT = "no_intent"


@dataclass(frozen=True, slots=True, kw_only=True)
class Finding:
    """One thing to act on: a component of a node, or (node None) what holds for the whole domain."""

    kind: FindingKind
    node: str | None
    cell: Cell
    verdict: Verdict


@dataclass(frozen=True, slots=True, kw_only=True)
class OddOne:
    """Nodes that differ from the majority of their domain in one component."""

    component: str
    nodes: tuple[str, ...]
    found: tuple[str, ...]
    majority: tuple[str, ...]
    majority_count: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ShortestBoard:
    """The oldest version of a component in a domain whose nodes differ in it, and who has it."""

    component: str
    value: str
    newest: str
    nodes: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class DomainDrift:
    """The drift of one domain against one matrix.

    components: columns, first those of the matrix, then extra ones; none where nothing is asked for (each
    row then has one cell that says so). groups: largest first.
    odd_ones: those that fail first, and of them those that the fewest nodes share. shortest_boards: as well.
    """

    components: tuple[str, ...]
    rows: tuple[Row, ...]
    groups: tuple[Group, ...]
    findings: tuple[Finding, ...]
    odd_ones: tuple[OddOne, ...]
    shortest_boards: tuple[ShortestBoard, ...]
    verdict: Verdict
