"""The short way of the intake: nodes say what they said last time, so that is counted and nothing else is done."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.db import transaction
from django.db.models import OuterRef

from apps.changes.queries import is_changing, open_changes_on
from apps.core import clock
from apps.core.actor import Actor
from apps.core.prepared import Prepared
from apps.environments import services as environments
from apps.environments.engine.hardware import AtOdds
from apps.environments.queries import policy_of
from apps.environments.services import Repeat
from apps.evidence import services as evidence
from apps.evidence.models import Receipt
from apps.evidence.services import Said
from apps.fleet.models import Cluster, Node
from apps.fleet.queries import node_by_reported_name
from apps.health.queries import unsettled_observations

_VERSIONS = frozenset({"node_versions", "node_versions_same"})
# What a delivery may have brought about that the same bytes for the same node do not bring about again.
_DONE_ONCE = _VERSIONS | {"node_health", "clock_ahead", "hardware_changed", "hardware_twin", *AtOdds}
_NODES_NAMED = Prepared(
    lambda cluster_id, names: (
        Node.objects.filter(cluster_id=cluster_id, name__in=names)
        .annotate(is_changing=is_changing(OuterRef("pk")))
        .values_list("name", "pk", "is_changing")
    )
)


@dataclass(frozen=True, slots=True)
class _Twin:
    """The delivery that a report repeats, and the node that both are about."""

    receipt: Receipt
    node_id: int


def count_unchanged(*, actor: Actor, cluster: Cluster, reports: Sequence[Said]) -> list[Receipt | None]:
    """Count reports of known bytes at the deliveries that they repeat; None where one must be taken in whole.

    One is counted where the same caller delivered the same bytes for the same node within a day, where they are
    its newest and not stale, where health is settled on what they say, and where no change that is under way waits
    for what the node reports. Of one file of a node none is counted after one that is not: their order is part of
    what they say. The same few queries for one report and for many. Raises NotAllowed and Missing by role and
    token scope.
    """
    twins = _twins(actor, cluster, reports)
    return _counted(cluster, reports, twins) if twins else [None] * len(reports)


def _twins(actor: Actor, cluster: Cluster, reports: Sequence[Said]) -> dict[int, _Twin]:
    """Place of a report to what it repeats, as far as nothing stands against counting it."""
    found = evidence.countable(actor=actor, scope_id=cluster.scope_id, reports=reports)
    twins = {
        place: _Twin(receipt=receipt, node_id=node_id)
        for place, receipt in found.items()
        if (node_id := _only_node(receipt)) is not None
    }
    if not twins:
        return {}
    means = _nodes_meant(cluster, {reports[place].node_name for place in twins})
    twins = _without_unsettled(twins)
    kept: dict[int, _Twin] = {}
    passed_over: set[tuple[str, str]] = set()
    for place, report in enumerate(reports):
        twin, file = twins.get(place), (report.node_name, report.file_name)
        is_plain = twin is not None and means[report.node_name] == twin.node_id
        if twin is None or not is_plain or file in passed_over:
            passed_over.add(file)
        else:
            kept[place] = twin
    return kept


def _without_unsettled(twins: dict[int, _Twin]) -> dict[int, _Twin]:
    """Those that would change nothing about their node's health: they tell of none, or it is settled on them."""
    observed = {
        place: (twin.node_id, twin.receipt.sha256)
        for place, twin in twins.items()
        if any(effect["what"] == "node_health" for effect in twin.receipt.effects)
    }
    if not observed:
        return twins
    unsettled = unsettled_observations(set(observed.values()), now=clock.now())
    return {place: twin for place, twin in twins.items() if observed.get(place) not in unsettled}


@transaction.atomic
def _counted(cluster: Cluster, reports: Sequence[Said], twins: dict[int, _Twin]) -> list[Receipt | None]:
    said_before = [place for place, twin in twins.items() if _is_said_before(twin.receipt, reports[place])]
    places = sorted(set(twins) - set(said_before))
    said_at = environments.record_unchanged(
        repeats=[
            Repeat(
                node_id=twins[place].node_id,
                kind=twins[place].receipt.kind,
                sha256=reports[place].sha256,
                collected_at=reports[place].collected_at,
            )
            for place in places
        ],
        fresh_for_s=policy_of(cluster).stale_after_s,
    )
    counted = {
        place: (twins[place].receipt, at) for place, at in zip(places, said_at, strict=True) if at is not None
    }
    if counted:
        evidence.count_repeats(list(counted.values()), received_at=clock.now())
    answers = {place: twins[place].receipt for place in (*counted, *said_before)}
    for receipt in answers.values():
        receipt.scope = cluster.scope
    return [answers.get(place) for place in range(len(reports))]


def _is_said_before(receipt: Receipt, report: Said) -> bool:
    """Whether a client sends once more what was counted, since it was killed before it noted the answer."""
    at, first, last = report.collected_at, receipt.collected_at, receipt.last_said_at
    if at is None or first is None:
        return False
    return at == first or (last is not None and first < at <= last)


def _nodes_meant(cluster: Cluster, names: Iterable[str]) -> dict[str, int | None]:
    """Reported name to the node that it means now (`node_by_reported_name` of each).

    None where there is none, and where a change is under way there, which may wait for the report.
    """
    wanted = {name: name.strip().rstrip(".") for name in names}
    found = _NODES_NAMED.rows(cluster_id=cluster.pk, names=sorted(set(wanted.values())))
    by_name = {name: None if changing else pk for name, pk, changing in found}
    return {
        name: by_name[plain] if plain in by_name else _by_other_name(cluster, name)
        for name, plain in wanted.items()
    }


def _by_other_name(cluster: Cluster, name: str) -> int | None:
    node = node_by_reported_name(cluster, name)
    if node is None or open_changes_on([node.pk], under_way_only=True).exists():
        return None
    return node.pk


def _only_node(receipt: Receipt) -> int | None:
    """The one node whose versions the delivery told; None where it did something else too, or told of several."""
    done = {effect["what"] for effect in receipt.effects}
    nodes = {effect.get("node", "") for effect in receipt.effects}
    if len(nodes) != 1 or not done <= _DONE_ONCE or not done & _VERSIONS:
        return None
    return int(nodes.pop())
