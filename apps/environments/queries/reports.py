"""What nodes report, joined from the kinds of evidence that say it."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from datetime import datetime

from apps.environments.engine.drift import NodeReport as Report
from apps.environments.engine.drift import Reported
from apps.environments.models import NodeFact, NodeReport
from apps.fleet.models import Domain, Node


def reported_versions(node_ids: Iterable[int]) -> dict[int, dict[str, Reported]]:
    """Node id to component id to what the node's newest reports say of it.

    Where two kinds of evidence state the same component, the newer report counts, for the loaded and for the
    declared version apart. Two queries, however many nodes.
    """
    ids = list(node_ids)
    seen_at: dict[tuple[int, str], datetime] = {
        (node_id, kind): at
        for node_id, kind, at in NodeReport.objects.filter(node_id__in=ids).values_list(
            "node_id", "kind", "reported_at"
        )
    }
    best: dict[tuple[int, str, str], tuple[datetime, str, list[str]]] = {}
    facts = NodeFact.objects.filter(node_id__in=ids, until__isnull=True)
    for node_id, kind, component, standing, value in facts.values_list(
        "node_id", "kind", "component", "standing", "value"
    ):
        at = seen_at[node_id, kind]
        held = best.get((node_id, component, standing))
        if held is None or (at, kind) > (held[0], held[1]):
            best[node_id, component, standing] = (at, kind, [value])
        elif held[1] == kind:
            held[2].append(value)
    return _joined(best)


def _joined(
    best: dict[tuple[int, str, str], tuple[datetime, str, list[str]]],
) -> dict[int, dict[str, Reported]]:
    parts: dict[int, dict[str, dict[str, tuple[datetime, tuple[str, ...]]]]] = defaultdict(
        lambda: defaultdict(dict)
    )
    for (node_id, component, standing), (at, _kind, values) in best.items():
        parts[node_id][component][standing] = (at, tuple(sorted(values)))
    return {
        node_id: {
            component: Reported(
                loaded=standings["loaded"][1] if "loaded" in standings else (),
                declared=standings["declared"][1] if "declared" in standings else (),
                seen_at=max(at for at, _values in standings.values()),
            )
            for component, standings in components.items()
        }
        for node_id, components in parts.items()
    }


def reported_by_domain(domain: Domain) -> tuple[list[Node], list[Report]]:
    """The domain's nodes in use, and their reports; a node that never reported has an empty one."""
    nodes = list(Node.objects.in_use().under(domain).order_by("index", "name"))
    versions = reported_versions([node.pk for node in nodes])
    return nodes, [Report(node=node.name, reported=versions.get(node.pk, {})) for node in nodes]
