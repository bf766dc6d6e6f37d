"""Asking for a change: what is refused, and where; what is kept."""

from __future__ import annotations

import pytest

from apps.audit.models import AuditEvent
from apps.changes import queries, services
from apps.changes.models import Stage, Target
from apps.changes.services import Content, Wish
from apps.core.actor import Via
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from tests import factories
from tests.apps.changes.conftest import NEW, OLD
from tests.callers import actor_for


def test_a_draft_plans_stages_and_keeps_what_each_node_runs(drafted):
    change = drafted()
    stages = [(one.name, one.targets.count()) for one in Stage.objects.filter(change=change)]
    assert stages == [("one node", 1), ("its sub-domain", 2), ("the rest", 3)]
    assert set(Target.objects.values_list("before", flat=True)) == {OLD}
    assert (change.state, change.revision) == ("draft", 1)


def test_the_audit_trail_gets_a_summary_bound_by_the_digest(drafted):
    change = drafted()
    body = AuditEvent.objects.latest("seq").body
    assert change.content_digest in body
    assert "sn-[01-06]" in body


@pytest.mark.parametrize(
    ("said", "pointer"),
    [
        ({"title": " "}, "/title"),
        ({"reason": ""}, "/reason"),
        ({"wishes": ()}, "/items"),
        ({"wishes": (Wish(component="nccl", values=(" ",)),)}, "/items/0"),
        (
            {"wishes": (Wish(component="nccl", values=("1",)), Wish(component=" nccl", values=("2",)))},
            "/items/1/component",
        ),
        ({"approvals_needed": 0}, "/approvals_needed"),
        ({"soak_s": (1,)}, "/soak_s"),
        ({"soak_s": (-1, 0)}, "/soak_s"),
    ],
)
def test_what_is_wrong_is_named_where_it_is(drafted, said, pointer):
    with pytest.raises(Invalid) as refused:
        drafted(**said)
    assert pointer in [error.pointer for error in refused.value.errors]


def test_a_rollback_is_not_asked_for_but_started(domain, bo):
    content = Content(title="Back", reason="slow", wishes=(Wish(component="nccl", values=(OLD,)),))
    with pytest.raises(Invalid) as refused:
        services.draft_change(actor=actor_for(bo), domain_id=domain.pk, kind="rollback", content=content)
    assert [error.pointer for error in refused.value.errors] == ["/kind"]


def test_nodes_of_another_domain_are_refused(drafted, cluster):
    stranger = factories.node(cluster, "elsewhere", domain=factories.domain(cluster))
    with pytest.raises(Invalid) as refused:
        drafted([stranger.pk])
    assert [error.pointer for error in refused.value.errors] == ["/nodes"]


def test_a_domain_without_nodes_has_nothing_to_change(cluster, bo):
    empty = factories.domain(cluster)
    content = Content(title="New", reason="why", wishes=(Wish(component="nccl", values=(NEW,)),))
    with pytest.raises(Invalid):
        services.draft_change(actor=actor_for(bo), domain_id=empty.pk, kind="nccl", content=content)


def test_a_domain_that_is_not_there_is_missing_and_so_is_one_of_another_cluster(domain, eve, bo):
    content = Content(title="New", reason="why", wishes=(Wish(component="nccl", values=(NEW,)),))
    for actor, domain_id in ((actor_for(bo), domain.pk + 1000), (actor_for(eve), domain.pk)):
        with pytest.raises(Missing):
            services.draft_change(actor=actor, domain_id=domain_id, kind="nccl", content=content)


def test_a_token_asks_only_with_its_scope(drafted, bo, domain):
    content = Content(title="New", reason="why", wishes=(Wish(component="nccl", values=(NEW,)),))
    ask = {"domain_id": domain.pk, "kind": "nccl", "content": content}
    with pytest.raises(NotAllowed) as refused:
        services.draft_change(actor=actor_for(bo, via=Via.TOKEN, token_scopes=frozenset({"read"})), **ask)
    assert refused.value.code == "token_scope"
    by_token = actor_for(bo, via=Via.TOKEN, token_scopes=frozenset({"change:write"}))
    assert services.draft_change(actor=by_token, **ask).requester == bo


def test_a_change_that_has_started_is_not_edited(started, bo):
    change = started()
    content = Content(title="Late", reason="why", wishes=(Wish(component="nccl", values=(NEW,)),))
    with pytest.raises(Conflict):
        services.edit_change(
            actor=actor_for(bo), change_id=change.pk, expected_version=change.version, content=content
        )


def test_taking_back_needs_a_reason_and_the_version_that_was_seen(submitted, bo):
    change = submitted()
    cancel = {"actor": actor_for(bo), "change_id": change.pk}
    with pytest.raises(Invalid):
        services.cancel_change(**cancel, expected_version=change.version, reason="")
    with pytest.raises(Stale):
        services.cancel_change(**cancel, expected_version=change.version - 1, reason="not now")
    assert (
        services.cancel_change(**cancel, expected_version=change.version, reason="not now").state
        == "cancelled"
    )


def test_differences_are_grouped_over_nodes(drafted, nodes):
    factories.report(nodes[0], nccl="2.18.1")
    change = drafted()
    found = queries.differences_of([change.pk])[change.pk]
    assert [(one.before, one.wanted, one.nodes) for one in found] == [(OLD, NEW, 5), ("2.18.1", NEW, 1)]
