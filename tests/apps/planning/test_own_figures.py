"""A team's own figures of an accelerator: written into its plans, and into nobody else's."""

from __future__ import annotations

from copy import deepcopy

import pytest

from apps.catalogue.engine.overlays import Confidence, Kind
from apps.catalogue.services import set_figure
from apps.core.errors import Invalid
from apps.planning import services
from apps.planning.engine.estimate import estimate
from apps.planning.engine.reading import read_plan
from tests import factories
from tests.apps.planning.documents import SEARCH, small
from tests.callers import actor_for

pytestmark = pytest.mark.django_db


@pytest.fixture
def own(cluster, bo):
    def figure(value, *, path="memory_gb", entry="nvidia-gb200"):
        return set_figure(
            actor=actor_for(bo),
            scope_id=cluster.scope_id,
            kind=Kind.ACCELERATOR,
            entry=entry,
            path=path,
            value=value,
            source="nvidia-smi on n01",
            confidence=Confidence.MEASURED,
        )

    return figure


def with_figures(**figures):
    document = small()
    document["system"]["figures"] = {path: {"value": value} for path, value in figures.items()}
    return document


def test_a_plan_is_computed_with_the_teams_figure_and_says_so(own, make, run_jobs):
    own(100)
    version = make()
    run_jobs()
    version.refresh_from_db()
    assert version.result["memory"]["capacity_bytes"] == 100e9
    named = {one["name"]: one for one in version.result["assumptions"]}
    assert (
        named["memory_gb"].items()
        >= {
            "name": "memory_gb",
            "value": 100.0,
            "source": "nvidia-smi on n01 (measured)",
        }.items()
    )


def test_another_teams_plan_keeps_what_is_shipped(own, other_cluster, eve):
    own(100)
    version = services.create_plan(
        actor=actor_for(factories.person("Op", "operator", scope=other_cluster.scope)),
        scope_id=other_cluster.scope_id,
        name="theirs",
        document=small(),
    )
    assert "figures" not in version.input["system"]


def test_a_later_edit_makes_a_new_version_and_leaves_the_old_one(own, make, bo):
    version = make()
    again = {"actor": actor_for(bo), "plan_id": version.plan_id, "document": small()}
    assert services.revise_plan(**again).number == 1
    own(100)
    assert services.revise_plan(**again).number == 2
    version.refresh_from_db()
    assert "figures" not in version.input["system"]


def test_a_layout_that_was_found_keeps_the_figures_of_its_search(own, make, bo, run_jobs):
    search = make(deepcopy(SEARCH))
    run_jobs()
    own(1)
    taken = services.take_found(actor=actor_for(bo), plan_id=search.plan_id, number=1, place=1)
    assert taken.input["system"] == search.input["system"]


def test_an_accelerator_that_only_the_team_knows_can_be_planned_with(own, make, run_jobs):
    figures = {"memory_gb": 64, "memory_bandwidth_gb_s": 1600, "dense_tflops.bf16": 400}
    for path, value in figures.items():
        own(value, path=path, entry="house-npu")
    document = small()
    document["system"]["accelerator"] = "house-npu"
    version = make(document)
    run_jobs()
    version.refresh_from_db()
    assert version.fits and version.result["memory"]["capacity_bytes"] == 64e9


def test_without_own_figures_that_accelerator_is_unknown(make):
    document = small()
    document["system"]["accelerator"] = "house-npu"
    with pytest.raises(Invalid) as refused:
        make(document)
    assert [error.pointer for error in refused.value.errors] == ["/system/accelerator"]


def test_the_wizard_offers_it(own, bo, vic, client_of):
    own(64, entry="house-npu")
    assert 'value="house-npu"' in client_of(bo).get("/plans/new/").content.decode()


def test_less_memory_bandwidth_is_never_faster():
    slow, fast = (
        estimate(read_plan(with_figures(memory_bandwidth_gb_s=value))).iteration_time_s
        for value in (2000, 8000)
    )
    assert slow > fast


@pytest.mark.parametrize(
    ("figures", "pointer"),
    [
        ({"beauty": 1}, "/system/figures/beauty"),
        ({"memory_gb": -1}, "/system/figures/memory_gb/value"),
        ({"memory_gb": "much"}, "/system/figures/memory_gb/value"),
        ({"memory_gb": None}, "/system/accelerator"),
    ],
)
def test_a_wrong_figure_is_named(figures, pointer):
    with pytest.raises(Invalid) as refused:
        read_plan(with_figures(**figures))
    assert [error.pointer for error in refused.value.errors] == [pointer]
