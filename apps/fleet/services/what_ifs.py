"""Allocation what-ifs: asked for here, played by a worker on the free and busy nodes of that moment."""

from __future__ import annotations

from typing import Any

from django.urls import reverse
from django.utils.translation import gettext as _

from apps.audit.services import decision
from apps.core.actor import Actor
from apps.core.errors import Invalid
from apps.core.rights import Right
from apps.fleet.engine.allocation import Progress, compare
from apps.fleet.engine.pool import pool_errors, pool_of
from apps.fleet.engine.what_if_values import result_values, what_if_of
from apps.fleet.models import Cluster
from apps.fleet.queries.description import description_of
from apps.fleet.queries.pools import busy_cards
from apps.jobs.models import Job
from apps.jobs.services import enqueue

KIND = "fleet.play_what_if"


@decision
def ask_for_what_if(*, actor: Actor, cluster_id: int, values: dict[str, Any]) -> Job:
    """A job that plays a mix under each policy. values: as `what_if_of` takes them.

    It changes nothing, so reading is right enough, and there is no audit event. Raises Invalid (job_mix, pool).
    """
    cluster = Cluster.objects.get(pk=cluster_id)
    actor.require(Right.READ, cluster.scope_id)
    what_if_of(values)
    nodes = pool_of(description_of(cluster), busy=busy_cards(cluster))
    if errors := pool_errors(nodes):
        raise Invalid(_("there are no accelerators to play on"), code="pool", errors=errors)
    return enqueue(KIND, actor=actor, scope_id=cluster.scope_id, cluster_id=cluster.pk, values=values)


def play(*, cluster_id: int, values: dict[str, Any], progress: Progress) -> dict[str, Any]:
    """The result, as values; the same fleet, mix and seed give the same."""
    cluster = Cluster.objects.get(pk=cluster_id)
    asked = what_if_of(values)
    busy = busy_cards(cluster)
    nodes = pool_of(description_of(cluster), busy=busy)
    results = compare(
        nodes,
        asked.mix,
        seed=asked.seed,
        policies=asked.policies,
        block_cards=asked.block_cards,
        progress=progress,
    )
    return {
        "cards": sum(node.cards for node in nodes),
        "busy_cards": sum(node.busy for node in nodes),
        "results": result_values(results),
    }


def address_of(cluster_id: int, job_id: int) -> str:
    """The page of a played what-if."""
    return reverse("fleet:what_if", args=[Cluster.objects.get(pk=cluster_id).slug, job_id])
