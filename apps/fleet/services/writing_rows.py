"""What an import plan writes: rows of each table in bulk, in the order in which they refer to each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import F

from apps.core.errors import Conflict
from apps.fleet.engine.description import natural
from apps.fleet.engine.importing import Created, ImportPlan, TablePlan, Updated
from apps.fleet.engine.tables import Table, Values
from apps.fleet.models import Accelerator, Cluster, Domain, Link, Node, NodeAlias, SubDomain, Switch

_BATCH = 2000
_DOMAIN = ("layout", "topology", "accelerator_model", "unidirectional_bytes_per_s", "scale_out_bytes_per_s")
_NODE = ("index", "life_cycle", "rack", "position", "serial")
_CARD = ("model", "uuid", "serial", "bus_id")
_SWITCH = ("tier", "index", "ports")
_LINK = ("count", "unidirectional_bytes_per_s", "optical")


def write(cluster: Cluster, plan: ImportPlan) -> None:
    """Write a plan without errors. The caller's transaction makes it all or nothing.

    Raises Conflict where a sub-domain would go that still has accelerators.
    """
    writer = _Writer(cluster)
    steps = {
        Table.DOMAINS: writer.domains,
        Table.NODES: writer.nodes,
        Table.ACCELERATORS: writer.accelerators,
        Table.SWITCHES: writer.switches,
        Table.LINKS: writer.links,
    }
    for table in plan.tables:
        if table.created or table.updated:
            steps[table.table](table)
    writer.forget_layouts()


@dataclass
class _Writer:
    """Names → ids of what is there, read when first needed. changed: domains whose fabric is no longer the layout's."""

    cluster: Cluster
    changed: set[int] = field(default_factory=set)

    def domains(self, plan: TablePlan) -> None:
        made = Domain.objects.bulk_create(
            [
                Domain(cluster=self.cluster, name=row.values["name"], **_picked(row.values, _DOMAIN))
                for row in plan.created
            ],
            batch_size=_BATCH,
        )
        SubDomain.objects.bulk_create(
            [
                SubDomain(domain=domain, name=name, index=place)
                for domain, row in zip(made, plan.created, strict=True)
                for place, name in enumerate(_in_order(row.values["sub_domains"]))
            ],
            batch_size=_BATCH,
        )
        _update(Domain.objects.filter(cluster=self.cluster), plan.updated, _DOMAIN, Domain, versioned=True)
        for row in plan.updated:
            if "sub_domains" in row.changes:
                self._sub_domains(str(row.key[0]), row.values["sub_domains"])

    def nodes(self, plan: TablePlan) -> None:
        domains = _ids(Domain.objects.filter(cluster=self.cluster))
        made = Node.objects.bulk_create(
            [
                Node(
                    cluster=self.cluster,
                    name=row.values["name"],
                    domain_id=domains.get(row.values["domain"]),
                    **_picked(row.values, _NODE),
                )
                for row in plan.created
            ],
            batch_size=_BATCH,
        )
        self.changed.update(node.domain_id for node in made if node.domain_id)
        rows = Node.objects.filter(cluster=self.cluster)
        _update(rows, plan.updated, _NODE, Node, versioned=True, refers={"domain": ("domain_id", domains)})
        ids = {node.name: node.pk for node in made}
        moved = [row for row in plan.updated if "aliases" in row.changes]
        ids |= dict(rows.filter(name__in=[row.key[0] for row in moved]).values_list("name", "pk"))
        NodeAlias.objects.filter(node_id__in=[ids[str(row.key[0])] for row in moved]).delete()
        NodeAlias.objects.bulk_create(
            [
                NodeAlias(cluster=self.cluster, node_id=ids[str(row.key[0])], name=alias)
                for row in [*plan.created, *moved]
                for alias in _names(row.values["aliases"])
            ],
            batch_size=_BATCH,
        )

    def accelerators(self, plan: TablePlan) -> None:
        nodes = {
            name: (pk, home)
            for name, pk, home in Node.objects.filter(cluster=self.cluster).values_list(
                "name", "pk", "domain_id"
            )
        }
        halls = {
            (home, name): pk
            for home, name, pk in SubDomain.objects.filter(domain__cluster=self.cluster).values_list(
                "domain_id", "name", "pk"
            )
        }
        Accelerator.objects.bulk_create(
            [
                Accelerator(
                    node_id=nodes[row.values["node"]][0],
                    index=row.values["index"],
                    sub_domain_id=halls.get((nodes[row.values["node"]][1], row.values["sub_domain"])),
                    **_picked(row.values, _CARD),
                )
                for row in plan.created
            ],
            batch_size=_BATCH,
        )
        self.changed.update(nodes[row.values["node"]][1] for row in plan.created)
        rows = {
            (card.node.name, card.index): card
            for card in Accelerator.objects.filter(
                node__cluster=self.cluster, node__name__in={row.key[0] for row in plan.updated}
            ).select_related("node")
        }
        touched = []
        for change in plan.updated:
            card = rows[str(change.key[0]), int(str(change.key[1]))]
            for name in _CARD:
                setattr(card, name, change.values[name])
            card.sub_domain_id = halls.get((card.node.domain_id, change.values["sub_domain"]))
            touched.append(card)
        Accelerator.objects.bulk_update(touched, [*_CARD, "sub_domain"], batch_size=500)

    def switches(self, plan: TablePlan) -> None:
        domains = _ids(Domain.objects.filter(cluster=self.cluster))
        Switch.objects.bulk_create(
            [
                Switch(
                    cluster=self.cluster,
                    name=row.values["name"],
                    domain_id=domains.get(row.values["domain"]),
                    **_picked(row.values, _SWITCH),
                )
                for row in plan.created
            ],
            batch_size=_BATCH,
        )
        rows = Switch.objects.filter(cluster=self.cluster)
        _update(rows, plan.updated, _SWITCH, Switch, refers={"domain": ("domain_id", domains)})

    def links(self, plan: TablePlan) -> None:
        ends = _Ends(self.cluster, [*plan.created, *plan.updated])
        Link.objects.bulk_create(
            [
                Link(**ends.of(str(row.key[0]), str(row.key[1])), **_picked(row.values, _LINK))
                for row in plan.created
            ],
            batch_size=_BATCH,
        )
        for row in plan.updated:
            found = Link.objects.filter(**ends.of(str(row.key[0]), str(row.key[1])))
            found.update(**_picked(row.values, _LINK))
        self.changed.update(ends.domains)

    def forget_layouts(self) -> None:
        """A domain that is no longer what its layout made is judged by its links from now on."""
        changed = Domain.objects.filter(pk__in=self.changed - {None}).exclude(parameters={})
        changed.update(parameters={}, version=F("version") + 1)

    def _sub_domains(self, name: str, wanted: Any) -> None:
        domain = Domain.objects.get(cluster=self.cluster, name=name)
        there = {hall.name: hall for hall in SubDomain.objects.filter(domain=domain)}
        going = [hall.pk for key, hall in there.items() if key not in wanted]
        kept = Accelerator.objects.filter(sub_domain_id__in=going).select_related("sub_domain").first()
        if kept is not None:
            raise Conflict(f"sub-domain {kept.sub_domain} still has accelerators", code="sub_domain_in_use")
        SubDomain.objects.filter(pk__in=going).delete()
        last = max((hall.index for hall in there.values()), default=-1)
        fresh = [one for one in _in_order(wanted) if one not in there]
        SubDomain.objects.bulk_create(
            SubDomain(domain=domain, name=one, index=last + 1 + place) for place, one in enumerate(fresh)
        )


