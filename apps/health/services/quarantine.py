"""Quarantine: by a person on a proposal, or by the policy of the cluster; a person's word wins."""

from __future__ import annotations

from django.db import transaction
from django.utils.translation import gettext as _

from apps.audit.services import decision, record
from apps.core.actor import Actor, system
from apps.core.errors import Conflict, FieldError, Invalid, Stale
from apps.core.rights import Right
from apps.core.seen import write_seen
from apps.evidence import services as evidence
from apps.fleet.models import Cluster, Domain, Hold, HoldKind, Node, NodeHealth
from apps.fleet.services import hold_node, take_holds
from apps.health import queries
from apps.health.engine.quarantine import HeldBack, Step
from apps.health.models import HealthPolicy
from apps.health.services.standing import lock_nodes
from apps.health.words import reasons_said


def quarantine_by_policy(*, node_id: int) -> Hold | None:
    """Quarantine a node where its faults ask for it and the cluster's policy lets that happen by itself.

    None where nothing is to be done, where a person set or lifted a quarantine, or too many are out already.
    """
    node = Node.objects.get(pk=node_id)
    if not queries.policy_of(node.cluster_id).automatic_quarantine:
        return None
    with transaction.atomic():
        if node.domain_id is not None:
            # Nodes of one domain are taken out one by one, so that the share holds.
            Domain.objects.select_for_update(no_key=True).get(pk=node.domain_id)
        (found,) = queries.proposals_for([node])
        proposal = found.proposal
        if (
            found.held is not None
            or proposal.step is not Step.QUARANTINE
            or proposal.held_back is not HeldBack.NOTHING
        ):
            return None
        try:
            (hold,) = take_holds(
                actor=system(queries.AUTOMATION),
                node_ids=[node_id],
                kind=HoldKind.QUARANTINE,
                owner=f"health.node:{node_id}",
                reason=reasons_said(proposal.reasons),
                automatic=True,
            )
        except Conflict:  # somebody was faster
            return None
        evidence.pin(queries.grounds_of(node_id))
    return hold


@decision
def quarantine_as_proposed(*, actor: Actor, node_id: int, reason: str) -> Hold:
    """A person takes a node out for what speaks against it. Raises Invalid without a reason, Conflict (held)."""
    hold = hold_node(actor=actor, node_id=node_id, kind=HoldKind.QUARANTINE, reason=reason)
    evidence.pin(queries.grounds_of(node_id))
    return hold


@decision
def set_policy(
    *, actor: Actor, cluster_id: int, expected_version: int, automatic_quarantine: bool, most_share: float
) -> HealthPolicy:
    """Say whether nodes are quarantined without asking, and at most which share of a domain (0 to 1).

    Nodes that are ill already go at once where that is wanted from now on. expected_version: 0 where the defaults
    were seen. Raises Invalid, NotAllowed (role), Stale.
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.ADMIN, cluster.scope_id)
    if not 0 <= most_share <= 1:
        message = _("say a share from 0 to 1")
        raise Invalid(message, code="share", errors=[FieldError(pointer="/most_share", message=message)])
    held = queries.policy_of(cluster_id)
    before = {"automatic_quarantine": held.automatic_quarantine, "most_share": held.most_share}
    after = {"automatic_quarantine": automatic_quarantine, "most_share": most_share}
    if not write_seen(HealthPolicy, {"cluster": cluster}, after, expected_version=expected_version):
        raise Stale(_("the settings were changed meanwhile; look at them again"))
    if before != after:
        record(
            actor=actor,
            action="health.policy_set",
            on=cluster,
            scope_id=cluster.scope_id,
            before=before,
            after=after,
        )
    if automatic_quarantine:
        for node_id in lock_nodes(Node.objects.in_use().filter(cluster=cluster, health=NodeHealth.FAULTY)):
            quarantine_by_policy(node_id=node_id)
    return queries.policy_of(cluster_id)
