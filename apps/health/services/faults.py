"""Faults are resolved by people, with what was done."""

from __future__ import annotations

from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid
from apps.core.reasons import says_something
from apps.core.rights import Right, TokenScope
from apps.fleet.models import Node
from apps.health import queries
from apps.health.models import FaultRecord
from apps.health.services.standing import lock_nodes, renew_health


@decision
def resolve_fault(*, actor: Actor, fault_id: int, resolution: str) -> FaultRecord:
    """A person says what was done about a fault; the node's health follows. Raises Invalid, Conflict, Missing."""
    fault = queries.fault_for(actor, fault_id, Right.OPERATE)
    actor.require_token_scope(TokenScope.FLEET_WRITE)
    if not says_something(resolution):
        raise Invalid(
            _("say what was done"), errors=[FieldError(pointer="/resolution", message=_("a text is needed"))]
        )
    lock_nodes(Node.objects.filter(pk=fault.node_id))
    moved = FaultRecord.objects.filter(pk=fault_id, resolved_at__isnull=True).update(
        resolved_at=clock.now(), resolved_by_id=actor.person_id, resolution=resolution.strip()[:300]
    )
    if not moved:
        raise Conflict(_("the fault is resolved already"), code="fault_state")
    renew_health([fault.node_id])
    fault.refresh_from_db()
    record(
        actor=actor,
        action="fault.resolved",
        on=fault,
        scope_id=fault.node.cluster.scope_id,
        reason=resolution,
        before={"kind": fault.kind, "code": fault.code, "device": fault.device},
    )
    return fault
