"""Training jobs on a domain: while one runs no change of the domain starts."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass

from apps.core.hostlist import fold
from apps.fleet.models import Domain, Hold, HoldKind


@dataclass(frozen=True, slots=True, kw_only=True)
class Training:
    """A job that runs: its title, its launch, and the names of the domain's nodes that are held for it."""

    title: str
    launch_id: str
    nodes: tuple[str, ...]

    @property
    def folded(self) -> str:
        return fold(self.nodes)


def training_on(domain: Domain) -> list[Training]:
    """The training jobs that hold nodes of a domain, whichever nodes of it."""
    rows = Hold.objects.filter(node__domain=domain, kind=HoldKind.TRAINING, released_at__isnull=True)
    nodes: dict[tuple[str, str], list[str]] = defaultdict(list)
    for owner, title, name in rows.order_by("node__name").values_list("owner", "reason", "node__name"):
        nodes[owner, title].append(name)
    return [
        Training(title=title, launch_id=owner.partition(":")[2], nodes=tuple(names))
        for (owner, title), names in nodes.items()
    ]
