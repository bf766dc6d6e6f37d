"""What an import plan writes: rows of each table in bulk, in the order in which they refer to each other."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from apps.core import clock
from apps.fleet.engine.description import natural
from apps.fleet.engine.importing import ImportPlan, TablePlan, Updated
from apps.fleet.engine.tables import Table, Values
from apps.fleet.models import Accelerator, Cluster, Domain, Link, Node, NodeAlias, SubDomain, Switch
from apps.fleet.services.many_rows import change, insert, remove
from apps.fleet.services.writing_ends import ENDS, Ends
from apps.fleet.services.writing_parts import write_parts, write_swaps

_BATCH = 2000
_DOMAIN = ("layout", "topology", "accelerator_model", "unidirectional_bytes_per_s", "scale_out_bytes_per_s")
_LAYOUT = "parameters"  # JSON as text, as the cell holds it
_NODE = ("index", "life_cycle", "rack", "position", "serial", "system_serial")
_CARD = ("model", "uuid", "serial", "bus_id")
_SWITCH = ("tier", "index", "ports")
_LINK = ("count", "unidirectional_bytes_per_s", "optical")


def write(cluster: Cluster, plan: ImportPlan) -> None:
    """Write a plan without errors. The caller's transaction makes it all or nothing."""
    writer, at = _Writer(cluster), clock.now()
    steps = {
        Table.DOMAINS: writer.domains,
        Table.NODES: writer.nodes,
        Table.ACCELERATORS: writer.accelerators,
        Table.SWITCHES: writer.switches,
        Table.LINKS: writer.links,
        Table.PARTS: lambda table: write_parts(cluster, table, at),
    }
    for table in plan.tables:
        if table.created or table.updated or table.removed:
            steps[table.table](table)
    writer.drop_sub_domains()
    write_swaps(cluster, plan, at)


