"""Drafts: from reports, versions and files, and their edits."""

from __future__ import annotations

from typing import Any

import pytest

from apps.audit.models import AuditEvent
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from apps.core.rights import TokenScope
from apps.environments import queries, services
from apps.environments.models import MatrixEntry
from tests import factories
from tests.apps.environments.support import report


def test_a_draft_asks_for_what_most_nodes_report(draft_from: Any) -> None:
    draft = draft_from({}, {}, {}, {"nccl": "2.25.1"})

    assert {row.component: (row.rule, row.values) for row in draft.entries.all()} == {
        "gpu_driver": ("exact", ["570.86.15"]),
        "gpu_vbios": ("uniform", []),
        "nccl": ("exact", ["2.26.2"]),
        "os": ("same_branch", ["Ubuntu 22.04.5 LTS"]),
    }
    assert draft.draft_notes == [
        {"kind": "minority", "component": "nccl", "values": ["2.25.1"], "nodes": ["n4"], "of_nodes": 0}
    ]


def test_nodes_that_have_nothing_in_common_give_no_draft(
    nodes: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    for node, name in zip(nodes[:3], ("nccl", "os", "kernel"), strict=True):
        report(node, {name: "1.2.3"})

    with pytest.raises(Conflict) as refused:
        services.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk)

    assert refused.value.code == "no_majority"


def test_a_domain_that_never_reported_gives_no_draft(
    nodes: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    with pytest.raises(Conflict) as refused:
        services.draft_from_reports(actor=actor_for(bo), domain_id=domain.pk)

    assert refused.value.code == "no_reports"


def test_the_next_draft_starts_with_the_entries_of_a_version(draft: Any, actor_for: Any, bo: Any) -> None:
    after = services.draft_from_version(actor=actor_for(bo), version_id=draft.pk, note="next")

    assert (after.matrix_id, after.number, after.note) == (draft.matrix_id, 2, "next")
    assert queries.entries_of(after.entries.all()) == queries.entries_of(draft.entries.all())


def test_another_domain_starts_from_the_version_of_this_one(
    draft: Any, other_cluster: Any, actor_for: Any, bo: Any, ada: Any
) -> None:
    elsewhere = factories.domain(other_cluster, "far")

    with pytest.raises(Missing):  # who drafts there has to see this version, too
        services.draft_from_version(actor=actor_for(bo), version_id=draft.pk, domain_id=elsewhere.pk)
    copy = services.draft_from_version(actor=actor_for(ada), version_id=draft.pk, domain_id=elsewhere.pk)

    assert (copy.matrix.domain, copy.number, draft.matrix.versions.count()) == (elsewhere, 1, 1)
    assert queries.entries_of(copy.entries.all()) == queries.entries_of(draft.entries.all())


def test_a_reader_of_a_version_drafts_from_it_where_he_operates_only(
    draft: Any, domain: Any, other_cluster: Any, actor_for: Any, bo: Any, vic: Any
) -> None:
    factories.grant(vic, "operator", scope=other_cluster.scope)
    elsewhere = factories.domain(other_cluster, "far")

    copy = services.draft_from_version(actor=actor_for(vic), version_id=draft.pk, domain_id=elsewhere.pk)
    for home in ({}, {"domain_id": domain.pk}):
        with pytest.raises(NotAllowed):
            services.draft_from_version(actor=actor_for(vic), version_id=draft.pk, **home)

    assert copy.matrix.cluster == other_cluster


def test_an_edit_is_one_event_with_before_and_after(draft: Any, actor_for: Any, bo: Any) -> None:
    services.set_entry(
        actor=actor_for(bo),
        version_id=draft.pk,
        expected_version=1,
        component="nccl",
        rule="at_least",
        values=["2.26.0"],
    )

    event = AuditEvent.objects.get(action="matrix.edited")
    assert '"2.26.0"' in event.body
    assert draft.entries.get(component="nccl").values == ["2.26.0"]


def test_an_edit_on_an_old_page_is_stale(draft: Any, actor_for: Any, bo: Any) -> None:
    edit = {"actor": actor_for(bo), "version_id": draft.pk, "component": "nccl", "rule": "exact"}
    services.set_entry(**edit, expected_version=1, values=["2.27.3"])

    with pytest.raises(Stale):
        services.set_entry(**edit, expected_version=1, values=["2.28.3"])

    assert draft.entries.get(component="nccl").values == ["2.27.3"]


@pytest.mark.parametrize(
    ("component", "rule", "values", "pointer"),
    [
        ("nccl", "about", ["2"], "/rule"),
        ("No Such", "exact", ["2"], "/component"),
        ("nccl", "exact", [], "/values"),
        ("nccl", "exact", ["1", "2"], "/values"),
        ("nccl", "one_of", [" "], "/values"),
        ("nccl", "exact", ["9" * 301], "/values"),
    ],
)
def test_a_wrong_entry_names_its_field(
    draft: Any, actor_for: Any, bo: Any, component: str, rule: str, values: list[str], pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        services.set_entry(
            actor=actor_for(bo),
            version_id=draft.pk,
            expected_version=1,
            component=component,
            rule=rule,
            values=values,
        )

    assert [error.pointer for error in refused.value.errors] == [pointer]


def test_an_entry_is_removed(draft: Any, actor_for: Any, bo: Any) -> None:
    services.remove_entry(actor=actor_for(bo), version_id=draft.pk, expected_version=1, component="os")

    assert not draft.entries.filter(component="os").exists()


def test_a_file_takes_the_place_of_all_entries(draft: Any, actor_for: Any, bo: Any) -> None:
    text = "component,rule,values,scheme\nour_agent,exact,1.2.3,dotted_numeric\nnccl,,2.27.3,\n"

    version = services.replace_entries(
        actor=actor_for(bo), version_id=draft.pk, expected_version=1, text=text, file_format="csv"
    )

    asked = {entry.component: entry for entry in queries.entries_of(version.entries.all())}
    assert sorted(asked) == ["nccl", "our_agent"]
    assert asked["our_agent"].scheme.value == "dotted_numeric"
    assert (asked["nccl"].rule.value, asked["nccl"].scheme.value) == ("exact", "nccl")


def test_a_file_with_faults_changes_nothing(draft: Any, actor_for: Any, bo: Any) -> None:
    with pytest.raises(Invalid) as refused:
        services.replace_entries(
            actor=actor_for(bo),
            version_id=draft.pk,
            expected_version=1,
            text="component,rule\nnccl,about\n",
            file_format="csv",
        )

    assert [error.pointer for error in refused.value.errors] == ["row 2, column rule"]
    assert draft.entries.count() == 4


def test_only_operators_of_the_cluster_draft(domain: Any, actor_for: Any, vic: Any, eve: Any) -> None:
    with pytest.raises(NotAllowed):
        services.draft_from_reports(actor=actor_for(vic), domain_id=domain.pk)
    with pytest.raises(Missing):
        services.draft_from_reports(actor=actor_for(eve), domain_id=domain.pk)


def test_a_token_needs_its_scope(draft: Any, actor_for: Any, bo: Any) -> None:
    actor = actor_for(bo, token_scopes=frozenset({TokenScope.READ}))

    with pytest.raises(NotAllowed) as refused:
        services.draft_from_version(actor=actor, version_id=draft.pk)

    assert refused.value.code == "token_scope"
    assert MatrixEntry.objects.filter(matrix_version__matrix=draft.matrix).count() == 4
