"""What a check looks at."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import datetime

from apps.environments.models import MatrixVersion
from apps.fleet.models import Node
from apps.launches.models import Launch


@dataclass(frozen=True, slots=True, kw_only=True)
class Subject:
    """One launch at one moment: its nodes in rank order and the matrix in force."""

    launch: Launch
    nodes: tuple[Node, ...]
    matrix: MatrixVersion | None
    now: datetime

    @property
    def node_ids(self) -> list[int]:
        return [node.pk for node in self.nodes]
