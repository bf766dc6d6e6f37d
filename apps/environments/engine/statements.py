"""From what several kinds of evidence state of one component to what counts: the newest world, the best witness."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from apps.catalogue.engine.components import Component
from apps.catalogue.engine.versions import identical, parse
from apps.environments.engine.drift.values import Reported
from apps.environments.engine.facts import Standing, tool_of

# Tools of one round run one after another; what differs by less than this was said at the same time.
ROUND_S = 300.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """What the reports of one kind say of one component of one node.

    values: raw versions, sorted and distinct. since: from when they said so. seen_at: when they last did.
    """

    kind: str
    standing: Standing
    values: tuple[str, ...]
    since: datetime
    seen_at: datetime


def reported_from(component: Component, statements: Sequence[Statement], *, stale_after_s: float) -> Reported:
    """What counts of several statements about one component of one node; at least one is given.

    A statement has had its day where the same tool spoke again in another form, where its last report is more
    than stale_after_s older than the newest one, or where another began to differ after it was last made (a
    package that changed after a library was seen loaded, too). Of those that remain the kind that the catalogue
    names first counts; where each was overtaken by another, nothing is reported. What the others say against it is
    kept in `contradicting` once both were repeated (and what they say it against in `contradicted`): until then one
    of them may just have been made before a change.
    """
    if len(statements) == 1:
        return _reported(statements, (), (), newest=statements[0].seen_at)
    newest = max(one.seen_at for one in statements)
    recent = [
        one for one in _last_words(statements) if newest - one.seen_at <= timedelta(seconds=stale_after_s)
    ]
    standing = [one for one in recent if not any(_overtakes(other, one) for other in recent)]
    chosen: list[Statement] = []
    contradicting: list[str] = []
    contradicted: list[str] = []
    for kind_of in Standing:
        ranked = sorted(
            (one for one in standing if one.standing is kind_of), key=lambda one: _rank(component, one)
        )
        if ranked:
            chosen.append(ranked[0])
            against = [
                _said(one)
                for one in ranked[1:]
                if _is_repeated(one, ranked[0]) and differ(component, one.values, ranked[0].values)
            ]
            contradicting += against
            contradicted += [_said(ranked[0])] if against else []
    return _reported(chosen, tuple(sorted(contradicting)), tuple(sorted(contradicted)), newest=newest)


def _said(one: Statement) -> str:
    return f"{one.kind}: {', '.join(one.values)}"


def differ(component: Component, found: Iterable[str], held: Iterable[str]) -> bool:
    """Whether some version found is certainly none of those held."""
    versions = [parse(text, component.scheme) for text in held]
    return any(
        all(identical(parse(text, component.scheme), version) is False for version in versions)
        for text in found
    )


def _last_words(statements: Iterable[Statement]) -> list[Statement]:
    """Of each tool and standing what it said last."""
    last: dict[tuple[str, Standing], Statement] = {}
    for one in sorted(statements, key=lambda one: (one.seen_at, one.kind)):
        last[tool_of(one.kind), one.standing] = one
    return list(last.values())


def _is_repeated(one: Statement, other: Statement) -> bool:
    """Whether both were made for a while at the same time, and not once each, one after the other."""
    return min(one.seen_at, other.seen_at) > max(one.since, other.since)


def _overtakes(later: Statement, earlier: Statement) -> bool:
    """Whether one statement began after the other was last made, so that the world has moved on."""
    if later.values == earlier.values or later.since - earlier.seen_at <= timedelta(seconds=ROUND_S):
        return False
    return later.standing is earlier.standing or earlier.standing is Standing.LOADED


def _rank(component: Component, one: Statement) -> tuple[int, float, str]:
    order = component.read_from
    place = order.index(one.kind) if one.kind in order else len(order)
    return place, -one.seen_at.timestamp(), one.kind


def _reported(
    chosen: Sequence[Statement],
    contradicting: tuple[str, ...],
    contradicted: tuple[str, ...],
    *,
    newest: datetime,
) -> Reported:
    by_standing = {one.standing: one for one in chosen}
    loaded, declared = by_standing.get(Standing.LOADED), by_standing.get(Standing.DECLARED)
    counting = loaded or declared
    return Reported(
        loaded=loaded.values if loaded else (),
        declared=declared.values if declared else (),
        seen_at=counting.seen_at if counting else newest,
        contradicting=contradicting,
        contradicted=contradicted,
    )