@dataclass
class _Writer:
    """Writes one table after the other."""

    cluster: Cluster
    going: list[int] = field(default_factory=list)  # sub-domains

    def domains(self, plan: TablePlan) -> None:
        made = Domain.objects.bulk_create(
            [
                Domain(
                    cluster=self.cluster,
                    name=row.values["name"],
                    parameters=json.loads(str(row.values[_LAYOUT])),
                    **_picked(row.values, _DOMAIN),
                )
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
        rows = Domain.objects.filter(cluster=self.cluster)
        _update(rows, plan.updated, (*_DOMAIN, _LAYOUT), Domain, versioned=True)
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
        rows = Node.objects.filter(cluster=self.cluster)
        _update(rows, plan.updated, _NODE, Node, versioned=True, refers={"domain": ("domain_id", domains)})
        ids = {node.name: node.pk for node in made}
        renamed = [row for row in plan.updated if "aliases" in row.changes]
        ids |= dict(rows.filter(name__in=[row.key[0] for row in renamed]).values_list("name", "pk"))
        NodeAlias.objects.filter(node_id__in=[ids[str(row.key[0])] for row in renamed]).delete()
        NodeAlias.objects.bulk_create(
            [
                NodeAlias(cluster=self.cluster, node_id=ids[str(row.key[0])], name=alias)
                for row in [*plan.created, *renamed]
                for alias in _names(row.values["aliases"])
            ],
            batch_size=_BATCH,
        )
        self._take_along([row for row in plan.updated if "domain" in row.changes])

    def accelerators(self, plan: TablePlan) -> None:
        nodes = {
            name: (pk, home)
            for name, pk, home in Node.objects.filter(cluster=self.cluster).values_list(
                "name", "pk", "domain_id"
            )
        }
        halls = self._halls()
        insert(
            Accelerator,
            ("node_id", "sub_domain_id", "index", *_CARD),
            (_new_card(row.values, *nodes[row.values["node"]], halls) for row in plan.created),
        )
        if not plan.updated:
            return
        cards = Accelerator.objects.filter(node__cluster=self.cluster).values_list(
            "node__name", "index", "pk"
        )
        there = {(node, index): pk for node, index, pk in cards.iterator(chunk_size=5000)}
        change(
            Accelerator,
            ("sub_domain_id", *_CARD),
            (
                (
                    halls.get((nodes[row.values["node"]][1], row.values["sub_domain"])),
                    *_cells(row.values, _CARD),
                    there[row.values["node"], row.values["index"]],
                )
                for row in plan.updated
            ),
        )

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
        keys = [row.key for row in (*plan.created, *plan.updated, *plan.removed)]
        ends = Ends(self.cluster, keys)
        ends_of = {key: ends.of(str(key[0]), str(key[1])) for key in keys}
        insert(
            Link,
            (*ENDS, *_LINK),
            ((*ends_of[row.key], *_cells(row.values, _LINK)) for row in plan.created),
        )
        if not (plan.updated or plan.removed):
            return  # the links on record are looked up for these alone
        links = Link.objects.filter(upper__cluster=self.cluster).values_list(*ENDS, "pk")
        there = {found[:-1]: found[-1] for found in links.iterator(chunk_size=5000)}
        change(
            Link,
            _LINK,
            ((*_cells(row.values, _LINK), there[ends_of[row.key]]) for row in plan.updated),
        )
        remove(Link, (there[ends_of[row.key]] for row in plan.removed))

    def _take_along(self, moved: Sequence[Updated]) -> None:
        """Accelerators of nodes that moved to another domain belong to its sub-domain of the same name."""
        if not moved:
            return
        halls = self._halls()
        cards = Accelerator.objects.filter(
            node__cluster=self.cluster, node__name__in=[row.key[0] for row in moved], sub_domain__isnull=False
        )
        homes = cards.values_list("pk", "node__domain_id", "sub_domain__name")
        change(
            Accelerator,
            ("sub_domain_id",),
            [(halls.get((home, hall)), pk) for pk, home, hall in homes],
        )

    def _halls(self) -> dict[tuple[int | None, Any], int]:
        """(domain, name) → sub-domain."""
        rows = SubDomain.objects.filter(domain__cluster=self.cluster)
        return {(home, name): pk for home, name, pk in rows.values_list("domain_id", "name", "pk")}

    def drop_sub_domains(self) -> None:
        """Sub-domains that their domain no longer has; by now they hold no accelerators."""
        SubDomain.objects.filter(pk__in=self.going).delete()

    def _sub_domains(self, name: str, wanted: Any) -> None:
        domain = Domain.objects.get(cluster=self.cluster, name=name)
        there = {hall.name: hall for hall in SubDomain.objects.filter(domain=domain)}
        going = [hall.pk for key, hall in there.items() if key not in wanted]
        self.going += going
        last = max((hall.index for hall in there.values()), default=-1)
        fresh = [one for one in _in_order(wanted) if one not in there]
        SubDomain.objects.bulk_create(
            SubDomain(domain=domain, name=one, index=last + 1 + place) for place, one in enumerate(fresh)
        )


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
    if not changes:
        return
    there, references = _ids(rows), refers or {}
    change(
        model,
        [*names, *(attribute for attribute, _ids_of in references.values())],
        (
            (
                *_cells(row.values, names),
                *(ids_of.get(str(row.values[column])) for column, (_attribute, ids_of) in references.items()),
                there[row.key[0]],
            )
            for row in changes
        ),
        versioned=versioned,
    )


def _new_card(
    values: Values, node: int, home: int | None, halls: Mapping[tuple[int | None, Any], int]
) -> tuple[Any, ...]:
    hall = halls.get((home, values["sub_domain"]))
    return (node, hall, values["index"], *_cells(values, _CARD))


def _cells(values: Values, names: Iterable[str]) -> tuple[Any, ...]:
    return tuple(values[name] for name in names)


def _picked(values: Values, names: Iterable[str]) -> dict[str, Any]:
    return {name: values[name] for name in names}


def _ids(rows: Any) -> dict[Any, int]:
    return dict(rows.values_list("name", "pk"))


def _names(value: Any) -> tuple[str, ...]:
    return tuple(value or ())


def _in_order(value: Any) -> list[str]:
    return sorted(_names(value), key=natural)
