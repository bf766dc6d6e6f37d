"""What a change wants against what the matrix in force asks for: success would be drift."""

from __future__ import annotations

from dataclasses import dataclass

from apps.catalogue.engine.components import RuleKind
from apps.changes.models import Change
from apps.environments.engine.rules import MatrixEntry, Outcome, judge
from apps.environments.models import MatrixVersion
from apps.environments.queries import intent_of

_NAMES_NO_VERSION = (RuleKind.UNIFORM, RuleKind.NOT_CHECKED)


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainstMatrix:
    """A component of a change of which the matrix in force asks for something else.

    asked: what it asks for. values: the wanted versions that do not fit that. matrix_version: the one that asks,
    the domain's own or that of its cluster.
    """

    component: str
    asked: MatrixEntry
    values: tuple[str, ...]
    matrix_version: MatrixVersion


def against_matrix(change: Change) -> list[AgainstMatrix]:
    """What would be drift once the change is done, by component; nothing where it is over or no matrix is in force."""
    if change.ended_at is not None:
        return []
    wanted: dict[str, dict[str, None]] = {}
    rows = change.targets.order_by("component").values_list("component", "values").distinct()
    for name, values in rows:
        wanted.setdefault(name, {}).update(dict.fromkeys(values))
    intent = intent_of(change.domain)
    found = []
    for entry in intent.entries:
        by = intent.wide if entry.component in intent.of_wide else intent.version
        if by is None or entry.rule in _NAMES_NO_VERSION or not entry.values:
            continue
        unfit = [
            value
            for value in wanted.get(entry.component, ())
            if judge(entry, [value]).outcome is not Outcome.MATCH
        ]
        if unfit:
            found.append(
                AgainstMatrix(component=entry.component, asked=entry, values=tuple(unfit), matrix_version=by)
            )
    return sorted(found, key=lambda one: one.component)
