"""Matrix versions: locked, retired, and known to be good."""

from __future__ import annotations

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import F
from django.utils.translation import gettext as _

from apps.audit.services import decision
from apps.core import clock, digest
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.reasons import require_reason
from apps.core.rights import Right
from apps.core.speech import listed, said
from apps.environments import queries
from apps.environments.models import MatrixState, MatrixVersion, ObservedVersion
from apps.environments.services import versions
from apps.evidence import services as evidence


@decision
def lock_matrix(
    *, actor: Actor, version_id: int, expected_version: int, override_reason: str = ""
) -> MatrixVersion:
    """Lock a draft: from now on it stays as it is, and nodes are held against it. The version before it retires.

    What the nodes run is written down with it, for rules that name no version; so is which rules warn (a driver
    branch that has ended), with the reason where one is given. Raises Invalid where it asks for
    nothing or leaves a version open, Conflict (rules_broken) where a compatibility rule is broken and no reason
    is given, Conflict where it is not a draft, Stale.
    """
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    versions.may_write(actor, version.matrix.cluster)
    asked = versions.entry_facts(version)
    _require_decided(version, asked)
    results = queries.compatibility_of(version)
    broken = [one for one in results if one.is_broken]
    warned = [one for one in results if one.is_warned]
    reason = override_reason.strip() if broken or warned else ""
    if broken and not reason:
        raise Conflict(
            _("these versions do not go together: %(rules)s")
            % {"rules": listed((said(one.definition.title) for one in broken), "; ")},
            code="rules_broken",
            rules=[one.rule for one in broken],
        )
    now = clock.now()
    _put_in_force(actor, version, expected_version, asked=asked, reason=reason, now=now)
    locked = queries.matrix_version_for(actor, version_id)
    observed = _observe(locked, now)
    versions.note(
        actor,
        "matrix.locked",
        locked,
        after={
            "entries": asked,
            "digest": locked.digest,
            "broken_rules": [one.rule for one in broken],
            "warned_rules": [one.rule for one in warned],
            "observed": observed,
        },
        reason=reason,
    )
    return locked


@decision
def retire_matrix(*, actor: Actor, version_id: int, expected_version: int, reason: str) -> MatrixVersion:
    """Take a locked version out of force, or put a draft away. Raises Conflict, Stale, Invalid without a reason."""
    version = queries.matrix_version_for(actor, version_id, Right.OPERATE)
    versions.may_write(actor, version.matrix.cluster)
    require_reason(reason)
    was_draft = version.state == MatrixState.DRAFT
    moved = (
        MatrixVersion.objects.filter(pk=version_id, version=expected_version)
        .exclude(state=MatrixState.RETIRED)
        .update(state=MatrixState.RETIRED, retired_at=clock.now(), version=F("version") + 1)
    )
    if not moved:
        versions.refuse_move(version, expected_version)
    retired = queries.matrix_version_for(actor, version_id)
    versions.note(
        actor, "matrix.discarded" if was_draft else "matrix.retired", retired, reason=reason.strip()
    )
    return retired


@decision
def mark_known_good(
    *, actor: Actor, version_id: int, basis: dict[str, Any], digests: Sequence[str]
) -> MatrixVersion:
    """A locked version has earned it: drift-free, benchmarks accepted, launched. basis says by what.

    Called by a launch that was decided; digests: evidence that it rests on. What the nodes run now is kept as
    what to go back to. Earned once, dated; again is no error.
    """
    version = MatrixVersion.objects.select_related("matrix__cluster", "matrix__domain").get(pk=version_id)
    now = clock.now()
    # The row first, so that of two launches only one writes what was observed; triggers close that with the date.
    held = MatrixVersion.objects.select_for_update().filter(
        pk=version_id, state=MatrixState.LOCKED, known_good_at__isnull=True
    )
    if held.first() is None:
        return version
    observed = _observe(version, now)
    moved = MatrixVersion.objects.filter(
        pk=version_id, state=MatrixState.LOCKED, known_good_at__isnull=True
    ).update(known_good_at=now, known_good_basis=basis, version=F("version") + 1)
    version.refresh_from_db()
    if moved:
        evidence.pin(digests)
        versions.note(actor, "matrix.known_good", version, after={"basis": basis, "observed": observed})
    return version


def _require_decided(version: MatrixVersion, asked: dict[str, Any]) -> None:
    if not asked:
        raise Invalid(_("a matrix that asks for nothing cannot be locked"), code="empty_matrix")
    undecided = queries.undecided(queries.entries_of(version.entries.all()))
    if undecided:
        message = _("choose a version first")
        raise Invalid(
            _("no version is chosen yet for %(components)s") % {"components": ", ".join(undecided)},
            code="undecided",
            errors=[
                FieldError(pointer=f"/entries/{name}/values", message=message, code="undecided")
                for name in undecided
            ],
        )


def _put_in_force(
    actor: Actor,
    version: MatrixVersion,
    expected_version: int,
    *,
    asked: dict[str, Any],
    reason: str,
    now: datetime,
) -> None:
    """The draft becomes the locked version of its matrix, and the one before it retires. Raises Conflict, Stale."""
    in_force = MatrixVersion.objects.filter(matrix=version.matrix, state=MatrixState.LOCKED)
    in_force.exclude(pk=version.pk).update(
        state=MatrixState.RETIRED, retired_at=now, version=F("version") + 1
    )
    draft = MatrixVersion.objects.filter(pk=version.pk, state=MatrixState.DRAFT, version=expected_version)
    try:
        with transaction.atomic():
            moved = draft.update(
                state=MatrixState.LOCKED,
                digest=digest.of_value(asked),
                locked_by_id=actor.person_id,
                locked_at=now,
                override_reason=reason,
                version=F("version") + 1,
            )
    except IntegrityError as error:
        message = _("another version of this matrix was locked at the same moment; look again")
        raise Conflict(message, code="locked_meanwhile") from error
    if not moved:
        versions.refuse_move(version, expected_version)


def _observe(version: MatrixVersion, now: datetime) -> dict[str, dict[str, Any]]:
    """Write down what most nodes of each of its domains run; gives it by domain for the trail."""
    written: dict[str, dict[str, Any]] = {}
    for domain in queries.domains_of(version.matrix):
        found = queries.observed_by_domain(domain, now=now)
        ObservedVersion.objects.filter(matrix_version=version, domain=domain).delete()
        ObservedVersion.objects.bulk_create(
            ObservedVersion(
                matrix_version=version,
                domain=domain,
                component=one.component,
                values=list(one.values),
                node_count=one.node_count,
                observed_at=now,
            )
            for one in found.values()
        )
        written[domain.name] = {one.component: list(one.values) for one in found.values()}
    return written
