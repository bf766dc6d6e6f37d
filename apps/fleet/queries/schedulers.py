"""Scheduler and topology files: what they say against what is on record, and what the portal gives them."""

from __future__ import annotations

from dataclasses import dataclass

from django.db.models import QuerySet
from django.utils.translation import gettext as _

from apps.core.actor import Actor
from apps.core.errors import Invalid
from apps.evidence.models import Receipt
from apps.evidence.queries import receipt_for, receipts_visible
from apps.fleet.engine.description import FleetDescription, Part, about, only
from apps.fleet.engine.diff import Difference, differences
from apps.fleet.engine.schedulers.export import Export
from apps.fleet.engine.schedulers.reading import KINDS, ONE_NODE, read_fleet
from apps.fleet.engine.schedulers.writing import write_fleet
from apps.fleet.models import Cluster, Domain
from apps.fleet.queries.description import aliases_of, description_of


@dataclass(frozen=True, slots=True, kw_only=True)
class FileComparison:
    """seen: the fleet in the file. differences: problems of the file first. aliases: names of nodes in it."""

    receipt: Receipt
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
    seen = read_fleet(receipt.reading.kind, receipt.reading.facts, node=node)
    fleet = description_of(cluster, fabric=Part.LINKS in seen.says)
    if receipt.reading.kind in ONE_NODE:
        fleet = only(about(fleet, [node]), seen.says)
    return FileComparison(
        receipt=receipt,
        seen=seen,
        differences=differences(fleet, seen, aliases=aliases),
        aliases=aliases,
    )


def scheduler_file(cluster: Cluster, *, form: str, domain: Domain | None = None) -> Export:
    """The fleet, or one domain of it, in a scheduler's format. Raises Invalid."""
    return write_fleet(description_of(cluster, domain=domain), form=form)
