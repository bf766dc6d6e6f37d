"""The items of a checklist, and what an evaluation found for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from enum import StrEnum
from typing import Any

from apps.core.verdicts import Verdict


class Group(StrEnum):
    INVENTORY = "inventory"
    ENVIRONMENT = "environment"
    FABRIC = "fabric"
    COLLECTIVE = "collective"
    STORAGE = "storage"
    SCHEDULER = "scheduler"


@dataclass(frozen=True, slots=True, kw_only=True)
class Item:
    """One line of a checklist. manual: a person answers it; otherwise the check of the same key does."""

    key: str
    group: Group
    manual: bool = False

    def to_json(self) -> dict[str, Any]:
        return asdict(self)


@dataclass(frozen=True, slots=True, kw_only=True)
class Proof:
    """Something a verdict rests on: a label, where to look at it, and the evidence's digest where there is one."""

    label: str
    url: str = ""
    sha256: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Found:
    """What a check found.

    code: a stable word for the reason; message: English, for machines; values: what a sentence in the reader's
    language is made of, where it is more than the code; nodes: those that are the reason;
    inputs: name to digest of everything that the verdict rests on. offer_rollback: going back would help.
    """

    verdict: Verdict
    code: str
    message: str
    values: Mapping[str, Any] = field(default_factory=dict)
    nodes: tuple[str, ...] = ()
    proofs: tuple[Proof, ...] = ()
    inputs: tuple[tuple[str, str], ...] = ()
    offer_rollback: bool = False


STANDARD: tuple[Item, ...] = (
    Item(key="nodes_free", group=Group.INVENTORY),
    Item(key="nodes_healthy", group=Group.INVENTORY),
    Item(key="no_open_change", group=Group.INVENTORY),
    Item(key="upkeep_done", group=Group.INVENTORY),
    Item(key="matrix_locked", group=Group.ENVIRONMENT),
    Item(key="no_drift", group=Group.ENVIRONMENT),
    Item(key="job_environment", group=Group.ENVIRONMENT),
    Item(key="benchmark_accepted", group=Group.COLLECTIVE),
    Item(key="plan_fits", group=Group.FABRIC),
    Item(key="placement_sound", group=Group.FABRIC),
    Item(key="topology_labels", group=Group.SCHEDULER, manual=True),
    Item(key="timeouts_sane", group=Group.COLLECTIVE, manual=True),
    Item(key="checkpoint_readable", group=Group.STORAGE, manual=True),
    Item(key="storage_and_loading", group=Group.STORAGE, manual=True),
)


def parse_items(rows: list[dict[str, Any]]) -> tuple[Item, ...]:
    """Items as a template keeps them."""
    return tuple(
        Item(key=row["key"], group=Group(row["group"]), manual=bool(row.get("manual"))) for row in rows
    )
