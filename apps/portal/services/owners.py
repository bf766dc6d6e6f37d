"""Who owns what a reading says: each owner takes its part of a delivery and says what it did."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable
from dataclasses import dataclass, replace
from datetime import datetime, timedelta
from functools import cached_property
from typing import Any

from apps.benchmarks import services as benchmarks
from apps.benchmarks.models import BenchmarkRun
from apps.changes import services as changes
from apps.changes.queries import waiting_targets
from apps.core import actor as actors
from apps.environments import queries as reports
from apps.environments import services as environments
from apps.environments.engine.facts import (
    KINDS_OF_NODES,
    ComponentFact,
    component_facts,
    facts_by_node,
)
from apps.evidence import queries as evidence
from apps.evidence.engine.reading import Reading, ReadingWarning
from apps.evidence.models import Receipt
from apps.evidence.words import OF_A_DOMAIN
from apps.fleet import services as fleet
from apps.fleet.engine.schedulers.reading import ONE_NODE, WHOLE
from apps.fleet.models import Cluster, Domain, HardwareChange, Node
from apps.fleet.queries import names_meaning, node_by_reported_name
from apps.health import services as health
from apps.health.engine.signals import KINDS_OBSERVED

Effect = dict[str, str]
# Kinds that tell of events at their own times, so that an older file is no less true.
_LOGS = frozenset({"kernel_log", "nccl_debug_log"})
# Lists of which each entry may name the host that it is about, and a name that every host goes by.
_WITH_HOSTS, _ANY_HOST = ("events", "sxid_events", "by_gpu"), "localhost"
# Kinds of which nothing follows without the node that they are about.
_OF_A_NODE = frozenset(KINDS_OF_NODES | KINDS_OBSERVED) - OF_A_DOMAIN


@dataclass(frozen=True)
class Delivery:
    """One read file on its way to its owners."""

    receipt: Receipt
    cluster: Cluster
    reading: Reading
    sha256: str

    @classmethod
    def of(cls, receipt: Receipt, cluster: Cluster) -> Delivery:
        row = receipt.reading
        if row is None:
            raise ValueError("only a read delivery has owners")
        warnings = tuple(
            ReadingWarning(code=one["code"], message=one["message"], line=one["line"], text=one["text"])
            for one in row.warnings
        )
        reading = Reading(
            kind=row.kind, facts=row.facts, warnings=warnings, parser_version=row.parser_version
        )
        return cls(receipt=receipt, cluster=cluster, reading=reading, sha256=receipt.sha256)

    @cached_property
    def node(self) -> Node | None:
        """The node that the delivery was sent for; None where it names none or one that does not exist."""
        return node_by_reported_name(self.cluster, self.receipt.node_name)

    @cached_property
    def domain(self) -> Domain | None:
        """The domain of that node; or the domain of that name, for output of a whole domain."""
        if self.node is not None:
            return self.node.domain
        name = self.receipt.node_name
        if not name:
            return None
        return Domain.objects.filter(cluster=self.cluster, name__iexact=name, retired_at__isnull=True).first()

    @cached_property
    def reported(self) -> list[tuple[Node, tuple[ComponentFact, ...]]]:
        """The nodes that it tells of and what it says of each: the one it was sent for, those it names itself."""
        found = []
        is_mixed = bool(self.other_hosts) and self.reading.kind not in _LOGS
        if self.node is not None and not is_mixed and (facts := component_facts(self.reading)):
            found.append((self.node, facts))
        for name, facts in self.facts_by_node.items():
            if facts and (node := node_by_reported_name(self.cluster, name)) is not None:
                found.append((node, facts))
        return found

    @cached_property
    def facts_by_node(self) -> dict[str, tuple[ComponentFact, ...]]:
        """What a file that names its nodes itself says of each."""
        return facts_by_node(self.reading)

    @cached_property
    def other_hosts(self) -> frozenset[str]:
        """Hosts that the file names beside others and that are not the node; a single one may be called otherwise."""
        hosts = {one["host"] for listed in self._lists.values() for one in listed if one.get("host")}
        if len(hosts) < 2:
            return frozenset()
        own = names_meaning(self.node, hosts) if self.node else frozenset()
        return frozenset(hosts - {_ANY_HOST} - own)

    @property
    def of_node(self) -> Reading:
        """The reading without what it says of other hosts."""
        if not self.other_hosts:
            return self.reading
        own = {
            name: [one for one in listed if one.get("host") not in self.other_hosts]
            for name, listed in self._lists.items()
        }
        return replace(self.reading, facts=self.reading.facts | own)

    @property
    def _lists(self) -> dict[str, list[dict[str, Any]]]:
        facts = self.reading.facts
        return {name: facts[name] for name in _WITH_HOSTS if isinstance(facts.get(name), list)}

    @property
    def has_home(self) -> bool:
        """Whether the node or domain that it was sent for exists, or a node that it names."""
        return self.node is not None or self.domain is not None or bool(self.reported)

    @property
    def lacks_home(self) -> bool:
        """Whether it is about a node, or about a whole domain, that is not known (yet) or that nobody has named."""
        if self.node is not None:
            return False
        if self.reading.kind in OF_A_DOMAIN:
            return self.domain is None
        unknown_name = bool(self.receipt.node_name) and self.domain is None
        return unknown_name or self.reading.kind in _OF_A_NODE or bool(self.facts_by_node)

    @property
    def said_at(self) -> datetime:
        """When the file was collected; never later than it arrived, whatever the node's clock says."""
        received_at = self.receipt.received_at
        return min(self.receipt.collected_at or received_at, received_at)

    @cached_property
    def newer_at(self) -> datetime | None:
        """When what is on record of its kind was collected, where that is newer; None where nothing is."""
        return None if self.reading.kind in _LOGS else evidence.newer_on_record(self.receipt)

    @property
    def is_outdated(self) -> bool:
        """Whether a newer report of its kind was applied already: it must not overwrite what is so now."""
        return self.newer_at is not None


