"""A domain of four nodes and its matrix, for tests of environments."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from apps.environments import services
from apps.environments.models import MatrixVersion
from apps.fleet.models import Cluster, Domain, Node
from tests import factories
from tests.apps.environments.support import report


@pytest.fixture
def domain(cluster: Cluster) -> Domain:
    return factories.domain(cluster, "sn")


@pytest.fixture
def nodes(domain: Domain) -> list[Node]:
    """n1 to n4 in the domain, in this order."""
    return [factories.node(domain.cluster, f"n{place}", domain=domain, index=place) for place in range(1, 5)]


@pytest.fixture
def draft_from(nodes: list[Node], domain: Domain, actor_for: Any, bo: Any) -> Callable[..., MatrixVersion]:
    """`draft_from({"nccl": "2.25.1"}, {}, {}, {})`: drafted after each node reported so, beside what all report."""

    def make(*changed: dict[str, str]) -> MatrixVersion:
        for node, versions in zip(nodes, changed, strict=True):
            report(node, **versions)
        return services.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk)

    return make


@pytest.fixture
def draft(draft_from: Callable[..., MatrixVersion]) -> MatrixVersion:
    """Drafted from what all four nodes report alike."""
    return draft_from({}, {}, {}, {})


@pytest.fixture
def locked(draft: MatrixVersion, actor_for: Any, bo: Any) -> MatrixVersion:
    return services.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)
