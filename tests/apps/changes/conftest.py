"""A domain of six nodes in two sub-domains that all report the same, and changes of it."""

from __future__ import annotations

from collections.abc import Callable

import pytest

from apps.accounts.models import Person
from apps.changes import services
from apps.changes.models import Change
from apps.changes.services import Content, Wish
from apps.fleet.models import Cluster, Domain, Node
from tests import factories
from tests.callers import actor_for

OLD, NEW = "2.20.5", "2.27.3"


@pytest.fixture
def domain(cluster: Cluster) -> Domain:
    return factories.reported_domain(cluster, 6, sub_domains=2, gpu_driver="570.86.15", nccl=OLD)


@pytest.fixture
def nodes(domain: Domain) -> list[Node]:
    """sn-01 to sn-06."""
    return list(Node.objects.filter(domain=domain).order_by("index"))


@pytest.fixture
def drafted(domain: Domain, bo: Person) -> Callable[..., Change]:
    """Bo (or who is given) drafts a change of NCCL; what it says can be given."""

    def draft(node_ids=(), *, by: Person = bo, **said) -> Change:
        values = {
            "title": "New NCCL",
            "reason": "hangs are fixed",
            "wishes": (Wish(component="nccl", values=(NEW,)),),
            "soak_s": (0, 0),
        }
        return services.draft_change(
            actor=actor_for(by),
            domain_id=domain.pk,
            kind="nccl",
            content=Content(**values | said),
            node_ids=node_ids,
        )

    return draft


@pytest.fixture
def submitted(drafted: Callable[..., Change], bo: Person) -> Callable[..., Change]:
    """The same, handed in."""

    def submit(node_ids=(), **said) -> Change:
        change = drafted(node_ids, **said)
        return services.submit_change(
            actor=actor_for(bo), change_id=change.pk, expected_version=change.version
        )

    return submit


@pytest.fixture
def approved(submitted: Callable[..., Change], chen: Person) -> Callable[..., Change]:
    """The same, approved by Chen."""

    def approve(node_ids=(), **said) -> Change:
        change = submitted(node_ids, **said)
        return services.approve_change(
            actor=actor_for(chen), change_id=change.pk, expected_version=change.version
        )

    return approve


@pytest.fixture
def started(approved: Callable[..., Change], bo: Person) -> Callable[..., Change]:
    """The same, started by Bo."""

    def start(node_ids=(), **said) -> Change:
        change = approved(node_ids, **said)
        return services.start_change(
            actor=actor_for(bo), change_id=change.pk, expected_version=change.version
        )

    return start
