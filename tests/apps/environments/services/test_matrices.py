"""Locking, retiring and being known-good; and what the database itself refuses."""

from __future__ import annotations

from typing import Any

import pytest
from django.db import DatabaseError, transaction

from apps.audit.models import AuditEvent
from apps.core.errors import Conflict, Invalid, Stale
from apps.core.verdicts import Verdict
from apps.environments import queries, services
from apps.environments.models import MatrixVersion, ObservedVersion
from tests.apps.environments.support import report

pytestmark = pytest.mark.django_db


def _lock(actor: Any, version: MatrixVersion, **more: Any) -> MatrixVersion:
    return services.lock_matrix(
        actor=actor, version_id=version.pk, expected_version=more.pop("expected_version", 1), **more
    )


def test_a_locked_version_is_in_force_and_has_a_digest(
    draft: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    locked = _lock(actor_for(bo), draft)

    assert (locked.state, len(locked.digest), locked.locked_by) == ("locked", 64, bo)
    assert queries.matrix_in_force(domain) == locked


def test_the_version_before_it_retires(draft: Any, domain: Any, actor_for: Any, bo: Any) -> None:
    first = _lock(actor_for(bo), draft)
    second = _lock(actor_for(bo), services.draft_from_version(actor=actor_for(bo), version_id=first.pk))

    first.refresh_from_db()
    assert (first.state, second.state) == ("retired", "locked")
    assert queries.matrix_in_force(domain) == second


def test_two_locked_versions_of_one_matrix_are_refused_by_the_database(
    draft: Any, actor_for: Any, bo: Any
) -> None:
    _lock(actor_for(bo), draft)
    other = services.draft_from_version(actor=actor_for(bo), version_id=draft.pk)

    with pytest.raises(DatabaseError), transaction.atomic():
        MatrixVersion.objects.filter(pk=other.pk).update(state="locked")


def test_a_tie_must_be_decided_before_locking(draft_from: Any, actor_for: Any, bo: Any) -> None:
    draft = draft_from({}, {}, {"nccl": "2.27.3"}, {"nccl": "2.27.3"})

    with pytest.raises(Invalid) as refused:
        _lock(actor_for(bo), draft)

    assert refused.value.code == "undecided"
    assert [error.pointer for error in refused.value.errors] == ["/entries/nccl/values"]


def test_a_broken_rule_needs_a_reason_which_is_kept(draft_from: Any, actor_for: Any, bo: Any) -> None:
    draft = draft_from(*[{"fabric_manager": "565.57.01"}] * 4)

    with pytest.raises(Conflict) as refused:
        _lock(actor_for(bo), draft)
    locked = _lock(actor_for(bo), draft, override_reason="vendor says so")

    assert refused.value.fields["rules"] == ["fabric-manager-equals-driver"]
    assert locked.override_reason == "vendor says so"


def test_rules_see_what_nodes_run_where_the_matrix_names_no_version(
    draft: Any, nodes: Any, actor_for: Any, bo: Any
) -> None:
    for node in nodes:
        report(node, {"fabric_manager": "565.57.01"}, kind="collect_env")

    broken = [one.rule for one in queries.compatibility_of(draft) if one.verdict is Verdict.FAIL]

    assert broken == ["fabric-manager-equals-driver"]


def test_an_edited_draft_is_not_locked_unseen(draft: Any, actor_for: Any, bo: Any) -> None:
    services.remove_entry(actor=actor_for(bo), version_id=draft.pk, expected_version=1, component="os")

    with pytest.raises(Stale):
        _lock(actor_for(bo), draft)


def test_a_locked_version_is_not_locked_again(draft: Any, actor_for: Any, bo: Any) -> None:
    _lock(actor_for(bo), draft)

    with pytest.raises(Conflict) as refused:
        _lock(actor_for(bo), draft, expected_version=2)

    assert refused.value.code == "matrix_state"


def test_an_empty_draft_is_not_locked(draft: Any, actor_for: Any, bo: Any) -> None:
    draft.entries.all().delete()

    with pytest.raises(Invalid) as refused:
        _lock(actor_for(bo), draft)

    assert refused.value.code == "empty_matrix"


@pytest.mark.parametrize("event", ["update", "delete", "insert"])
def test_the_database_keeps_entries_of_a_locked_version(
    draft: Any, actor_for: Any, bo: Any, event: str
) -> None:
    _lock(actor_for(bo), draft)
    acts = {
        "update": lambda: draft.entries.filter(component="nccl").update(values=["2.28.3"]),
        "delete": lambda: draft.entries.filter(component="nccl").delete(),
        "insert": lambda: draft.entries.create(component="ofed", rule="exact", values=["1"]),
    }

    with pytest.raises(DatabaseError, match="a locked matrix stays as it is"), transaction.atomic():
        acts[event]()


def test_the_database_keeps_what_was_locked(draft: Any, actor_for: Any, bo: Any) -> None:
    _lock(actor_for(bo), draft)

    for change in ({"state": "draft"}, {"digest": "0" * 64}, {"override_reason": "x"}):
        with pytest.raises(DatabaseError, match="a locked matrix"), transaction.atomic():
            MatrixVersion.objects.filter(pk=draft.pk).update(**change)


def test_a_retired_version_needs_a_reason(draft: Any, actor_for: Any, bo: Any) -> None:
    locked = _lock(actor_for(bo), draft)

    with pytest.raises(Invalid):
        services.retire_matrix(
            actor=actor_for(bo), version_id=locked.pk, expected_version=locked.version, reason=" "
        )
    retired = services.retire_matrix(
        actor=actor_for(bo), version_id=locked.pk, expected_version=locked.version, reason="old"
    )

    assert retired.state == "retired"
    assert AuditEvent.objects.filter(action="matrix.retired").count() == 1


def test_a_draft_can_be_put_away(draft: Any, actor_for: Any, bo: Any) -> None:
    services.retire_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1, reason="wrong")

    assert AuditEvent.objects.filter(action="matrix.discarded").count() == 1


