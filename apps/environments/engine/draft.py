"""A matrix drafted from what nodes report: the version of the majority, and what a person should look at."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from enum import StrEnum

from apps.catalogue.engine.components import Component, RuleKind, component, components
from apps.catalogue.engine.versions import parse
from apps.environments.engine.drift import NodeReport
from apps.environments.engine.rules import MatrixEntry, entry_for, sameness


class NoteKind(StrEnum):
    """What a draft could not decide alone, or decided against some nodes."""

    TIE = "tie"
    MINORITY = "minority"
    MISSING = "missing"
    UNITS_DIFFER = "units_differ"
    UNKNOWN_FORM = "unknown_form"
    FEW = "few"


@dataclass(frozen=True, slots=True, kw_only=True)
class DraftNote:
    """One thing to look at before the draft is locked: nodes and the raw versions that they report.

    of_nodes: how many nodes report anything at all.
    """

    kind: NoteKind
    component: str
    values: tuple[str, ...]
    nodes: tuple[str, ...]
    of_nodes: int = 0


@dataclass(frozen=True, slots=True, kw_only=True)
class Draft:
    """A drafted matrix: entries in the order of the catalogue, and notes in the order of the entries.

    Where nodes tie, the entry has no version and a check of it is not evaluated until a person chooses.
    """

    entries: tuple[MatrixEntry, ...]
    notes: tuple[DraftNote, ...]


def from_reports(reports: Iterable[NodeReport]) -> Draft:
    """Draft a matrix from the components that nodes report, with the rules of the catalogue.

    Left out are components that are not checked by default, those of which no node reports a version of
    a known form, and (noted as FEW) those that fewer than half of the nodes that report anything name at
    all.
    """
    nodes = sorted(reports, key=lambda report: report.node)
    known = components()
    speaking = [report for report in nodes if report.reported]
    reported = {name for report in nodes for name in report.reported}
    ordered = [name for name in known if name in reported] + sorted(reported - known.keys())
    entries: list[MatrixEntry] = []
    notes: list[DraftNote] = []
    for name in ordered:
        wanted = component(name)
        if wanted.rule is RuleKind.NOT_CHECKED:
            continue
        if few := _few(wanted, speaking):
            notes.append(few)
            continue
        entry, remarks = _draft_one(wanted, nodes)
        notes += remarks
        if entry is not None:
            entries.append(entry)
    return Draft(entries=tuple(entries), notes=tuple(notes))


def _few(wanted: Component, speaking: Sequence[NodeReport]) -> DraftNote | None:
    """The note on a component that fewer than half of the nodes report; None where enough do."""
    pairs = [
        (report.node, held.values)
        for report in speaking
        if (held := report.reported.get(wanted.id)) is not None and held.values
    ]
    if 2 * len(pairs) >= len(speaking):
        return None
    return replace(_note(NoteKind.FEW, wanted.id, pairs), of_nodes=len(speaking))


def _draft_one(wanted: Component, nodes: Sequence[NodeReport]) -> tuple[MatrixEntry | None, list[DraftNote]]:
    """The entry of one component, None where no version of a known form is reported, and its notes."""
    votes: dict[object, list[tuple[str, str]]] = defaultdict(list)
    apart: dict[NoteKind, list[tuple[str, tuple[str, ...]]]] = defaultdict(list)
    for report in nodes:
        held = report.reported.get(wanted.id)
        values = held.values if held is not None else ()
        versions = [parse(value, wanted.scheme) for value in values]
        if not values:
            apart[NoteKind.MISSING].append((report.node, ()))
        elif not all(version.is_known for version in versions):
            apart[NoteKind.UNKNOWN_FORM].append((report.node, values))
        elif len({sameness(version) for version in versions}) > 1:
            apart[NoteKind.UNITS_DIFFER].append((report.node, values))
        else:
            votes[sameness(versions[0])].append((report.node, values[0]))
    notes = [_note(kind, wanted.id, pairs) for kind, pairs in sorted(apart.items())]
    if not votes:
        has_units = NoteKind.UNITS_DIFFER in apart
        return (entry_for(wanted) if has_units else None), notes
    ranked = sorted(votes.values(), key=lambda pairs: (-len(pairs), pairs))
    leaders = [pairs for pairs in ranked if len(pairs) == len(ranked[0])]
    if len(leaders) > 1:
        notes.append(
            _note(NoteKind.TIE, wanted.id, [(node, (text,)) for pairs in ranked for node, text in pairs])
        )
        return entry_for(wanted), notes
    rest = [(node, (text,)) for pairs in ranked[1:] for node, text in pairs]
    if rest:
        notes.append(_note(NoteKind.MINORITY, wanted.id, rest))
    return entry_for(wanted, *_asked(wanted, ranked[0])), notes


def _asked(wanted: Component, leaders: Sequence[tuple[str, str]]) -> tuple[str, ...]:
    """The text that most nodes of the majority use; none for uniform, which takes whatever the domain runs."""
    if wanted.rule is RuleKind.UNIFORM:
        return ()
    texts = [text for _, text in leaders]
    return (min(set(texts), key=lambda text: (-texts.count(text), text)),)


def _note(kind: NoteKind, name: str, pairs: Sequence[tuple[str, tuple[str, ...]]]) -> DraftNote:
    return DraftNote(
        kind=kind,
        component=name,
        values=tuple(sorted({value for _, values in pairs for value in values})),
        nodes=tuple(sorted(node for node, _ in pairs)),
    )
