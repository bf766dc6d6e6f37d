"""Scheduler and topology files: what they say against what is on record, and what the portal gives them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.catalogue.engine.designations import designation
from apps.catalogue.queries import accelerators_for
from apps.core.actor import Actor
from apps.core.errors import Invalid
from apps.core.texts import say
from apps.evidence.models import Receipt
from apps.evidence.queries import receipt_for, receipts_visible
from apps.fleet.engine.description import FleetDescription, Part, about, only
from apps.fleet.engine.description import Node as FleetNode
from apps.fleet.engine.diff import Difference, differences
from apps.fleet.engine.schedulers import k8s_nodes, kueue_topology
from apps.fleet.engine.schedulers.export import Export
from apps.fleet.engine.schedulers.labels import node_labels
from apps.fleet.engine.schedulers.reading import KINDS, ONE_NODE, read_fleet
from apps.fleet.engine.schedulers.writing import write_fleet
from apps.fleet.models import Cluster, Domain, Node
from apps.fleet.queries.description import aliases_of, description_of
from apps.fleet.queries.fabric import wired_fleet_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FileComparison:
    """recorded: the fleet as far as the file could tell of it. seen: the fleet in the file.

    differences: problems of the file first. aliases: other names of nodes → their names.
    """

    receipt: Receipt
    recorded: FleetDescription
    seen: FleetDescription
    differences: tuple[Difference, ...]
    aliases: dict[str, str]

    @property
    def has_problems(self) -> bool:
        """Whether the file contradicts itself, so that nothing of it can be brought in."""
        return bool(self.seen.problems)


def topology_receipts(actor: Actor, cluster: Cluster) -> QuerySet[Receipt]:
    """Deliveries to a cluster that say something of its fleet, newest first."""
    return receipts_visible(actor).filter(scope_id=cluster.scope_id, kind__in=KINDS, reading__isnull=False)


def comparison_of(actor: Actor, cluster: Cluster, receipt_id: int) -> FileComparison:
    """A delivered file against the fleet on record. Raises Missing, Invalid (other_cluster, unread, node_needed)."""
    receipt = receipt_for(actor, receipt_id)
    if receipt.scope_id != cluster.scope_id:
        raise Invalid(_("the file was handed in for another cluster"), code="other_cluster")
    if receipt.reading is None:
        raise Invalid(_("the file was not read (yet)"), code="unread")
    aliases = aliases_of(cluster)
    node = aliases.get(receipt.node_name, receipt.node_name)
    kind, facts = receipt.reading.kind, receipt.reading.facts
    seen, tiers = read_fleet(kind, facts, node=node), ()
    if kind == kueue_topology.KIND:
        labels = _labels_of_nodes(actor, cluster)
        seen = kueue_topology.read(facts, of_node=labels)
        tiers = tuple(_missing_tier(label) for label in kueue_topology.left_out(facts, labels))
    if kind in ONE_NODE:
        fleet = only(about(_around(cluster, node), [node]), seen.says)
    else:
        fleet = description_of(cluster, fabric=Part.LINKS in seen.says)
        # Where no switch is on record each of the file is news.
        fleet = replace(fleet, says=fleet.says | {Part.SWITCHES})
    seen = _with_known_models(seen, fleet, aliases, accelerators_for(cluster.scope_id))
    return FileComparison(
        receipt=receipt,
        recorded=fleet,
        seen=seen,
        differences=(
            *tiers,
            *_without_cards(fleet, seen, aliases),
            *differences(fleet, seen, aliases=aliases),
        ),
        aliases=aliases,
    )


def _with_known_models(
    seen: FleetDescription, fleet: FleetDescription, aliases: Mapping[str, str], known: Collection[str]
) -> FleetDescription:
    """What is seen, with the ids of the catalogue where a tool's word for the model means one of them.

    That on record for the node where it is meant, else the only one that can be.
    """
    recorded = {node.name: node.model for node in fleet.nodes}
    by_word: dict[str, list[str]] = defaultdict(list)
    for part in known:
        by_word[designation(part)].append(part)

    def meant(node: FleetNode) -> str:
        word = designation(node.model)
        if node.model in known or not word or word.isdecimal():  # RTX 6000 is a name of several
            return node.model
        own = recorded.get(aliases.get(node.name, node.name), "")
        parts = [own] if designation(own) == word else by_word[word]
        return parts[0] if len(parts) == 1 else node.model

    return replace(seen, nodes=tuple(replace(node, model=meant(node)) for node in seen.nodes))


def _without_cards(
    fleet: FleetDescription, seen: FleetDescription, aliases: Mapping[str, str]
) -> list[Difference]:
    """Sub-domains belong to accelerators: of nodes that have none, here or in the file, they cannot be kept."""
    known = {node.name for node in fleet.nodes if node.cards}
    placed = [node.name for node in seen.nodes if node.spans and node.cards is None]
    lost = [name for name in placed if aliases.get(name, name) not in known]
    if not lost:
        return []
    message = say(
        "nodes without accelerators on record: %(count)s; bring these in first, or their sub-domains are lost",
        count=len(lost),
    )
    shown = ", ".join(lost[:3]) + (", …" if len(lost) > 3 else "")
    return [Difference(code="no_accelerators", subject=shown, message=message)]


def _around(cluster: Cluster, node: str) -> FleetDescription:
    """The domain that a node is in, with the links of its accelerators; the whole fleet where it is in none."""
    row = Node.objects.filter(cluster=cluster, name=node).select_related("domain__cluster").first()
    if row is None or row.domain is None:
        return description_of(cluster, fabric=True)
    return wired_fleet_of(row.domain)


def _labels_of_nodes(actor: Actor, cluster: Cluster) -> Mapping[str, Mapping[str, str]]:
    """Labels by node: of the newest node list that was handed in, or those that the portal's script would put on."""
    delivered = topology_receipts(actor, cluster).filter(kind=k8s_nodes.KIND).first()
    if delivered is not None and delivered.reading is not None:
        return k8s_nodes.labels_of_nodes(delivered.reading.facts)
    return node_labels(description_of(cluster)).of_node


def _missing_tier(label: str) -> Difference:
    message = say("nodes carry the label %(label)s, which the Topology does not name", label=label)
    return Difference(code="missing_tier", subject=label, message=message, ours=label)


def scheduler_file(cluster: Cluster, *, form: str, domain: Domain | None = None) -> Export:
    """The fleet, or one domain of it, in a scheduler's format. Raises Invalid."""
    return write_fleet(description_of(cluster, domain=domain), form=form)
