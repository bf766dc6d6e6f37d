"""Reports: history by change, old ones, skewed clocks, and kinds of evidence that disagree."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.environments import queries, services
from apps.environments.engine.facts import ComponentFact, Standing
from apps.environments.models import NodeFact, NodeReport
from tests import factories
from tests.apps.environments.support import report

pytestmark = pytest.mark.django_db


@pytest.fixture
def node(nodes: Any) -> Any:
    return nodes[0]


def _runs(node: Any, component: str) -> Any:
    return queries.reported_versions([node.pk])[node.pk][component]


def test_an_unchanged_report_moves_its_times_only(node: Any, count_queries: Any) -> None:
    assert report(node) is True
    facts = list(NodeFact.objects.values_list("pk", "since"))

    needed = count_queries(lambda: report(node))

    assert needed == 4  # begin, report, node, end
    assert list(NodeFact.objects.values_list("pk", "since")) == facts


def test_a_changed_version_ends_one_fact_and_begins_another(node: Any) -> None:
    now = clock.now()
    report(node, at=now - timedelta(hours=2))
    report(node, nccl="2.27.3", at=now - timedelta(hours=1), sha256="b" * 64)

    history = list(
        NodeFact.objects.filter(component="nccl").order_by("since").values_list("value", "until", "sha256")
    )
    assert history == [
        ("2.26.2", now - timedelta(hours=1), "a" * 64),
        ("2.27.3", None, "b" * 64),
    ]
    assert NodeFact.objects.filter(component="os").count() == 1


def test_an_old_report_handed_in_again_changes_nothing(node: Any) -> None:
    now = clock.now()
    report(node, at=now - timedelta(hours=2))
    report(node, nccl="2.27.3", at=now - timedelta(hours=1))

    assert report(node, at=now - timedelta(hours=2)) is False

    assert _runs(node, "nccl").loaded == ("2.27.3",)
    assert NodeReport.objects.get(node=node).reported_at == now - timedelta(hours=1)


def test_a_clock_that_runs_ahead_is_noticed_and_not_believed(node: Any) -> None:
    report(node, at=clock.now() + timedelta(hours=3))

    row = NodeReport.objects.get(node=node)
    assert row.clock_skew_s == pytest.approx(3 * 3600, abs=60)
    assert row.reported_at <= clock.now()
    report(node, nccl="2.27.3", at=clock.now())
    assert _runs(node, "nccl").loaded == ("2.27.3",)


def test_the_better_witness_counts_and_the_other_one_is_kept(node: Any) -> None:
    now = clock.now()
    for minutes in (60, 10):
        report(node, {"gpu_driver": "570.86.15"}, kind="nvidia_smi_q", at=now - timedelta(minutes=minutes))
        report(
            node, {"gpu_driver": "565.57.01"}, kind="dcgm_metrics", at=now - timedelta(minutes=minutes - 1)
        )

    seen = _runs(node, "gpu_driver")

    assert (seen.loaded, seen.contradicting) == (("570.86.15",), ("dcgm_metrics: 565.57.01",))


def test_two_forms_of_one_tool_are_one_witness(node: Any) -> None:
    now = clock.now()
    for minutes, kind, driver in ((2, "nvidia_smi_xml", "570.86.15"), (1, "nvidia_smi_q", "565.57.01")):
        report(node, {"gpu_driver": driver}, kind=kind, at=now - timedelta(minutes=minutes))

    seen = _runs(node, "gpu_driver")

    assert (seen.loaded, seen.contradicting) == (("565.57.01",), ())


def test_reports_that_were_not_repeated_contradict_nothing_yet(node: Any) -> None:
    now = clock.now()
    report(node, {"gpu_driver": "565.57.01"}, kind="dcgm_metrics", at=now - timedelta(minutes=2))
    report(node, {"gpu_driver": "570.86.15"}, kind="nvidia_smi_q", at=now - timedelta(minutes=1))

    seen = _runs(node, "gpu_driver")

    assert (seen.loaded, seen.contradicting) == (("570.86.15",), ())


def test_a_later_change_overtakes_the_better_witness(node: Any) -> None:
    now = clock.now()
    report(node, {"gpu_driver": "565.57.01"}, kind="nvidia_smi_q", at=now - timedelta(hours=2))
    report(node, {"gpu_driver": "570.86.15"}, kind="dcgm_metrics", at=now - timedelta(hours=1))

    seen = _runs(node, "gpu_driver")

    assert (seen.loaded, seen.contradicting) == (("570.86.15",), ())


def test_a_witness_that_went_silent_says_nothing_any_more(node: Any) -> None:
    now = clock.now()
    report(node, {"gpu_driver": "565.57.01"}, kind="nvidia_smi_q", at=now - timedelta(days=9))
    report(node, {"gpu_driver": "570.86.15"}, kind="dcgm_metrics", at=now - timedelta(days=9, minutes=1))
    report(node, {"gpu_driver": "570.86.15"}, kind="dcgm_metrics", at=now)

    seen = _runs(node, "gpu_driver")

    assert (seen.loaded, seen.contradicting, seen.seen_at) == (("570.86.15",), (), now)


def test_declared_and_loaded_are_two_facts(node: Any) -> None:
    now = clock.now()
    report(node, {"nccl": "2.30.1"}, kind="collect_env", standing=Standing.DECLARED, at=now)
    report(node, {"nccl": "2.28.9"}, kind="nccl_tests", at=now)

    seen = _runs(node, "nccl")

    assert (seen.declared, seen.loaded, seen.values) == (("2.30.1",), ("2.28.9",), ("2.28.9",))


def test_a_package_that_changed_after_it_was_seen_loaded_counts(node: Any) -> None:
    now = clock.now()
    report(node, {"nccl": "2.28.9"}, kind="nccl_tests", at=now - timedelta(hours=2))
    report(
        node,
        {"nccl": "2.30.1"},
        kind="collect_env",
        standing=Standing.DECLARED,
        at=now - timedelta(hours=1),
    )

    assert _runs(node, "nccl").values == ("2.30.1",)


def test_nodes_are_read_in_as_many_queries_as_one(nodes: Any, assert_constant_queries: Any) -> None:
    report(nodes[0])
    ids = [node.pk for node in nodes]

    assert_constant_queries(
        lambda: queries.reported_versions(ids), lambda: [report(node) for node in nodes[1:]]
    )


def _cut(node: Any, *facts: ComponentFact) -> bool:
    return services.record_report(
        node_id=node.pk, kind="nvidia_smi_q", facts=facts, sha256="c" * 64, is_whole=False
    )


def _held(node: Any) -> dict[str, list[tuple[str, int | None]]]:
    held: dict[str, list[tuple[str, int | None]]] = {}
    rows = NodeFact.objects.filter(node=node, until__isnull=True).order_by("value")
    for component, value, count in rows.values_list("component", "value", "count"):
        held.setdefault(component, []).append((value, count))
    return held


def test_a_cut_report_confirms_what_it_lists_and_takes_nothing_away(node: Any) -> None:
    whole = [
        ComponentFact(component="gpu_driver", value="570.86.15"),
        ComponentFact(component="gpu_vbios", value="96.00.74.00.01", count=7),
        ComponentFact(component="gpu_vbios", value="96.00.74.00.02", count=1),
        ComponentFact(component="gpu_count", value="8"),
    ]
    services.record_report(node_id=node.pk, kind="nvidia_smi_q", facts=whole, sha256="a" * 64)
    before = _held(node)

    assert _cut(node, whole[0], ComponentFact(component="gpu_vbios", value="96.00.74.00.01")) is False

    assert _held(node) == before
    assert NodeReport.objects.get(node=node).sha256 == "c" * 64


def test_a_cut_report_adds_what_is_new_and_replaces_what_a_node_has_one_of(node: Any) -> None:
    report(node)

    assert _cut(
        node,
        ComponentFact(component="gpu_driver", value="570.124.06"),
        ComponentFact(component="gpu_vbios", value="96.00.74.00.09"),
    )

    held = _held(node)
    assert held["gpu_driver"] == [("570.124.06", None)]
    assert held["gpu_vbios"] == [("96.00.74.00.01", None), ("96.00.74.00.09", None)]
    assert held["nccl"] == [("2.26.2", None)]
    report(node)
    assert _held(node)["gpu_vbios"] == [("96.00.74.00.01", None)]


@pytest.mark.parametrize("is_contested", [True, False])
def test_a_report_that_comes_while_versions_are_read_is_left_for_later(
    is_contested: bool, cluster: Any
) -> None:
    """Its facts are read, but not the report itself, which was looked for before."""
    node = factories.node(cluster, "sn-n01", domain=factories.domain(cluster, "sn"))
    factories.report(node, kind="collect_env", nccl="2.20.5")
    news = {"nccl": "2.21.5"} if is_contested else {"gpu_driver": "570.86.15"}
    factories.report(node, kind="nvidia_smi_xml", **news)
    NodeReport.objects.filter(kind="nvidia_smi_xml").delete()
    found = queries.reported_versions([node.pk])[node.pk]
    assert {name: said.values for name, said in found.items()} == {"nccl": ("2.20.5",)}