def _good(actor: Any, version: MatrixVersion) -> MatrixVersion:
    return services.mark_known_good(actor=actor, version_id=version.pk, basis={"launch": "x"}, digests=[])


def test_known_good_keeps_what_the_nodes_ran(
    draft: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    locked = _lock(actor_for(bo), draft)
    for node in nodes:
        report(node, gpu_vbios="96.00.99.00.01")

    good = _good(actor_for(bo), locked)

    wanted = queries.known_good_versions(good, domain)
    assert wanted["gpu_vbios"].values == ("96.00.99.00.01",)
    assert wanted["gpu_vbios"].rule.value == "exact"
    assert wanted["os"].values == ("Ubuntu 22.04.5 LTS",)


def test_known_good_is_earned_once(draft: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any) -> None:
    good = _good(actor_for(bo), _lock(actor_for(bo), draft))
    for node in nodes:
        report(node, gpu_vbios="96.00.99.00.01")

    again = _good(actor_for(bo), good)

    assert again.known_good_at == good.known_good_at
    assert queries.known_good_versions(again, domain)["gpu_vbios"].values == ("96.00.74.00.01",)
    assert AuditEvent.objects.filter(action="matrix.known_good").count() == 1


@pytest.mark.parametrize("event", ["update", "delete", "insert"])
def test_the_database_keeps_what_was_known_to_be_good(
    draft: Any, domain: Any, actor_for: Any, bo: Any, event: str
) -> None:
    good = _good(actor_for(bo), _lock(actor_for(bo), draft))
    row = ObservedVersion.objects.filter(matrix_version=good).first()
    assert row is not None
    acts = {
        "update": lambda: ObservedVersion.objects.filter(pk=row.pk).update(values=["1"]),
        "delete": row.delete,
        "insert": lambda: ObservedVersion.objects.create(
            matrix_version=good,
            domain=domain,
            component="ofed",
            values=["1"],
            node_count=1,
            observed_at=row.observed_at,
        ),
    }

    with pytest.raises(DatabaseError, match="known to be good stays"), transaction.atomic():
        acts[event]()


def test_hardware_is_nothing_to_go_back_to(draft_from: Any, domain: Any, actor_for: Any, bo: Any) -> None:
    draft = draft_from(*[{"gpu_count": "8"}] * 4)

    wanted = queries.known_good_versions(_lock(actor_for(bo), draft), domain)

    assert "gpu_count" in {row.component for row in draft.entries.all()}
    assert "gpu_count" not in wanted
