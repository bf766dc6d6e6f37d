"""Rows of the fleet, by noun."""

from apps.fleet.models.hardware import STAGE_CHOICES, HardwareChange, Part, PartKind
from apps.fleet.models.holds import BY_HAND, Hold, HoldKind
from apps.fleet.models.imports import BulkImport, ImportState
from apps.fleet.models.inventory import (
    Accelerator,
    Cluster,
    Domain,
    LifeCycle,
    Link,
    Node,
    NodeAlias,
    NodeHealth,
    NodeQuerySet,
    SubDomain,
    Switch,
)

__all__ = [
    "BY_HAND",
    "STAGE_CHOICES",
    "Accelerator",
    "BulkImport",
    "Cluster",
    "Domain",
    "HardwareChange",
    "Hold",
    "HoldKind",
    "ImportState",
    "LifeCycle",
    "Link",
    "Node",
    "NodeAlias",
    "NodeHealth",
    "NodeQuerySet",
    "Part",
    "PartKind",
    "SubDomain",
    "Switch",
]
