"""A domain of four nodes, for tests of environments."""

from __future__ import annotations

import pytest

from apps.fleet.models import Cluster, Domain, Node
from tests import factories


@pytest.fixture
def domain(cluster: Cluster) -> Domain:
    return factories.domain(cluster, "sn")


@pytest.fixture
def nodes(domain: Domain) -> list[Node]:
    """n1 to n4 in the domain, in this order."""
    return [factories.node(domain.cluster, f"n{place}", domain=domain, index=place) for place in range(1, 5)]
