"""Matrix versions: drafted, edited, locked, retired, and known to be good."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F, Max

from apps.audit.services import decision, record
from apps.catalogue.engine.components import RuleKind, components
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Stale
from apps.core.rights import Right, TokenScope
from apps.core.verdicts import Verdict
from apps.environments import queries
from apps.environments.engine import compat, draft
from apps.environments.models import Matrix, MatrixEntry, MatrixState, MatrixVersion
from apps.evidence import services as evidence
from apps.fleet.models import Cluster, Domain


@decision
def draft_from_reports(*, actor: Actor, domain_id: int, name: str = "", note: str = "") -> MatrixVersion:
    """A draft for a domain from what most of its nodes report.

    Raises Conflict where no node has reported yet.
    """
    domain = Domain.objects.select_related("cluster").get(pk=domain_id)
    _may_write(actor, domain.cluster)
    _nodes, reports = queries.reported_by_domain(domain)
    drafted = draft.from_reports(reports)
    if not drafted.entries:
        raise Conflict("no node of this domain has reported its versions yet", code="no_reports")
    rows = [(entry.component, entry.rule.value, list(entry.values)) for entry in drafted.entries]
    return _new_version(actor, domain, name or f"{domain.name} environment", rows, note)


@decision
def draft_from_version(*, actor: Actor, version_id: int, note: str = "") -> MatrixVersion:
    """The next draft of a matrix, starting with the entries of one of its versions."""
    base = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    _may_write(actor, base.matrix.cluster)
    rows = [(entry.component, entry.rule, list(entry.values)) for entry in base.entries.all()]
    return _add_version(actor, base.matrix, rows, note)


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
    """Set what a draft asks of one component; rule not_checked without values removes the entry.

    Raises Invalid (component, rule, values), Conflict where the version is locked, Stale.
    """
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    _may_write(actor, version.matrix.cluster)
    values = [value.strip() for value in values if value.strip()]
    _check_entry(component, rule, values)
    before = _entry_facts(version)
    _touch(version, expected_version)
    if rule == RuleKind.NOT_CHECKED:
        version.entries.filter(component=component).delete()
    else:
        version.entries.update_or_create(
            component=component, defaults={"rule": rule, "values": values, "note": note[:300]}
        )
    after = _entry_facts(version)
    if after != before:
        _record(actor, "matrix.edited", version, before=before, after=after)
    return queries.matrix_version_for(actor, version_id)


@decision
def lock_matrix(
    *, actor: Actor, version_id: int, expected_version: int, override_reason: str = ""
) -> MatrixVersion:
    """Lock a draft: from now on it stays as it is, and nodes are held against it. The version before it retires.

    Raises Invalid where it asks for nothing, Conflict (rules_broken) where a compatibility rule is broken and
    no reason is given, Conflict where it is not a draft, Stale.
    """
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    _may_write(actor, version.matrix.cluster)
    asked = _entry_facts(version)
    if not asked:
        raise Invalid("a matrix that asks for nothing cannot be locked", code="empty_matrix")
    results = compat.check(queries.entries_of(version.entries.all()))
    broken = [one for one in results if one.verdict is Verdict.FAIL]
    if broken and not override_reason.strip():
        raise Conflict(
            "combination not supported: " + "; ".join(one.definition.title for one in broken),
            code="rules_broken",
            rules=[one.rule for one in broken],
        )
    now = clock.now()
    moved = MatrixVersion.objects.filter(
        pk=version_id, state=MatrixState.DRAFT, version=expected_version
    ).update(
        state=MatrixState.LOCKED,
        digest=digest.of_value(asked),
        locked_by_id=actor.person_id,
        locked_at=now,
        override_reason=override_reason.strip() if broken else "",
        version=F("version") + 1,
    )
    if not moved:
        _refuse_move(version, expected_version)
    older = MatrixVersion.objects.filter(matrix=version.matrix, state=MatrixState.LOCKED).exclude(
        pk=version_id
    )
    older.update(state=MatrixState.RETIRED, retired_at=now, version=F("version") + 1)
    locked = queries.matrix_version_for(actor, version_id)
    _record(
        actor,
        "matrix.locked",
        locked,
        after={"entries": asked, "digest": locked.digest, "broken_rules": [one.rule for one in broken]},
        reason=locked.override_reason,
    )
    return locked


@decision
def retire_matrix(*, actor: Actor, version_id: int, expected_version: int, reason: str) -> MatrixVersion:
    """Take a locked version out of force. Raises Conflict, Stale, Invalid without a reason."""
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    _may_write(actor, version.matrix.cluster)
    if not reason.strip():
        raise Invalid("say why", errors=[FieldError(pointer="/reason", message="a reason is needed")])
    moved = MatrixVersion.objects.filter(
        pk=version_id, state=MatrixState.LOCKED, version=expected_version
    ).update(state=MatrixState.RETIRED, retired_at=clock.now(), version=F("version") + 1)
    if not moved:
        _refuse_move(version, expected_version)
    retired = queries.matrix_version_for(actor, version_id)
    _record(actor, "matrix.retired", retired, reason=reason)
    return retired


@decision
def mark_known_good(
    *, actor: Actor, version_id: int, basis: dict[str, Any], digests: Sequence[str]
) -> MatrixVersion:
    """A locked version has earned it: drift-free, benchmarks accepted, launched. basis says by what.

    Called by a launch that was decided; digests: evidence that it rests on. Earned once, dated; again is no error.
    """
    version = MatrixVersion.objects.select_related("matrix__cluster").get(pk=version_id)
    moved = MatrixVersion.objects.filter(
        pk=version_id, state=MatrixState.LOCKED, known_good_at__isnull=True
    ).update(known_good_at=clock.now(), known_good_basis=basis, version=F("version") + 1)
    version.refresh_from_db()
    if moved:
        evidence.pin(digests)
        _record(actor, "matrix.known_good", version, after={"basis": basis})
    return version


def _new_version(
    actor: Actor, domain: Domain, name: str, rows: list[tuple[str, str, list[str]]], note: str
) -> MatrixVersion:
    matrix = Matrix.objects.filter(domain=domain).order_by("id").first()
    if matrix is None:
        try:
            with transaction.atomic():
                matrix = Matrix.objects.create(
                    cluster=domain.cluster, domain=domain, name=name[:120], created_at=clock.now()
                )
        except IntegrityError as error:
            raise Conflict(f"there is a matrix {name!r} already", code="name_taken") from error
    return _add_version(actor, matrix, rows, note)


def _add_version(
    actor: Actor, matrix: Matrix, rows: list[tuple[str, str, list[str]]], note: str
) -> MatrixVersion:
    newest = matrix.versions.aggregate(newest=Max("number"))["newest"] or 0
    version = MatrixVersion.objects.create(
        matrix=matrix, number=newest + 1, note=note, created_by_id=actor.person_id, created_at=clock.now()
    )
    MatrixEntry.objects.bulk_create(
        MatrixEntry(matrix_version=version, component=component, rule=rule, values=values)
        for component, rule, values in rows
    )
    _record(actor, "matrix.drafted", version, after=_entry_facts(version))
    return version


def _may_write(actor: Actor, cluster: Cluster) -> None:
    actor.require(Right.OPERATE, cluster.scope_id)
    actor.require_token_scope(TokenScope.ENVIRONMENT_WRITE)


def _check_entry(component: str, rule: str, values: Sequence[str]) -> None:
    errors = []
    if rule not in set(RuleKind):
        errors.append(FieldError(pointer="/rule", message=f"{rule}: say one of {', '.join(RuleKind)}"))
    if not component.strip() or len(component) > 60:
        errors.append(
            FieldError(pointer="/component", message=f"say one such as {', '.join(list(components())[:5])}")
        )
    if rule in (RuleKind.EXACT, RuleKind.SAME_BRANCH, RuleKind.AT_LEAST) and len(values) != 1:
        errors.append(FieldError(pointer="/values", message="this rule takes exactly one version"))
    if rule == RuleKind.ONE_OF and not values:
        errors.append(FieldError(pointer="/values", message="this rule takes at least one version"))
    if errors:
        raise Invalid(errors[0].message, code="matrix_entry", errors=errors)


def _touch(version: MatrixVersion, expected_version: int) -> None:
    moved = MatrixVersion.objects.filter(
        pk=version.pk, state=MatrixState.DRAFT, version=expected_version
    ).update(version=F("version") + 1)
    if not moved:
        _refuse_move(version, expected_version)


def _refuse_move(version: MatrixVersion, expected_version: int) -> None:
    version.refresh_from_db()
    if version.version != expected_version:
        raise Stale(
            f"the matrix was changed meanwhile (now version {version.version})", version=version.version
        )
    raise Conflict(f"the matrix is {version.state}", code="matrix_state", state=version.state)


def _entry_facts(version: MatrixVersion) -> dict[str, Any]:
    rows = MatrixEntry.objects.filter(matrix_version=version).order_by("component")
    return {row.component: {"rule": row.rule, "values": row.values} for row in rows}


def _record(actor: Actor, action: str, version: MatrixVersion, **said: Any) -> None:
    record(actor=actor, action=action, on=version, scope_id=version.matrix.cluster.scope_id, **said)