class _Ends:
    """The two ends of links by name. domains: those whose switches are among them."""

    def __init__(self, cluster: Cluster, rows: Sequence[Created | Updated]) -> None:
        switches = Switch.objects.filter(cluster=cluster).values_list("name", "pk", "domain_id")
        self.switches = {name: pk for name, pk, _home in switches}
        self.nodes = dict(Node.objects.filter(cluster=cluster).values_list("name", "pk"))
        cards = Accelerator.objects.filter(node__cluster=cluster)
        self.cards = (
            {f"{node}/{index}": pk for node, index, pk in cards.values_list("node__name", "index", "pk")}
            if any("/" in str(row.key[1]) for row in rows)
            else {}
        )
        above = {row.key[0] for row in rows}
        self.domains = {home for name, _pk, home in switches if home and name in above}

    def of(self, upper: str, lower: str) -> dict[str, int | None]:
        node, slash, index = lower.partition("/")
        card = self.cards[f"{node}/{int(index)}"] if slash else None
        switch = self.switches.get(lower) if not slash else None
        return {
            "upper_id": self.switches[upper],
            "accelerator_id": card,
            "lower_id": switch,
            "node_id": self.nodes[lower] if card is None and switch is None else None,
        }


def _update(
    rows: Any,
    changes: Sequence[Updated],
    names: Sequence[str],
    model: Any,
    *,
    versioned: bool = False,
    refers: Mapping[str, tuple[str, Mapping[str, int]]] | None = None,
) -> None:
    """Write changed rows that are found by their name. refers: column → (field, name → id)."""
    found = {row.name: row for row in rows.filter(name__in=[change.key[0] for change in changes])}
    touched = []
    for change in changes:
        row = found[str(change.key[0])]
        for name in names:
            setattr(row, name, change.values[name])
        for column, (attribute, ids) in (refers or {}).items():
            setattr(row, attribute, ids.get(str(change.values[column])))
        if versioned:
            row.version += 1
        touched.append(row)
    fields = [*names, *(refers or ()), *(["version"] if versioned else [])]
    model.objects.bulk_update(touched, fields, batch_size=500)


def _picked(values: Values, names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _ids(rows: Any) -> dict[Any, int]:
    return dict(rows.values_list("name", "pk"))


def _names(value: Any) -> tuple[str, ...]:
    return tuple(value or ())


def _in_order(value: Any) -> list[str]:
    return sorted(_names(value), key=natural)
