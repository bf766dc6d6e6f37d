"""A matrix of a whole cluster: drafted from all its domains, in force beneath theirs, and checked with them."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.environments import queries, services
from apps.environments.models import Matrix
from tests import factories
from tests.apps.environments.support import check_drift, report

pytestmark = pytest.mark.django_db


@pytest.fixture
def other_domain(domain: Any) -> Any:
    """A second domain of the cluster, with one node that reports."""
    second = factories.domain(domain.cluster, "so")
    report(factories.node(domain.cluster, "m1", domain=second, index=9))
    return second


def _locked(actor: Any, **home: Any) -> Any:
    text = home.pop("text")
    draft = services.draft_from_file(actor=actor, text=text, file_format="csv", **home)
    return services.lock_matrix(actor=actor, version_id=draft.pk, expected_version=1)


@pytest.fixture
def wide(domain: Any, other_domain: Any, actor_for: Any, bo: Any) -> Any:
    """Asks every domain for two versions."""
    text = "component,rule,values\nnccl,exact,2.26.2\nos,exact,Ubuntu 22.04.5 LTS\n"
    return _locked(actor_for(bo), cluster_id=domain.cluster_id, text=text)


def test_a_cluster_is_drafted_from_all_its_domains(
    nodes: Any, other_domain: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    for node in nodes:
        report(node, nccl="2.25.1")

    draft = services.draft_from_reports(actor=actor_for(bo), cluster_id=domain.cluster_id)

    assert (draft.matrix.domain, draft.matrix.name) == (None, f"{domain.cluster.name} environment")
    assert draft.entries.get(component="nccl").values == ["2.25.1"]
    assert [note["nodes"] for note in draft.draft_notes if note["component"] == "nccl"] == [["m1"]]


def test_the_cluster_has_one_matrix_however_often_it_is_drafted(wide: Any, actor_for: Any, bo: Any) -> None:
    again = services.draft_from_reports(actor=actor_for(bo), cluster_id=wide.matrix.cluster_id)

    assert (again.matrix_id, again.number, Matrix.objects.count()) == (wide.matrix_id, 2, 1)


def test_it_is_in_force_where_a_domain_has_none(wide: Any, other_domain: Any) -> None:
    intent = queries.intent_of(other_domain)

    assert (intent.version, intent.wide) == (wide, None)
    assert {entry.component for entry in intent.entries} == {"nccl", "os"}


def test_the_matrix_of_the_domain_wins_where_both_state_a_component(
    wide: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    own = _locked(actor_for(bo), domain_id=domain.pk, text="component,rule,values\nnccl,exact,2.25.1\n")
    for node in nodes:
        report(node, nccl="2.25.1")

    intent = queries.intent_of(domain)
    check = check_drift(domain)

    asked = {entry.component: entry.values for entry in intent.entries}
    assert asked == {"nccl": ("2.25.1",), "os": ("Ubuntu 22.04.5 LTS",)}
    assert (intent.version, intent.wide, intent.of_wide) == (own, wide, {"os"})
    assert (check.matrix_version, check.wide_version) == (own, wide)
    assert not queries.open_findings(domain=domain).filter(component__in=["nccl", "os"]).exists()


def test_what_only_the_cluster_asks_for_is_a_finding_too(
    wide: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    _locked(actor_for(bo), domain_id=domain.pk, text="component,rule,values\nnccl,exact,2.26.2\n")
    for node in nodes:
        report(node, os="Kylin V10")

    check_drift(domain)

    found = queries.open_findings(domain=domain).filter(component="os")
    assert {(row.kind, row.intended, row.reported) for row in found} == {
        ("drift", "Ubuntu 22.04.5 LTS", "Kylin V10")
    }


def test_a_new_version_beneath_makes_another_check(
    wide: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    _locked(actor_for(bo), domain_id=domain.pk, text="component,rule,values\nnccl,exact,2.26.2\n")
    first = check_drift(domain)
    draft = services.draft_from_version(actor=actor_for(bo), version_id=wide.pk)
    services.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)

    second = check_drift(domain)

    assert (first.wide_version_id, second.wide_version_id) == (wide.pk, draft.pk)
    assert first.input_digest == second.input_digest  # it asks for the same


def test_all_its_domains_are_checked_once_it_is_locked(
    wide: Any, domain: Any, actor_for: Any, bo: Any
) -> None:
    jobs = services.request_checks_of(actor=actor_for(bo), version=wide)

    assert len({job.arguments["domain_id"] for job in jobs}) == 2


@pytest.mark.parametrize("both", [True, False])
def test_a_draft_is_for_a_domain_or_a_cluster(domain: Any, actor_for: Any, bo: Any, both: bool) -> None:
    home = {"domain_id": domain.pk, "cluster_id": domain.cluster_id} if both else {}
    with pytest.raises(Invalid) as refusal:
        services.draft_from_reports(actor=actor_for(bo), **home)
    assert refusal.value.code == "home"


def test_a_cluster_that_reports_nothing_is_not_drafted(domain: Any, actor_for: Any, bo: Any) -> None:
    with pytest.raises(Conflict) as refusal:
        services.draft_from_reports(actor=actor_for(bo), cluster_id=domain.cluster_id)
    assert refusal.value.code == "no_reports"


def test_only_who_operates_the_cluster_drafts_for_it(domain: Any, actor_for: Any, vic: Any, eve: Any) -> None:
    with pytest.raises(NotAllowed):
        services.draft_from_reports(actor=actor_for(vic), cluster_id=domain.cluster_id)
    with pytest.raises(Missing):
        services.draft_from_reports(actor=actor_for(eve), cluster_id=domain.cluster_id)


def test_the_page_says_which_matrix_wins(
    wide: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any, client_of: Any
) -> None:
    own = _locked(actor_for(bo), domain_id=domain.pk, text="component,rule,values\nnccl,exact,2.26.2\n")
    check_drift(domain)
    said = "Where both state a component, the matrix of the domain wins."

    for address in (f"domains/{domain.pk}/drift/", f"versions/{own.pk}/"):
        page = client_of(bo).get(f"/environment/{address}").content.decode()
        assert said in page
        assert f"/environment/versions/{wide.pk}/" in page


def test_the_page_says_that_the_matrix_beneath_changed_since_the_check(
    wide: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any, client_of: Any
) -> None:
    _locked(actor_for(bo), domain_id=domain.pk, text="component,rule,values\nnccl,exact,2.26.2\n")
    check_drift(domain)
    address, said = f"/environment/domains/{domain.pk}/drift/", "has changed since the newest check"
    before = client_of(bo).get(address).content.decode()
    draft = services.draft_from_version(actor=actor_for(bo), version_id=wide.pk)
    services.lock_matrix(actor=actor_for(bo), version_id=draft.pk, expected_version=1)

    assert said not in before
    assert said in client_of(bo).get(address).content.decode()


def test_the_api_says_by_which_matrix_each_component_is_asked_for(
    wide: Any, nodes: Any, domain: Any, actor_for: Any, bo: Any, api: Any
) -> None:
    own = _locked(actor_for(bo), domain_id=domain.pk, text="component,rule,values\nnccl,exact,2.26.2\n")

    body = api(bo).get(f"/api/v1/domains/{domain.pk}/intent/").json()

    assert (body["matrix_version_id"], body["wide_version_id"]) == (own.pk, wide.pk)
    assert {one["component"]: one["matrix_version_id"] for one in body["entries"]} == {
        "nccl": own.pk,
        "os": wide.pk,
    }
