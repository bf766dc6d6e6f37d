"""Rules with a kill switch, and quarantine by policy, in which a person's word wins."""

from __future__ import annotations

from typing import Any

import pytest
from django.utils import translation

from apps.core import clock
from apps.core.errors import Invalid, Missing, NotAllowed, Stale
from apps.core.speech import said
from apps.evidence.models import Evidence
from apps.fleet.models import Hold, HoldKind
from apps.fleet.services import hold_node, release_hold
from apps.health import queries, services
from apps.health.models import HealthState

pytestmark = pytest.mark.django_db

HEAT = {"rule_id": "gpu-temperature", "warn": 83.0, "fail": 90.0, "reason": "sensors lie"}


def _set(actor: Any, **changed: Any) -> Any:
    return services.set_rule(
        actor=actor, **{**HEAT, "cluster_id": None, "expected_version": 0, "enabled": True, **changed}
    )


def _health(node: Any) -> str:
    node.refresh_from_db()
    return str(node.health)


def test_a_rule_that_is_switched_off_is_forgotten_and_says_nothing(
    node: Any, see_heat: Any, actor_for: Any, ada: Any
) -> None:
    see_heat(node, 95)
    before = _health(node)
    _set(actor_for(ada), enabled=False)
    see_heat(node, 99)

    assert (before, _health(node)) == ("faulty", "unknown")
    assert not HealthState.objects.exists()


def test_a_cluster_sets_its_own_limits(
    node: Any, cluster: Any, other_cluster: Any, see_heat: Any, actor_for: Any, ada: Any
) -> None:
    _set(actor_for(ada), cluster_id=cluster.pk, warn=96.0, fail=99.0)
    see_heat(node, 95)

    limits = {
        pk: next(rule.fail for rule in queries.rules_of(pk) if rule.id == "gpu-temperature")
        for pk in (cluster.pk, other_cluster.pk)
    }
    assert _health(node) == "healthy"
    assert limits == {cluster.pk: 99.0, other_cluster.pk: 90.0}


def test_other_limits_are_held_against_what_was_seen_last(
    node: Any, cluster: Any, see_heat: Any, actor_for: Any, ada: Any
) -> None:
    see_heat(node, 95)
    before = _health(node)
    _set(actor_for(ada), cluster_id=cluster.pk, warn=96.0, fail=99.0)
    after = _health(node)
    _set(actor_for(ada), warn=20.0, fail=30.0)  # for all others: this cluster has limits of its own

    assert (before, after, _health(node)) == ("faulty", "healthy", "healthy")


def test_after_a_rule_was_set_the_same_report_is_looked_at_again(
    node: Any, see_heat: Any, actor_for: Any, ada: Any
) -> None:
    see_heat(node, 40, sha256="c" * 64, ago_s=60)
    pair = (node.pk, "c" * 64)
    before = queries.unsettled_observations([pair], now=clock.now())
    _set(actor_for(ada), warn=20.0)

    assert (before, queries.unsettled_observations([pair], now=clock.now())) == (set(), {pair})


def test_a_cluster_that_keeps_a_rule_keeps_what_it_settled(
    node: Any, cluster: Any, see_heat: Any, actor_for: Any, ada: Any
) -> None:
    _set(actor_for(ada), cluster_id=cluster.pk)
    see_heat(node, 95)
    _set(actor_for(ada), enabled=False)

    assert _health(node) == "faulty"


