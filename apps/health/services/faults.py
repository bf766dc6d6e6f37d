"""Faults are resolved by people, with what was done."""

from __future__ import annotations

from apps.audit.services import decision, record
from apps.core import clock
from apps.core.actor import Actor
from apps.core.errors import Conflict, FieldError, Invalid, Missing
from apps.core.rights import Right
from apps.fleet.services import set_health
from apps.health import queries
from apps.health.models import FaultRecord


@decision
def resolve_fault(*, actor: Actor, fault_id: int, resolution: str) -> FaultRecord:
    """A person says what was done about a fault; the node's health follows. Raises Invalid, Conflict, Missing."""
    fault = FaultRecord.objects.select_related("node__cluster").filter(pk=fault_id).first()
    if fault is None or not actor.may(Right.READ, fault.node.cluster.scope_id):
        raise Missing("there is no such fault, or you may not see it")
    actor.require(Right.OPERATE, fault.node.cluster.scope_id)
    if not resolution.strip():
        raise Invalid(
            "say what was done", errors=[FieldError(pointer="/resolution", message="a text is needed")]
        )
    moved = FaultRecord.objects.filter(pk=fault_id, resolved_at__isnull=True).update(
        resolved_at=clock.now(), resolved_by_id=actor.person_id, resolution=resolution.strip()[:300]
    )
    if not moved:
        raise Conflict("the fault is resolved already", code="fault_state")
    set_health(node_id=fault.node_id, health=queries.health_of(fault.node_id))
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
