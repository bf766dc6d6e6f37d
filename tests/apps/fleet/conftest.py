"""Domains that are built from layouts, for tests of fleet."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from apps.accounts.models import Person
from apps.fleet import services
from apps.fleet.engine.templates import template
from apps.fleet.models import Cluster, Domain


@pytest.fixture
def build(cluster: Cluster, bo: Person, actor_for: Callable[..., Any]) -> Callable[..., Domain]:
    """`build("8-mesh", name="m")`: a domain of the cluster from the ready layout of that key."""

    def built(key: str = "72-as-18x4", **values: Any) -> Domain:
        usual = {"name": "sn", "accelerator_model": "nvidia-gb200", "layout": template(key)}
        return services.build_domain(actor=actor_for(bo), cluster_id=cluster.pk, **usual | values)

    return built