def node_versions(delivery: Delivery) -> list[Effect]:
    """Environments: the component versions of the node, or of each node that the file itself names."""
    reported = delivery.reported
    effects = [_reported(delivery, node, facts) for node, facts in reported]
    closed = changes.consider_reports(node_ids=[node.pk for node, _facts in reported])
    for domain_id in sorted({node.domain_id for node, _facts in reported if node.domain_id}):
        environments.request_check(actor=actors.system("intake"), domain_id=domain_id)
    done = [{"what": "rollback_done", "label": f"#{pk}", "change": str(pk)} for pk in closed]
    return effects + done + _awaited(effects)


def _awaited(effects: list[Effect]) -> list[Effect]:
    """What changes under way still wait for on nodes that say the same as before, such as after a rollback began."""
    same = [int(effect["node"]) for effect in effects if effect["what"] == "node_versions_same"]
    parts: dict[tuple[str, int], list[str]] = defaultdict(list)
    for target in waiting_targets(same).order_by("pk") if same else ():
        parts[target.node.name, target.change_id].append(f"{target.component} {' | '.join(target.values)}")
    return [
        {"what": "versions_awaited", "label": f"{name} · {', '.join(wanted)}", "change": str(change_id)}
        for (name, change_id), wanted in parts.items()
    ]


def _reported(delivery: Delivery, node: Node, facts: tuple[ComponentFact, ...]) -> Effect:
    changed = environments.record_report(
        node_id=node.pk,
        kind=delivery.reading.kind,
        facts=facts,
        sha256=delivery.sha256,
        collected_at=delivery.receipt.collected_at or delivery.receipt.received_at,
        is_whole=delivery.reading.lists_all,
    )
    unchanged = "node_versions_older" if delivery.is_outdated else "node_versions_same"
    return {"what": "node_versions" if changed else unchanged, "label": node.name, "node": str(node.pk)}


def node_hardware(delivery: Delivery) -> list[Effect]:
    """Fleet: identities of the cards, or of the machine and its board, where the file lists them."""
    facts = delivery.reading.facts
    if delivery.node is None or delivery.is_outdated:
        return []
    cards, machine = facts.get("gpus"), {}
    if delivery.reading.kind == "dmi":
        cards = []
        machine = {
            f"{part}_serial": str((facts.get(part) or {}).get("serial") or "") for part in ("board", "system")
        }
    if not isinstance(cards, list) or not all(isinstance(card, dict) for card in cards):
        return []
    changes = fleet.note_hardware(
        node_id=delivery.node.pk, cards=cards, sha256=delivery.sha256, at=delivery.said_at, **machine
    )
    return [
        {"what": what, "label": f"{delivery.node.name} · {detail}", "node": str(delivery.node.pk)}
        for what, detail in map(_hardware_said, changes)
    ]


