"""One click from a failing item to the rollback."""

from __future__ import annotations

from typing import Any

from django.urls import reverse

from apps.audit.services import decision
from apps.changes.models import Change
from apps.changes.queries.restoring import RollbackPreview, preview_rollback
from apps.changes.services import Origin, start_rollback
from apps.core.actor import Actor
from apps.launches import queries
from apps.launches.models import Launch
from apps.launches.services.launches import note


@decision
def roll_back_for(*, actor: Actor, launch_id: Any, reason: str) -> Change:
    """Back to the last known-good on those nodes of the launch that differ from it. Raises as start_rollback."""
    launch = queries.launch_for(actor, launch_id)
    change = start_rollback(
        actor=actor,
        domain_id=launch.domain_id,
        node_ids=_node_ids(launch),
        reason=reason,
        origin=Origin(label=launch.title, path=reverse("launches:launch", args=[launch.pk])),
    )
    note(actor, "launch.rollback_started", launch, after={"change": change.pk}, reason=reason)
    return change


def rollback_preview(*, actor: Actor, launch_id: Any) -> RollbackPreview:
    """What that rollback would change. Raises Conflict where there is nothing to go back to, or no difference."""
    launch = queries.launch_for(actor, launch_id)
    return preview_rollback(domain=launch.domain, node_ids=_node_ids(launch))


def _node_ids(launch: Launch) -> list[int]:
    return list(launch.nodes.values_list("node_id", flat=True))
