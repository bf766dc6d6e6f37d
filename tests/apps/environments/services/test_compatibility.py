"""Rules between components that a team adds, sets and switches off."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core.errors import Conflict, Invalid, Missing, NotAllowed, Stale
from apps.environments import queries, services
from apps.environments.engine.compat import built_in_rules
from apps.environments.models import MatrixVersion
from apps.fleet.models import Cluster, Domain
from tests import factories

pytestmark = pytest.mark.django_db
SHIPPED = "fabric-manager-equals-driver"
CANN = {
    "title": "CANN runs on this driver",
    "when": [{"component": "cann", "is": "present"}],
    "then": [{"component": "npu_driver", "is": "at_least", "value": "24.1.rc3"}],
    "source": "release notes of CANN",
}
FILE = "component,rule,values\ncann,exact,8.0.0\nnpu_driver,exact,23.0.6\n"
FABRIC = "component,rule,values\nfabric_manager,exact,570.86.15\ngpu_driver,exact,570.124.06\n"


@pytest.fixture
def set_rule(actor_for: Any, ada: Any, cluster: Cluster) -> Any:
    def set_(definition: dict[str, Any] | None, **other: Any) -> Any:
        asked = {"rule_id": "cann-on-driver", "cluster_id": cluster.pk, "expected_version": 0}
        asked |= {"actor": actor_for(ada), "reason": "ours", **other}
        return services.set_compatibility_rule(definition=definition, **asked)

    return set_


def draft(text: str, domain: Domain, actor: Any) -> MatrixVersion:
    return services.draft_from_file(actor=actor, domain_id=domain.pk, text=text, file_format="csv")


def broken(version: MatrixVersion) -> set[str]:
    return {one.rule for one in queries.compatibility_of(version) if one.is_broken}


def test_a_rule_of_the_team_blocks_the_lock(set_rule: Any, domain: Domain, actor_for: Any, bo: Any) -> None:
    version = draft(FILE, domain, actor_for(bo))
    assert "cann-on-driver" not in broken(version)

    set_rule(CANN)

    assert "cann-on-driver" in broken(version)
    with pytest.raises(Conflict) as refused:
        services.lock_matrix(
            actor=actor_for(bo), version_id=version.pk, expected_version=version.version, override_reason=""
        )
    assert refused.value.code == "rules_broken"


def test_a_shipped_rule_is_switched_off_in_one_cluster_only(
    set_rule: Any, domain: Domain, actor_for: Any, bo: Any
) -> None:
    version = draft(FABRIC, domain, actor_for(bo))
    assert SHIPPED in broken(version)

    set_rule(None, rule_id=SHIPPED)

    assert SHIPPED not in broken(version)
    elsewhere = factories.cluster("elsewhere")
    assert SHIPPED in {rule.id for rule in queries.rules_in_force(elsewhere.pk)}


def test_the_rule_of_the_cluster_goes_before_the_one_for_all(set_rule: Any, cluster: Cluster) -> None:
    set_rule(CANN | {"title": "everywhere"}, cluster_id=None)
    set_rule(CANN | {"title": "here"})

    elsewhere = factories.cluster("elsewhere")
    titles = {
        pk: [rule.title for rule in queries.rules_in_force(pk) if rule.id == "cann-on-driver"]
        for pk in (cluster.pk, elsewhere.pk)
    }

    assert titles == {cluster.pk: ["here"], elsewhere.pk: ["everywhere"]}


def test_a_rule_is_given_back_to_what_is_shipped(
    set_rule: Any, actor_for: Any, ada: Any, cluster: Cluster
) -> None:
    set_rule(None, rule_id=SHIPPED)

    services.clear_compatibility_rule(
        actor=actor_for(ada), rule_id=SHIPPED, cluster_id=cluster.pk, expected_version=1
    )

    assert queries.rules_in_force(cluster.pk) == built_in_rules()


def test_who_saw_an_older_rule_does_not_overwrite_it(
    set_rule: Any, actor_for: Any, ada: Any, cluster: Cluster
) -> None:
    set_rule(CANN)
    set_rule(CANN | {"title": "newer"}, expected_version=1)

    for version in (0, 1):
        with pytest.raises(Stale):
            set_rule(CANN, expected_version=version)
    with pytest.raises(Stale):
        services.clear_compatibility_rule(
            actor=actor_for(ada), rule_id="cann-on-driver", cluster_id=cluster.pk, expected_version=1
        )
    assert queries.compatibility_rules(cluster.pk)[-1].title == "newer"


@pytest.mark.parametrize(
    ("change", "pointer"),
    [
        ({"then": []}, "/definition/then"),
        ({"then": [{"component": "npu_driver", "is": "like", "value": "1"}]}, "/definition/then/0/is"),
        ({"then": [{"component": "npu_driver", "is": "equal", "value": 24.1}]}, "/definition/then/0/value"),
        ({"source": " "}, "/definition/source"),
        ({"id": "other"}, "/definition/id"),
        ({"if": "x"}, "/definition/if"),
    ],
)
def test_a_rule_that_is_none_is_refused_where_it_is_wrong(
    set_rule: Any, change: dict[str, Any], pointer: str
) -> None:
    with pytest.raises(Invalid) as refused:
        set_rule(CANN | change)

    assert pointer in [one.pointer for one in refused.value.errors]


def test_a_rule_needs_a_reason_and_an_administrator(set_rule: Any, actor_for: Any, bo: Any) -> None:
    with pytest.raises(Invalid):
        set_rule(CANN, reason=" ")
    with pytest.raises(NotAllowed):
        set_rule(CANN, actor=actor_for(bo))
    with pytest.raises(Missing):
        set_rule(None)
