"""The fleet as rows of tables, as imports take them and exports give them."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from typing import Any

from django.db.models import QuerySet

from apps.core.errors import Invalid
from apps.fleet.engine.layout_values import as_json
from apps.fleet.engine.tables import SCHEMAS, Key, Table, Values
from apps.fleet.models import Accelerator, Cluster, Domain, Link, Node, NodeAlias, Part, SubDomain, Switch

Current = dict[Table, dict[Key, Values]]


def current_rows(cluster: Cluster) -> Current:
    """All rows of a cluster, per table, by key; retired ones too, for their names are taken."""
    return {table: _keyed(table, rows(cluster)) for table, rows in _READERS.items()}


def rows_of(cluster: Cluster, table: Table) -> list[Values]:
    """The rows of one table in a fixed order."""
    return list(_READERS[table](cluster))


def _keyed(table: Table, rows: Iterable[Values]) -> dict[Key, Values]:
    schema = SCHEMAS[table]
    if schema.instead:
        return {schema.key_of(row): row for row in rows}
    if len(schema.key) == 1:
        return {(row[schema.key[0]],): row for row in rows}
    first, second = schema.key
    return {(row[first], row[second]): row for row in rows}


def _domains(cluster: Cluster) -> Iterable[Values]:
    halls: dict[int, list[str]] = defaultdict(list)
    for home, name in SubDomain.objects.filter(domain__cluster=cluster).values_list("domain_id", "name"):
        halls[home].append(name)
    names = ["name", "layout", "topology", "accelerator_model"]
    names += ["unidirectional_bytes_per_s", "scale_out_bytes_per_s", "parameters"]
    for row in Domain.objects.filter(cluster=cluster).order_by("name").values("pk", *names):
        own = tuple(sorted(halls[row.pop("pk")]))
        yield row | {"sub_domains": own, "parameters": _layout(row["parameters"])}


def _layout(values: Any) -> str:
    """As a cell holds it; one that can no longer be read is none, as it is for everybody else."""
    try:
        return as_json(values)
    except Invalid:
        return "{}"


def _nodes(cluster: Cluster) -> Iterable[Values]:
    aliases: dict[int, list[str]] = defaultdict(list)
    for node, name in NodeAlias.objects.filter(cluster=cluster).values_list("node_id", "name"):
        aliases[node].append(name)
    plain = ("name", "index", "life_cycle", "rack", "position", "serial", "system_serial")
    rows = Node.objects.filter(cluster=cluster).order_by("domain__name", "index", "name")
    for row in rows.values("pk", "domain__name", *plain):
        own = tuple(sorted(aliases[row.pop("pk")]))
        yield row | {"domain": row.pop("domain__name") or "", "aliases": own}


def _accelerators(cluster: Cluster) -> Iterable[Values]:
    rows = Accelerator.objects.filter(node__cluster=cluster).order_by("node__name", "index")
    names = ("node__name", "index", "sub_domain__name", "model", "uuid", "serial", "bus_id")
    for node, index, hall, model, uuid, serial, bus in rows.values_list(*names).iterator(chunk_size=5000):
        yield {
            "node": node,
            "index": index,
            "sub_domain": hall or "",
            "model": model,
            "uuid": uuid,
            "serial": serial,
            "bus_id": bus,
        }


def _switches(cluster: Cluster) -> Iterable[Values]:
    rows: QuerySet[Any] = Switch.objects.filter(cluster=cluster).order_by("tier", "index", "name")
    for row in rows.values("name", "domain__name", "tier", "index", "ports"):
        yield row | {"domain": row.pop("domain__name") or ""}


def _links(cluster: Cluster) -> Iterable[Values]:
    rows = Link.objects.filter(upper__cluster=cluster).order_by("upper__name", "pk")
    ends = ("accelerator__node__name", "accelerator__index", "node__name", "lower__name")
    plain = ("upper__name", "count", "unidirectional_bytes_per_s", "optical")
    for row in rows.values_list(*plain, *ends).iterator(chunk_size=5000):
        upper, count, speed, optical, card_node, card, node, lower = row
        yield {
            "upper": upper,
            "lower": f"{card_node}/{card}" if card_node is not None else node or lower,
            "count": count,
            "unidirectional_bytes_per_s": speed,
            "optical": optical,
        }


def _parts(cluster: Cluster) -> Iterable[Values]:
    rows = Part.objects.filter(cluster=cluster).order_by("kind", "serial", "uuid", "pk")
    for row in rows.values("kind", "serial", "uuid", "model", "stage", "node__name", "slot", "note"):
        yield row | {"node": row.pop("node__name") or ""}


_READERS: Mapping[Table, Callable[[Cluster], Iterable[Values]]] = {
    Table.DOMAINS: _domains,
    Table.NODES: _nodes,
    Table.ACCELERATORS: _accelerators,
    Table.SWITCHES: _switches,
    Table.LINKS: _links,
    Table.PARTS: _parts,
}
