"""Findings: opened, seen again and resolved by checks, and given to a person."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from datetime import datetime

from django.db.models import Q
from django.utils.translation import gettext as _

from apps.accounts.models import Person
from apps.accounts.queries import rights_of
from apps.audit.services import decision, record
from apps.core.actor import EVERYWHERE, Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.rights import Right
from apps.environments import queries
from apps.environments.engine import drift
from apps.environments.models import DriftFinding
from apps.fleet.models import Domain, Node

_TEXT_LIMIT = 300
_CHANGING = ("outcome", "reason", "verdict", "intended", "reported")


def keep_findings(
    domain: Domain, nodes: Sequence[Node], found: Iterable[drift.Finding], *, at: datetime
) -> None:
    """Findings seen again move their time, new ones open, those not seen any more are resolved.

    Called with the domain locked. A node that came from another domain brings its open findings along.
    """
    ids = {node.name: node.pk for node in nodes}
    open_rows = {
        (row.node_id, row.component, row.kind): row
        for row in DriftFinding.objects.filter(resolved_at__isnull=True).filter(
            Q(domain=domain) | Q(node__domain=domain)
        )
    }
    fresh: list[DriftFinding] = []
    changed: list[DriftFinding] = []
    same: list[int] = []
    for finding in found:
        key = (ids[finding.node] if finding.node else None, finding.cell.component, finding.kind.value)
        row = open_rows.pop(key, None)
        if row is None:
            fresh.append(_filled(_opened(domain, key, at), finding, at))
            continue
        before = [row.domain_id, *(getattr(row, name) for name in _CHANGING)]
        row.domain = domain
        after = _filled(row, finding, at)
        moved = before != [domain.pk, *(getattr(after, name) for name in _CHANGING)]
        (changed.append(after) if moved else same.append(row.pk))
    DriftFinding.objects.bulk_create(fresh, batch_size=500)
    DriftFinding.objects.bulk_update(changed, ["domain", "last_seen_at", *_CHANGING], batch_size=200)
    _in_batches(same, last_seen_at=at)
    _in_batches([row.pk for row in open_rows.values()], resolved_at=at)


@decision
def assign_finding(*, actor: Actor, finding_id: int, owner_id: int | None) -> DriftFinding:
    """Give an open finding to somebody of the cluster, or (None) to nobody.

    Raises Missing, NotAllowed, Invalid where that person may not work here, Conflict where it is resolved.
    """
    finding = queries.finding_for(actor, finding_id, Right.OPERATE)
    owner = None if owner_id is None else _owner(owner_id, finding.domain.cluster.scope_id)
    before = finding.owner
    if not DriftFinding.objects.filter(pk=finding_id, resolved_at__isnull=True).update(owner=owner):
        raise Conflict(_("the finding is resolved already"), code="finding_state")
    if before != owner:
        record(
            actor=actor,
            action="finding.assigned",
            on=finding,
            scope_id=finding.domain.cluster.scope_id,
            before={"owner": before.pk if before else None},
            after={
                "owner": owner.pk if owner else None,
                "node": finding.node.name if finding.node else None,
            },
        )
    return queries.finding_for(actor, finding_id)


def _owner(person_id: int, scope_id: int) -> Person:
    person = Person.objects.filter(pk=person_id, is_active=True).first()
    rights = rights_of(person) if person else {}
    if person is None or not any(Right.READ in rights.get(scope, ()) for scope in (EVERYWHERE, scope_id)):
        message = _("nobody of this cluster")
        raise Invalid(message, code="owner", errors=[FieldError(pointer="/owner_id", message=message)])
    return person


def _opened(domain: Domain, key: tuple[int | None, str, str], at: datetime) -> DriftFinding:
    return DriftFinding(domain=domain, node_id=key[0], component=key[1], kind=key[2], first_seen_at=at)


def _filled(row: DriftFinding, finding: drift.Finding, at: datetime) -> DriftFinding:
    cell = finding.cell
    row.outcome, row.reason, row.verdict = cell.outcome.value, cell.reason.value, finding.verdict.value
    row.intended, row.reported = cell.expected[:_TEXT_LIMIT], " | ".join(cell.found)[:_TEXT_LIMIT]
    if finding.kind is drift.FindingKind.LOADED_DIFFERS:
        row.intended = " | ".join(cell.declared)[:_TEXT_LIMIT]
    elif finding.kind is drift.FindingKind.CONTRADICTION:
        row.intended = "; ".join(cell.contradicting)[:_TEXT_LIMIT]
        row.reported = "; ".join(cell.contradicted)[:_TEXT_LIMIT]
    row.last_seen_at = at
    return row


def _in_batches(ids: Sequence[int], **values: datetime) -> None:
    for start in range(0, len(ids), 500):
        DriftFinding.objects.filter(pk__in=ids[start : start + 500]).update(**values)
