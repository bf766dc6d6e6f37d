"""What a matrix version asks for, as the engines take it, and what it ran with when it was good."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from apps.catalogue.engine.components import RuleKind, component
from apps.catalogue.engine.versions import Scheme
from apps.catalogue.queries import version_tables_for
from apps.core import clock
from apps.environments.engine import compat
from apps.environments.engine.compat import RuleResult
from apps.environments.engine.drift import Reported
from apps.environments.engine.rules import MatrixEntry as Asked
from apps.environments.engine.rules import Outcome, entry_for, judge
from apps.environments.models import Matrix, MatrixEntry, MatrixState, MatrixVersion
from apps.environments.queries.compatibility import rules_in_force
from apps.environments.queries.matrices import beneath, matrix_in_force
from apps.environments.queries.reports import observed_by_domain
from apps.fleet.models import Domain


def entries_of(entries: Iterable[MatrixEntry]) -> list[Asked]:
    """Rows as the engine takes them; scheme and branch are those of the catalogue where the row has none."""
    return [_asked(row) for row in entries]


@dataclass(frozen=True, slots=True, kw_only=True)
class Intent:
    """What is asked of a domain now: by its own matrix, and by its cluster's of what the own one leaves out.

    version: the matrix in force, the domain's own where it has one. wide: the whole cluster's where it holds
    beneath that. entries: both laid together. of_wide: the components that are asked for by `wide`.
    """

    version: MatrixVersion | None
    wide: MatrixVersion | None
    entries: tuple[Asked, ...]
    of_wide: frozenset[str]


def intent_of(domain: Domain) -> Intent:
    """What is asked of a domain now."""
    version = matrix_in_force(domain)
    wide = beneath(version, domain)
    entries = laid_together(version, wide)
    own = {row.component for row in version.entries.all()} if version else set()
    return Intent(
        version=version,
        wide=wide,
        entries=tuple(entries),
        of_wide=frozenset(entry.component for entry in entries) - own,
    )


def laid_together(version: MatrixVersion | None, wide: MatrixVersion | None) -> list[Asked]:
    """The entries of a domain's version, and those of its cluster's for components that it does not state."""
    own = entries_of(version.entries.all()) if version else []
    stated = {entry.component for entry in own}
    rest = entries_of(wide.entries.all()) if wide else []
    return own + [entry for entry in rest if entry.component not in stated]


def _asked(row: MatrixEntry) -> Asked:
    asked = entry_for(component(row.component), *row.values, rule=RuleKind(row.rule))
    if not row.scheme and row.branch_depth is None:
        return asked
    return replace(
        asked,
        scheme=Scheme(row.scheme) if row.scheme else asked.scheme,
        branch_depth=asked.branch_depth if row.branch_depth is None else row.branch_depth,
    )


def undecided(entries: Iterable[Asked]) -> list[str]:
    """Components for which a rule that needs a version has none, such as those of a tie in a draft."""
    without = (RuleKind.UNIFORM, RuleKind.NOT_CHECKED)
    return [entry.component for entry in entries if entry.rule not in without and not entry.values]


def known_good_versions(version: MatrixVersion, domain: Domain) -> dict[str, Asked]:
    """Component to the versions that a domain goes back to with a matrix version, each as an exact entry.

    What most nodes ran when the version was known-good (or, before that, when it was locked) goes before what
    the rule allows: uniform and at_least name no version to restore. Hardware is left out, no rollback
    changes it; so is what is not checked.
    """
    observed = {row.component: row.values for row in version.observed.filter(domain=domain)}
    wanted: dict[str, Asked] = {}
    for entry in entries_of(version.entries.all()):
        known = component(entry.component)
        values = tuple(observed.get(entry.component) or entry.values)
        if known.area != "hardware" and entry.rule is not RuleKind.NOT_CHECKED and values:
            rule = RuleKind.EXACT if len(values) == 1 else RuleKind.ONE_OF
            wanted[entry.component] = replace(entry, rule=rule, values=values)
    return wanted


def compatibility_of(version: MatrixVersion) -> tuple[RuleResult, ...]:
    """The rules between components, held against what the version asks for and what its domains run besides.

    Of components that a domain's version leaves out, what the whole cluster's asks for goes before that.
    For components that it names no version of, what most nodes of each domain report (a draft), or reported
    when it was locked, is taken.
    """
    domain = version.matrix.domain
    wide = beneath(version, domain) if domain is not None else None
    asked = compat.versions_of(laid_together(version, wide))
    observed: dict[str, list[str]] = defaultdict(list)
    for name, values in _observed_beside(version):
        observed[name] += [value for value in values if value not in observed[name]]
    cluster = version.matrix.cluster
    return compat.check_versions(
        observed | asked, rules_in_force(cluster.pk), tables=version_tables_for(cluster.scope_id)
    )


def _observed_beside(version: MatrixVersion) -> Iterator[tuple[str, Sequence[str]]]:
    if version.state != MatrixState.DRAFT:
        yield from version.observed.values_list("component", "values")
        return
    for domain in domains_of(version.matrix):
        for found in observed_by_domain(domain, now=clock.now()).values():
            yield found.component, found.values


def domains_of(matrix: Matrix) -> list[Domain]:
    """The domains that a matrix holds for: its own, or all of the cluster that are in use."""
    if matrix.domain is not None:
        return [matrix.domain]
    rows = Domain.objects.filter(cluster_id=matrix.cluster_id, retired_at__isnull=True)
    return list(rows.select_related("cluster"))


def differing(asked: Mapping[str, Asked], reported: Mapping[str, Reported]) -> list[str]:
    """The components among those asked for of which a node reports something else (or nothing)."""
    return [
        name
        for name, entry in asked.items()
        if name not in reported or judge(entry, reported[name].values).outcome is not Outcome.MATCH
    ]
