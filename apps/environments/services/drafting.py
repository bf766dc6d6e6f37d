"""Drafts of matrices: made from reports, from another version or from a file, and edited."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass

from django.db import IntegrityError, transaction
from django.db.models import Max
from django.utils.translation import gettext as _

from apps.audit.services import decision
from apps.catalogue.engine.components import RuleKind, component, components
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Missing
from apps.core.rights import Right
from apps.environments import queries
from apps.environments.engine import draft, exchange
from apps.environments.engine.draft import DraftNote, NoteKind
from apps.environments.engine.rules import MatrixEntry as Asked
from apps.environments.models import Matrix, MatrixEntry, MatrixVersion
from apps.environments.services import versions
from apps.fleet.models import Cluster, Domain
from apps.fleet.queries import clusters_visible, domains_of


@dataclass(frozen=True, slots=True, kw_only=True)
class _Home:
    """What a matrix holds for: a domain, or (None) the whole cluster."""

    cluster: Cluster
    domain: Domain | None

    @property
    def domains(self) -> list[Domain]:
        return [self.domain] if self.domain else list(domains_of(self.cluster))


@decision
def draft_from_reports(
    *,
    actor: Actor,
    domain_id: int | None = None,
    cluster_id: int | None = None,
    name: str = "",
    note: str = "",
) -> MatrixVersion:
    """A draft from what most nodes of a domain, or of a whole cluster, report, with notes on what to look at.

    Raises Conflict where no node has reported yet, or half of them no component, and as `_home`.
    """
    home = _home(actor, domain_id, cluster_id)
    reports = [report for domain in home.domains for report in queries.reported_by_domain(domain)[1]]
    drafted = draft.from_reports(reports)
    if not drafted.entries and any(one.kind is NoteKind.FEW for one in drafted.notes):
        raise Conflict(_("no component is reported by half of the nodes"), code="no_majority")
    if not drafted.entries:
        raise Conflict(_("no node has reported its versions yet"), code="no_reports")
    return _add_version(actor, _matrix_of(home, name), drafted.entries, note, notes=drafted.notes)


@decision
def draft_from_version(
    *,
    actor: Actor,
    version_id: int,
    domain_id: int | None = None,
    cluster_id: int | None = None,
    name: str = "",
    note: str = "",
) -> MatrixVersion:
    """A draft that starts with the entries of a version: the next one of its own matrix, or one of another.

    domain_id, cluster_id: what it is drafted for; neither: what that version holds for. Raises as `_home`.
    """
    if domain_id is None and cluster_id is None:
        base = queries.matrix_version_for(actor, version_id, Right.OPERATE)
        versions.may_write(actor, base.matrix.cluster)
        matrix = base.matrix
    else:
        base = queries.matrix_version_for(actor, version_id)
        matrix = _matrix_of(_home(actor, domain_id, cluster_id), name)
    return _add_version(actor, matrix, queries.entries_of(base.entries.all()), note)


@decision
def draft_from_file(
    *,
    actor: Actor,
    text: str,
    file_format: str,
    domain_id: int | None = None,
    cluster_id: int | None = None,
    name: str = "",
    note: str = "",
) -> MatrixVersion:
    """A draft for a domain, or a whole cluster, from a YAML or CSV file.

    Raises Invalid with every fault by row and column, and as `_home`.
    """
    home = _home(actor, domain_id, cluster_id)
    entries = read_entries(text, file_format)
    return _add_version(actor, _matrix_of(home, name), entries, note)


@decision
def replace_entries(
    *, actor: Actor, version_id: int, expected_version: int, text: str, file_format: str
) -> MatrixVersion:
    """Put the entries of a file in the place of all that a draft asks for. Raises Invalid, Conflict, Stale."""
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    versions.may_write(actor, version.matrix.cluster)
    entries = read_entries(text, file_format)
    before = versions.entry_facts(version)
    versions.touch(version, expected_version)
    MatrixEntry.objects.filter(matrix_version=version).delete()
    _create_entries(version, entries)
    _note_edit(actor, version, before)
    return queries.matrix_version_for(actor, version_id)


@decision
def set_entry(
    *,
    actor: Actor,
    version_id: int,
    expected_version: int,
    component: str,
    rule: str,
    values: Sequence[str],
    note: str = "",
) -> MatrixVersion:
    """Set what a draft asks of one component.

    Raises Invalid (component, rule, values), Conflict where the version is locked, Stale.
    """
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    versions.may_write(actor, version.matrix.cluster)
    component = component.strip()
    values = [value.strip() for value in values if value.strip()]
    _check_entry(component, rule, values)
    before = versions.entry_facts(version)
    versions.touch(version, expected_version)
    asked = {"rule": rule, "values": values, "note": note[:300]}
    MatrixEntry.objects.update_or_create(matrix_version=version, component=component, defaults=asked)
    _note_edit(actor, version, before)
    return queries.matrix_version_for(actor, version_id)


@decision
def remove_entry(*, actor: Actor, version_id: int, expected_version: int, component: str) -> MatrixVersion:
    """A draft asks nothing of a component any more; where it did not, nothing changes. Raises Conflict, Stale."""
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    versions.may_write(actor, version.matrix.cluster)
    before = versions.entry_facts(version)
    versions.touch(version, expected_version)
    MatrixEntry.objects.filter(matrix_version=version, component=component).delete()
    _note_edit(actor, version, before)
    return queries.matrix_version_for(actor, version_id)


def read_entries(text: str, file_format: str) -> tuple[Asked, ...]:
    """The entries of a file. Raises Invalid for an unknown format, an empty file, and every fault in it."""
    readers = {"yaml": exchange.from_yaml, "csv": exchange.from_csv}
    if file_format not in readers:
        message = _("say yaml or csv")
        raise Invalid(message, code="file_format", errors=[FieldError(pointer="/format", message=message)])
    entries = readers[file_format](text)
    if not entries:
        message = _("the file asks for nothing")
        raise Invalid(message, code="empty_matrix", errors=[FieldError(pointer="/text", message=message)])
    return entries


def _note_edit(actor: Actor, version: MatrixVersion, before: dict[str, object]) -> None:
    after = versions.entry_facts(version)
    if after != before:
        versions.note(actor, "matrix.edited", version, before=before, after=after)


def _home(actor: Actor, domain_id: int | None, cluster_id: int | None) -> _Home:
    """The domain, or the cluster, of these ids. Raises Missing, NotAllowed, Invalid where not just one is given."""
    if (domain_id is None) == (cluster_id is None):
        message = _("say either a domain or a whole cluster")
        raise Invalid(message, code="home", errors=[FieldError(pointer="/domain_id", message=message)])
    if domain_id is not None:
        domain = queries.domain_for(actor, domain_id)
        versions.may_write(actor, domain.cluster)
        return _Home(cluster=domain.cluster, domain=domain)
    cluster = clusters_visible(actor).filter(pk=cluster_id).first()
    if cluster is None:
        raise Missing(_("there is no such cluster, or you may not see it"))
    versions.may_write(actor, cluster)
    return _Home(cluster=cluster, domain=None)


def _matrix_of(home: _Home, name: str) -> Matrix:
    """The matrix of a domain or a cluster; its first draft makes it. Raises Conflict where the name is taken."""
    held = Matrix.objects.filter(cluster=home.cluster, domain=home.domain).select_related("cluster", "domain")
    if (matrix := held.first()) is not None:
        return matrix
    name = (name.strip() or f"{(home.domain or home.cluster).name} environment")[:120]
    try:
        with transaction.atomic():
            return Matrix.objects.create(
                cluster=home.cluster, domain=home.domain, name=name, created_at=clock.now()
            )
    except IntegrityError as error:
        if (matrix := held.first()) is not None:  # somebody else drafted it at the same moment
            return matrix
        message = _("there is a matrix %(name)s already") % {"name": name}
        raise Conflict(message, code="name_taken") from error


def _add_version(
    actor: Actor, matrix: Matrix, entries: Sequence[Asked], note: str, *, notes: Iterable[DraftNote] = ()
) -> MatrixVersion:
    newest = matrix.versions.aggregate(newest=Max("number"))["newest"] or 0
    try:
        with transaction.atomic():
            version = MatrixVersion.objects.create(
                matrix=matrix,
                number=newest + 1,
                note=note.strip(),
                draft_notes=[asdict(one) for one in notes],
                created_by_id=actor.person_id,
                created_at=clock.now(),
            )
    except IntegrityError as error:
        message = _("somebody else drafted this matrix at the same moment; try again")
        raise Conflict(message, code="number_taken") from error
    _create_entries(version, entries)
    versions.note(actor, "matrix.drafted", version, after=versions.entry_facts(version))
    return queries.matrix_version_for(actor, version.pk)


def _create_entries(version: MatrixVersion, entries: Iterable[Asked]) -> None:
    """Scheme and branch are kept only where they are not those of the catalogue."""
    rows = []
    for entry in entries:
        known = component(entry.component)
        rows.append(
            MatrixEntry(
                matrix_version=version,
                component=entry.component,
                rule=entry.rule.value,
                values=list(entry.values),
                scheme="" if entry.scheme is known.scheme else entry.scheme.value,
                branch_depth=None if entry.branch_depth == known.branch_depth else entry.branch_depth,
            )
        )
    MatrixEntry.objects.bulk_create(rows, batch_size=500)


def _check_entry(component: str, rule: str, values: Sequence[str]) -> None:
    errors = []
    if rule not in set(RuleKind):
        errors.append(_wrong("/rule", _("say one of %(known)s"), ", ".join(RuleKind)))
    if not exchange.is_component_id(component):
        message = _("small letters, digits and _, such as %(known)s")
        errors.append(_wrong("/component", message, ", ".join(list(components())[:5])))
    if rule in (RuleKind.EXACT, RuleKind.SAME_BRANCH, RuleKind.AT_LEAST) and len(values) != 1:
        errors.append(_wrong("/values", _("this rule takes exactly one version")))
    if rule == RuleKind.ONE_OF and not values:
        errors.append(_wrong("/values", _("this rule takes at least one version")))
    if any(len(value) > exchange.LIMIT_TEXT for value in values):
        errors.append(_wrong("/values", _("at most %(known)s characters each"), str(exchange.LIMIT_TEXT)))
    if errors:
        raise Invalid(errors[0].message, code="matrix_entry", errors=errors)


def _wrong(pointer: str, message: str, known: str = "") -> FieldError:
    return FieldError(pointer=pointer, message=message % {"known": known} if known else message)
