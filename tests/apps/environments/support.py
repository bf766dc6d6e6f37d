"""Reports for tests: what nodes of a domain say, without files; and checks of it, without a job."""

from __future__ import annotations

from datetime import datetime

from apps.environments import services
from apps.environments.engine.facts import ComponentFact, Standing
from apps.environments.models import DriftCheck
from apps.fleet.models import Domain, Node

VERSIONS = {
    "gpu_driver": "570.86.15",
    "nccl": "2.26.2",
    "gpu_vbios": "96.00.74.00.01",
    "os": "Ubuntu 22.04.5 LTS",
}


def report(
    node: Node,
    versions: dict[str, str] | None = None,
    *,
    kind: str = "nvidia_smi_q",
    at: datetime | None = None,
    standing: Standing = Standing.LOADED,
    sha256: str = "a" * 64,
    **changed: str,
) -> bool:
    """A report of the node: `versions` (VERSIONS unless given) with some of them changed."""
    said = {**(VERSIONS if versions is None else versions), **changed}
    facts = [ComponentFact(component=name, value=value, standing=standing) for name, value in said.items()]
    return services.record_report(node_id=node.pk, kind=kind, facts=facts, sha256=sha256, collected_at=at)


def check_drift(domain: Domain) -> DriftCheck:
    """The domain held against its matrix in force, and written down."""
    return services.keep_check(services.compare_domain(domain_id=domain.pk))