def registered_hardware(delivery: Delivery) -> list[Effect]:
    """Fleet: where the accelerators that it tells of are others, or not as many, as are on record for their node."""
    nodes = {
        node.pk: node.name
        for node, facts in delivery.reported
        if any(fact.component in reports.ABOUT_CARDS for fact in facts)
    }
    faults = reports.hardware_faults(list(nodes)) if nodes else {}
    return [
        {"what": fault.code.value, "label": f"{nodes[pk]} · {fault.said}", "node": str(pk)}
        for pk, fault in faults.items()
    ]


def _hardware_said(change: HardwareChange) -> tuple[str, str]:
    if change.what == change.TWIN:
        return "hardware_twin", change.before
    return "hardware_changed", f"{change.slot} · {change.what}"


def benchmark_runs(delivery: Delivery) -> list[Effect]:
    """Benchmarks: runs of collectives, bound to the node or domain that the delivery was sent for."""
    if delivery.reading.kind not in OF_A_DOMAIN:
        return []
    domain = delivery.domain
    if domain is None:
        return []
    nodes = [delivery.node] if delivery.node else list(Node.objects.in_use().under(domain))
    runs = benchmarks.record_runs(
        cluster=delivery.cluster,
        domain=domain,
        nodes=nodes,
        facts=delivery.reading.facts,
        sha256=delivery.sha256,
        received_at=delivery.receipt.received_at,
        warnings=delivery.receipt.reading.warnings if delivery.receipt.reading else (),
    )
    return [effect for run in runs for effect in _run_effects(run, delivery.receipt.received_at)]


def _run_effects(run: BenchmarkRun, received_at: datetime) -> list[Effect]:
    """That the run is on record, and, where its output names no collective, that a person has to."""
    what = "benchmark_run" if run.received_at == received_at else "benchmark_run_known"
    said = {"label": str(run), "run": str(run.pk)}
    asks = [] if run.collective else [{"what": "benchmark_collective_needed", **said}]
    return [{"what": what, **said}, *asks]


def node_health(delivery: Delivery) -> list[Effect]:
    """Health: figures and faults of the node, without those of other hosts in the same file, which is told."""
    if delivery.node is None or delivery.is_outdated:
        return []
    if delivery.reading.kind in _LOGS and evidence.was_applied_before(delivery.receipt):
        return []  # the same events again; of a state the same bytes later say that it is still so
    held = health.record_reading(
        node_id=delivery.node.pk, reading=delivery.of_node, sha256=delivery.sha256, at=delivery.said_at
    )
    node = {"label": delivery.node.name, "node": str(delivery.node.pk)}
    effects = [{"what": "node_health", **node}] if held else []
    if others := sorted(delivery.other_hosts):
        effects.append({"what": "other_hosts", "label": ", ".join(others[:5])})
    return effects


def node_clock(delivery: Delivery) -> list[Effect]:
    """That the clock of the node runs ahead, where the file was collected later than it arrived."""
    collected_at, node = delivery.receipt.collected_at, delivery.node
    ahead = collected_at - delivery.receipt.received_at if collected_at else timedelta()
    if node is None or ahead <= timedelta(seconds=environments.CLOCK_AHEAD_S):
        return []
    label = f"{node.name} · {timedelta(seconds=round(ahead.total_seconds()))}"
    return [{"what": "clock_ahead", "label": label, "node": str(node.pk)}]


def outdated(delivery: Delivery, effects: list[Effect]) -> list[Effect]:
    """What came about, or that nothing did because what is on record was collected later."""
    brought_about = [effect for effect in effects if effect["what"] != "node_versions_older"]
    if delivery.newer_at is None or brought_about or not delivery.has_home:
        return effects
    return [{"what": "outdated", "label": delivery.newer_at.isoformat(timespec="seconds")}]


def to_compare(delivery: Delivery) -> list[Effect]:
    """That a file says something of the fleet, which people compare with what is on record before they bring it in."""
    kind, receipt = delivery.reading.kind, delivery.receipt
    if kind not in WHOLE and (kind not in ONE_NODE or delivery.node is None):
        return []
    return [{"what": "topology", "label": receipt.file_name or kind, "topology": str(receipt.pk)}]


# Hardware first: new cards lock their cluster, which an import locks before its nodes, and versions write the node.
OWNERS: tuple[Callable[[Delivery], list[Effect]], ...] = (
    node_hardware,
    node_versions,
    registered_hardware,
    node_health,
    node_clock,
    benchmark_runs,
)