@pytest.mark.parametrize(
    ("changed", "pointer"),
    [
        ({"warn": 95.0}, "/warn"),
        ({"warn": None, "fail": None}, "/fail"),
        ({"fail": float("nan")}, "/fail"),
        ({"reason": " "}, "/reason"),
    ],
)
def test_a_wrong_limit_names_its_field(
    actor_for: Any, ada: Any, changed: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        _set(actor_for(ada), **changed)

    assert [error.pointer for error in refused.value.errors] == [pointer]


def test_rules_are_set_by_administrators_who_saw_them(
    cluster: Any, actor_for: Any, ada: Any, bo: Any
) -> None:
    with pytest.raises(NotAllowed):
        _set(actor_for(bo), cluster_id=cluster.pk)
    with pytest.raises(Missing):
        _set(actor_for(ada), rule_id="no-such-rule")
    _set(actor_for(ada))
    with pytest.raises(Stale):
        _set(actor_for(ada), warn=80.0)


def _automatic(actor: Any, cluster: Any, most_share: float = 0.2) -> None:
    services.set_policy(
        actor=actor,
        cluster_id=cluster.pk,
        expected_version=0,
        automatic_quarantine=True,
        most_share=most_share,
    )


def _held() -> list[tuple[str, bool, str]]:
    rows = Hold.objects.filter(released_at__isnull=True).order_by("node__name")
    return [(hold.node.name, hold.automatic, hold.reason) for hold in rows]


def test_without_a_policy_quarantine_is_only_proposed(
    node: Any, see_xid: Any, actor_for: Any, bo: Any
) -> None:
    see_xid(node, 79)

    (found,) = queries.proposals(actor_for(bo))

    assert _held() == []
    assert (found.node, found.proposal.step.value, found.proposal.held_back.value) == (
        node,
        "quarantine",
        "policy",
    )


def test_with_a_policy_a_faulty_node_leaves_scheduling(
    node: Any, cluster: Any, see_xid: Any, actor_for: Any, ada: Any
) -> None:
    _automatic(actor_for(ada), cluster)
    see_xid(node, 79)

    assert _held() == [("n0", True, "Xid 79")]


@pytest.mark.parametrize("is_automatic", [True, False])
def test_what_a_quarantine_rests_on_is_kept_for_good(
    node: Any, cluster: Any, see_heat: Any, actor_for: Any, ada: Any, bo: Any, is_automatic: bool
) -> None:
    see_heat(node, 95)
    seen = HealthState.objects.get(rule="gpu-temperature").sha256
    Evidence.objects.create(sha256=seen, size_bytes=1, stored_at=clock.now())
    if is_automatic:
        _automatic(actor_for(ada), cluster)
    else:
        services.quarantine_as_proposed(actor=actor_for(bo), node_id=node.pk, reason="hot")

    assert list(Evidence.objects.values_list("sha256", "pinned")) == [(seen, True)]


def test_why_the_policy_took_a_node_out_is_said_in_the_language_of_the_reader(
    node: Any, cluster: Any, see_heat: Any, actor_for: Any, ada: Any
) -> None:
    _automatic(actor_for(ada), cluster)
    see_heat(node, 99.0)
    hold = Hold.objects.get()
    with translation.override("zh-hans"):
        told = [said(hold.told_reason), said(hold.by_label)]

    assert [hold.reason, hold.by_label] == ["GPU temperature", "health policy"]
    assert told == ["GPU 温度", "健康策略"]
    Hold.objects.update(reason_said=None)  # as an earlier release kept it
    assert Hold.objects.get().told_reason == "GPU temperature"


def test_a_policy_takes_those_that_are_ill_already(
    nodes: Any, cluster: Any, see_xid: Any, actor_for: Any, ada: Any
) -> None:
    for node in nodes[:3]:
        see_xid(node, 79)
    _automatic(actor_for(ada), cluster)

    assert [name for name, *_rest in _held()] == ["n0", "n1"]


def test_no_more_than_the_share_of_a_domain_goes_by_itself(
    nodes: Any, cluster: Any, see_xid: Any, actor_for: Any, ada: Any
) -> None:
    _automatic(actor_for(ada), cluster)
    for node in nodes[:4]:
        see_xid(node, 79)

    assert [name for name, *_rest in _held()] == ["n0", "n1"]
    backs = {one.node.name: one.proposal.held_back.value for one in queries.proposals(actor_for(ada))}
    assert (backs["n2"], backs["n3"]) == ("share", "share")


def test_a_quarantine_that_a_person_lifted_is_not_set_again_for_the_same_fault(
    node: Any, cluster: Any, see_xid: Any, actor_for: Any, ada: Any, bo: Any
) -> None:
    _automatic(actor_for(ada), cluster)
    see_xid(node, 79, "10:00:00", sha256="a" * 64)
    release_hold(actor=actor_for(bo), hold_id=Hold.objects.get().pk, reason="false alarm")
    see_xid(node, 79, "10:00:00", "10:10:00", sha256="b" * 64)
    after_same = _held()
    see_xid(node, 48, "11:00:00", sha256="c" * 64)

    assert after_same == []
    assert [name for name, *_rest in _held()] == ["n0"]


def test_a_person_who_holds_a_node_is_not_overruled(
    node: Any, cluster: Any, see_xid: Any, actor_for: Any, ada: Any, bo: Any
) -> None:
    hold_node(actor=actor_for(bo), node_id=node.pk, kind=HoldKind.QUARANTINE, reason="mine")
    _automatic(actor_for(ada), cluster)
    see_xid(node, 79)

    assert _held() == [("n0", False, "mine")]


def test_proposals_need_as_many_queries_for_many_nodes(
    nodes: Any, see_xid: Any, actor_for: Any, bo: Any, assert_constant_queries: Any
) -> None:
    see_xid(nodes[0], 79)

    assert_constant_queries(
        lambda: queries.proposals(actor_for(bo)), lambda: [see_xid(node, 79) for node in nodes[1:]]
    )


def test_the_policy_is_for_administrators(cluster: Any, actor_for: Any, bo: Any, ada: Any) -> None:
    with pytest.raises(NotAllowed):
        _automatic(actor_for(bo), cluster)
    with pytest.raises(Invalid):
        _automatic(actor_for(ada), cluster, most_share=1.5)
    _automatic(actor_for(ada), cluster)
    with pytest.raises(Stale):
        _automatic(actor_for(ada), cluster)
