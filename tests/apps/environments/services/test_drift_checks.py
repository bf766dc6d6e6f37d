"""Drift checks: written by change, findings opened and resolved, schedules, and two at once."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from apps.core import clock
from apps.core.actor import system
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.environments import queries, services
from apps.environments.engine.facts import Standing
from apps.environments.models import DriftCheck, DriftFinding, EnvironmentPolicy, NodeReport
from apps.environments.services.policy import CHECK_EVERY_S
from apps.jobs.models import Job
from apps.jobs.registry import recurring
from tests import factories
from tests.apps.environments.support import check_drift, report

pytestmark = pytest.mark.django_db


def _open(domain: Any) -> list[tuple[str, str, str, str, str]]:
    rows = queries.open_findings(domain=domain).order_by("node__name", "component", "kind")
    return [
        (row.node.name if row.node else "", row.component, row.kind, row.intended, row.reported)
        for row in rows
    ]


def test_matching_nodes_pass_with_one_group(locked: Any, domain: Any) -> None:
    check = check_drift(domain)

    assert (check.verdict, check.finding_count, check.node_count) == ("pass", 0, 4)
    assert [len(group["nodes"]) for group in check.groups] == [4]


def test_the_node_that_differs_is_found_with_intended_and_reported(
    locked: Any, domain: Any, nodes: Any
) -> None:
    report(nodes[2], nccl="2.25.1")

    check = check_drift(domain)

    assert check.verdict == "fail"
    assert _open(domain) == [("n3", "nccl", "drift", "2.26.2", "2.25.1")]
    assert [(one["component"], list(one["nodes"])) for one in check.odd_ones] == [("nccl", ["n3"])]


def test_a_finding_seen_again_keeps_its_first_time_and_is_resolved_once_gone(
    locked: Any, domain: Any, nodes: Any
) -> None:
    report(nodes[2], nccl="2.25.1")
    check_drift(domain)
    first = DriftFinding.objects.get()
    check_drift(domain)
    again = DriftFinding.objects.get()
    report(nodes[2])
    check_drift(domain)
    gone = DriftFinding.objects.get()

    assert again.first_seen_at == first.first_seen_at
    assert again.last_seen_at > first.last_seen_at
    assert (again.resolved_at, gone.resolved_at is not None) == (None, True)


def test_a_check_that_finds_the_same_is_counted_and_not_repeated(
    locked: Any, domain: Any, nodes: Any
) -> None:
    first = check_drift(domain)
    second = check_drift(domain)
    report(nodes[0], nccl="2.25.1")
    third = check_drift(domain)

    assert (second.pk, second.times, second.first_checked_at) == (first.pk, 2, first.first_checked_at)
    assert second.checked_at > first.checked_at
    assert third.pk != first.pk


def test_an_older_comparison_does_not_overwrite_a_newer_one(locked: Any, domain: Any, nodes: Any) -> None:
    early = services.compare_domain(domain_id=domain.pk)
    report(nodes[0], nccl="2.25.1")
    late = check_drift(domain)

    assert services.keep_check(early) == late
    assert len(_open(domain)) == 1


def test_without_a_matrix_the_domain_has_one_finding_until_one_is_locked(
    nodes: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    for node in nodes:
        report(node)

    first, again = check_drift(domain), check_drift(domain)
    found = _open(domain)
    draft = services.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk)
    services.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)
    check_drift(domain)

    assert (first.verdict, first.matrix_version, first.finding_count) == ("unknown", None, 1)
    assert (again.pk, again.times) == (first.pk, 2)
    assert found == [("", "", "no_intent", "", "")]
    assert _open(domain) == []


def test_a_check_of_an_earlier_release_that_counted_a_finding_for_each_node_is_set_right(
    nodes: Any, domain: Any
) -> None:
    check = check_drift(domain)
    DriftCheck.objects.filter(pk=check.pk).update(finding_count=4)
    for node in nodes:
        DriftFinding.objects.create(
            domain=domain,
            node=node,
            kind="drift",
            outcome="not_evaluated",
            reason="nothing_asked",
            verdict="unknown",
            first_seen_at=check.checked_at,
            last_seen_at=check.checked_at,
        )

    assert (check_drift(domain).finding_count, len(_open(domain))) == (1, 1)


def test_one_node_that_reports_nonsense_leaves_the_rest_judged(locked: Any, domain: Any, nodes: Any) -> None:
    report(nodes[1], {"gpu_driver": "ERR!", "nccl": "?", "gpu_vbios": "N/A", "os": ""})

    check = check_drift(domain)

    verdicts = {tuple(group["nodes"]): group["verdict"] for group in check.groups}
    assert verdicts[("n1", "n3", "n4")] == "pass"
    assert verdicts[("n2",)] != "pass"


def test_a_loaded_library_that_no_package_declares_is_a_finding_of_its_own(
    locked: Any, domain: Any, nodes: Any
) -> None:
    now = clock.now()
    report(nodes[0], {"nccl": "2.26.2"}, kind="nccl_tests", at=now)
    report(nodes[0], {"nccl": "2.27.3"}, kind="collect_env", standing=Standing.DECLARED, at=now)

    check_drift(domain)

    assert _open(domain) == [("n1", "nccl", "loaded_differs", "2.27.3", "2.26.2")]


def test_two_kinds_of_evidence_that_contradict_each_other_are_a_finding(
    locked: Any, domain: Any, nodes: Any
) -> None:
    for _round in range(2):
        report(nodes[0], {"gpu_driver": "565.57.01"}, kind="dcgm_metrics")
        report(nodes[0])

    check = check_drift(domain)

    assert check.verdict == "warn"
    assert _open(domain) == [
        ("n1", "gpu_driver", "contradiction", "dcgm_metrics: 565.57.01", "nvidia_smi_q: 570.86.15")
    ]


def test_a_node_that_moves_to_another_domain_takes_its_findings_along(
    locked: Any, domain: Any, nodes: Any, actor_for: Any, bo: Any
) -> None:
    other = factories.domain(domain.cluster, "other")
    report(nodes[0], nccl="2.25.1")
    check_drift(domain)
    copy = services.draft_from_file(
        actor=actor_for(bo), domain_id=other.pk, text="component,values\nnccl,2.26.2\n", file_format="csv"
    )
    services.lock_matrix(actor=actor_for(bo), version_id=copy.pk, expected_version=1)
    nodes[0].domain = other
    nodes[0].save()

    check_drift(other)
    check_drift(domain)

    assert [(row[0], row[1]) for row in _open(other) if row[2] == "drift" and row[1] == "nccl"] == [
        ("n1", "nccl")
    ]
    assert _open(domain) == []


def test_a_cluster_says_how_old_a_report_may_be(
    locked: Any, domain: Any, nodes: Any, actor_for: Any, ada: Any
) -> None:
    report(nodes[0], kind="nvidia_smi_q", nccl="2.26.2", at=clock.now())
    services.set_policy(
        actor=actor_for(ada),
        cluster_id=domain.cluster_id,
        expected_version=0,
        stale_after_s=3600,
        check_every_s=600,
    )
    NodeReport.objects.filter(node=nodes[3]).update(reported_at=clock.now() - timedelta(hours=2))

    check = check_drift(domain)

    assert check.verdict == "unknown"
    assert {row.reason for row in queries.open_findings(domain=domain)} == {"report_too_old"}


def test_the_policy_is_for_administrators_and_within_limits(
    domain: Any, actor_for: Any, bo: Any, ada: Any
) -> None:
    values = {"cluster_id": domain.cluster_id, "expected_version": 0, "check_every_s": 600}
    with pytest.raises(NotAllowed):
        services.set_policy(actor=actor_for(bo), stale_after_s=3600, **values)
    with pytest.raises(Invalid) as refused:
        services.set_policy(actor=actor_for(ada), stale_after_s=1, **values)

    assert refused.value.errors[0].pointer == "/stale_after_s"
    assert not EnvironmentPolicy.objects.exists()


def test_each_domain_is_checked_when_it_is_due(
    domain: Any, nodes: Any, run_jobs: Any, actor_for: Any, bo: Any
) -> None:
    asked = services.request_due_checks(actor=system())
    run_jobs()
    again = services.request_due_checks(actor=system())
    DriftCheck.objects.update(checked_at=clock.now() - timedelta(hours=2))
    later = services.request_due_checks(actor=system())

    assert (asked, again, later) == (1, 0, 1)


def test_it_is_looked_at_what_is_due_as_often_as_a_team_may_ask_for_a_check() -> None:
    assert recurring()["environments.check_due"] <= CHECK_EVERY_S[0]


def test_a_job_checks_and_says_where_to_look(
    locked: Any, domain: Any, run_jobs: Any, actor_for: Any, vic: Any
) -> None:
    services.request_check(actor=actor_for(vic), domain_id=domain.pk)

    (job,) = run_jobs("environments.check_drift")

    assert (job.state, job.result["verdict"]) == ("succeeded", "pass")
    assert job.result_url == f"/environment/domains/{domain.pk}/drift/"


def test_a_second_request_while_one_waits_is_the_same_job(domain: Any, actor_for: Any, vic: Any) -> None:
    first = services.request_check(actor=actor_for(vic), domain_id=domain.pk)
    second = services.request_check(actor=actor_for(vic), domain_id=domain.pk)

    assert first == second
    assert Job.objects.count() == 1


def test_strangers_ask_for_nothing(domain: Any, actor_for: Any, eve: Any) -> None:
    with pytest.raises(Missing):
        services.request_check(actor=actor_for(eve), domain_id=domain.pk)


def test_a_finding_is_given_to_somebody_of_the_cluster(
    locked: Any, domain: Any, nodes: Any, actor_for: Any, bo: Any, chen: Any, eve: Any, vic: Any
) -> None:
    report(nodes[2], nccl="2.25.1")
    check_drift(domain)
    finding = DriftFinding.objects.get()

    given = services.assign_finding(actor=actor_for(bo), finding_id=finding.pk, owner_id=chen.pk)
    with pytest.raises(Invalid):
        services.assign_finding(actor=actor_for(bo), finding_id=finding.pk, owner_id=eve.pk)
    with pytest.raises(NotAllowed):
        services.assign_finding(actor=actor_for(vic), finding_id=finding.pk, owner_id=vic.pk)

    assert given.owner == chen


def test_a_resolved_finding_is_given_to_nobody(
    locked: Any, domain: Any, nodes: Any, actor_for: Any, bo: Any
) -> None:
    report(nodes[2], nccl="2.25.1")
    check_drift(domain)
    DriftFinding.objects.update(resolved_at=clock.now())

    with pytest.raises(Conflict):
        services.assign_finding(actor=actor_for(bo), finding_id=DriftFinding.objects.get().pk, owner_id=bo.pk)


def test_old_history_goes_and_the_newest_check_stays(locked: Any, domain: Any, nodes: Any) -> None:
    check_drift(domain)
    report(nodes[2], nccl="2.25.1")
    check_drift(domain)
    DriftCheck.objects.update(checked_at=clock.now() - timedelta(days=1000))

    assert services.thin_history()["checks"] == 1
    assert DriftCheck.objects.get().verdict == "fail"


def test_a_check_needs_as_many_queries_for_many_nodes(
    locked: Any, domain: Any, nodes: Any, assert_constant_queries: Any
) -> None:
    def grow() -> None:
        for place in range(5, 15):
            report(factories.node(domain.cluster, f"n{place}", domain=domain, index=place))

    assert_constant_queries(lambda: services.compare_domain(domain_id=domain.pk), grow)
