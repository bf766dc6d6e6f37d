"""Role × endpoint of environments, over REST and on pages. What is missing here fails the last tests."""

from __future__ import annotations

from typing import Any

import pytest
from django.urls import reverse

from apps.core.rights import TokenScope
from apps.environments import urls
from apps.environments.api.urls import urlpatterns
from apps.environments.models import CompatibilityEdit, DriftFinding
from tests import factories
from tests.apps.environments.support import check_drift

pytestmark = pytest.mark.django_db

READ = {"vic": 200, "bo": 200, "chen": 200, "eve": 404}
LIST = READ | {"eve": 200}
OPERATE = {"vic": 403, "chen": 403, "eve": 404}
FILE = {"text": "component,values\nnccl,2.27.3\n", "file_format": "csv"}
ENTRY = {"rule": "exact", "values": ["2.27.3"]}
POLICY = {"stale_after_s": 7200, "check_every_s": 600}
RULE = {"definition": None, "reason": "not here"}
JOB = {"text": "export NCCL_P2P_DISABLE=1\n"}

# name of the address, method, body, status by person
TABLE: list[tuple[str, str, Any, dict[str, int]]] = [
    ("matrices", "get", None, LIST),
    ("versions", "get", None, LIST),
    ("versions", "post", {"domain_id": "{domain}"}, OPERATE | {"bo": 201}),
    ("versions", "post", {"cluster": "hall-1"}, OPERATE | {"bo": 201}),
    ("versions", "post", {"cluster": "hall-1", **FILE}, OPERATE | {"bo": 201}),
    ("versions", "post", {"domain_id": "{domain}", **FILE}, OPERATE | {"bo": 201}),
    ("versions", "post", {"from_version_id": "{version}"}, OPERATE | {"bo": 201}),
    ("versions", "post", {}, {"bo": 400}),
    ("versions", "post", {"domain_id": 999_999}, {"bo": 404}),
    ("version", "get", None, READ),
    ("entries", "put", FILE, OPERATE | {"bo": 200}),
    ("entry", "put", ENTRY, OPERATE | {"bo": 200}),
    ("entry", "delete", None, OPERATE | {"bo": 200}),
    ("lock", "post", {}, OPERATE | {"bo": 200}),
    ("retire", "post", {"reason": "x"}, OPERATE | {"bo": 200}),
    ("compatibility", "get", None, READ),
    ("differences", "get", None, READ),
    ("export", "get", None, READ),
    ("intent", "get", None, READ),
    ("checks", "get", None, LIST),
    ("checks", "post", {"domain_id": "{domain}"}, {"vic": 202, "bo": 202, "chen": 202, "eve": 404}),
    ("check", "get", None, READ),
    ("findings", "get", None, LIST),
    ("finding", "get", None, READ),
    ("finding", "patch", {"owner_id": None}, OPERATE | {"bo": 200}),
    ("policy", "get", None, READ),
    ("policy", "put", POLICY, {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
    ("compatibility_rules", "get", None, LIST | {"eve": 404}),
    ("compatibility_rule", "put", RULE, {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
    ("compatibility_rule", "delete", None, {"vic": 403, "bo": 403, "ada": 204, "eve": 404}),
    ("facts", "get", None, LIST),
    ("reported", "get", None, READ),
    ("hardware_faults", "get", None, READ),
    ("components", "get", None, LIST),
    ("job_checks", "post", JOB, LIST),
]
SHIPPED = "fabric-manager-equals-driver"


@pytest.fixture
def there(draft: Any, nodes: Any, domain: Any) -> dict[str, Any]:
    """A draft, a check and an open finding, by the names that addresses use."""
    check = check_drift(domain)
    finding = DriftFinding.objects.create(
        domain=domain,
        node=nodes[0],
        component="ofed",
        kind="drift",
        outcome="missing",
        reason="not_reported",
        verdict="fail",
        first_seen_at=check.checked_at,
        last_seen_at=check.checked_at,
    )
    CompatibilityEdit.objects.create(
        rule=SHIPPED, cluster=domain.cluster, reason="on trial", changed_at=check.checked_at
    )
    keys = {"check": check.pk, "finding": finding.pk, "reported": nodes[0].pk, "intent": domain.pk}
    return {"domain": domain, "version": draft, "keys": keys, "node": nodes[0], "finding": finding}


def _address(name: str, there: dict[str, Any]) -> str:
    route = next(str(one.pattern) for one in urlpatterns if one.name == name)
    key = there["keys"].get(name, there["version"].pk)
    filled = route.replace("<int:pk>", str(key)).replace("<slug:component>", "nccl")
    filled = filled.replace("<slug:slug>", there["domain"].cluster.slug).replace("<slug:rule_id>", SHIPPED)
    if name.startswith("compatibility_rule"):
        return f"/api/v1/{filled}?cluster={there['domain'].cluster.slug}"
    return f"/api/v1/{filled}" + (f"?to={there['version'].pk}" if name == "differences" else "")


def _body(body: Any, there: dict[str, Any]) -> Any:
    ids = {"{domain}": there["domain"].pk, "{version}": there["version"].pk}
    return (
        {key: ids.get(value, value) if isinstance(value, str) else value for key, value in body.items()}
        if body
        else body
    )


def _send(
    caller: Any, method: str, name: str, body: Any, there: dict[str, Any], version: int | None = None
) -> Any:
    seen = (
        version
        if version is not None
        else 0
        if name == "policy"
        else 1
        if name in _RULES
        else there["version"].version
    )
    headers = {"If-Match": f'"v{seen}"'}
    return getattr(caller, method)(_address(name, there), _body(body, there), format="json", headers=headers)


@pytest.mark.parametrize(("name", "method", "body", "answers"), TABLE)
def test_each_role_gets_its_answer(
    name: str, method: str, body: Any, answers: dict[str, int], there: Any, statuses_of: Any, api: Any
) -> None:
    found = statuses_of(answers, lambda person: _send(api(person), method, name, body, there))

    assert found == answers


@pytest.mark.parametrize(
    ("name", "method", "body"),
    [(name, method, body) for name, method, body, _who in TABLE if method != "get" and name != "job_checks"],
)
def test_a_token_that_only_reads_changes_nothing(
    name: str, method: str, body: Any, there: Any, api: Any, bo: Any
) -> None:
    answer = _send(api(factories.bearer(bo, TokenScope.READ)), method, name, body, there)

    assert answer.status_code == 403
    there["version"].refresh_from_db()
    assert (there["version"].state, there["version"].version) == ("draft", 1)


@pytest.mark.parametrize(
    ("name", "method", "body"),
    [
        ("entries", "put", FILE),
        ("entry", "put", ENTRY),
        ("entry", "delete", None),
        ("lock", "post", {}),
        ("retire", "post", {"reason": "x"}),
        ("policy", "put", POLICY),
    ],
)
def test_a_writer_names_the_version_that_was_seen(
    name: str, method: str, body: Any, there: Any, api: Any, ada: Any
) -> None:
    without = getattr(api(ada), method)(_address(name, there), body, format="json")
    stale = _send(api(ada), method, name, body, there, version=7)

    assert (without.status_code, without.json()["code"]) == (428, "version_required")
    assert (stale.status_code, stale.json()["code"]) == (412, "stale")


def test_a_token_with_its_scope_drafts_and_locks(there: Any, api: Any, bo: Any) -> None:
    caller = api(factories.bearer(bo, TokenScope.READ, TokenScope.ENVIRONMENT_WRITE))

    locked = _send(caller, "post", "lock", {}, there)

    assert (locked.status_code, locked.json()["state"], locked["ETag"]) == (200, "locked", '"v2"')


def test_every_endpoint_is_in_the_table() -> None:
    assert {one.name for one in urlpatterns} == {name for name, *_rest in TABLE}


# name of the page, method, status by person
PAGES: list[tuple[str, str, dict[str, int]]] = [
    ("overview", "get", LIST),
    ("cluster", "get", READ),
    ("policy", "get", {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
    ("compatibility_rules", "get", READ),
    ("add_compatibility_rule", "get", {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
    ("compatibility_rule", "get", {"vic": 403, "bo": 403, "ada": 200, "eve": 404}),
    ("clear_compatibility_rule", "post", {"vic": 403, "bo": 403, "ada": 302, "eve": 404}),
    ("matrix", "get", READ),
    ("version", "get", READ),
    ("compare", "get", READ),
    ("export", "get", READ),
    ("lock", "post", OPERATE | {"bo": 302}),
    ("retire", "post", OPERATE | {"bo": 302}),
    ("draft_from_version", "post", OPERATE | {"bo": 302}),
    ("import", "get", OPERATE | {"bo": 200}),
    ("add_entry", "get", OPERATE | {"bo": 200}),
    ("entry", "get", OPERATE | {"bo": 200}),
    ("remove_entry", "post", OPERATE | {"bo": 302}),
    ("drift", "get", READ),
    ("check", "post", {"vic": 302, "bo": 302, "chen": 302, "eve": 404}),
    ("new_draft", "get", OPERATE | {"bo": 200}),
    ("draft_from_reports", "post", OPERATE | {"bo": 302}),
    ("draft_from_file", "post", OPERATE | {"bo": 200}),
    ("draft_from_other", "post", OPERATE | {"bo": 404}),
    ("cluster_draft_from_other", "post", OPERATE | {"bo": 404}),
    ("new_cluster_draft", "get", OPERATE | {"bo": 200}),
    ("cluster_draft_from_reports", "post", OPERATE | {"bo": 302}),
    ("cluster_draft_from_file", "post", OPERATE | {"bo": 200}),
    ("assign", "post", OPERATE | {"bo": 302}),
    ("job_check", "get", LIST),
    ("node", "get", READ),
    ("holders", "get", LIST),
]
_RULES = (
    "compatibility_rules",
    "add_compatibility_rule",
    "compatibility_rule",
    "clear_compatibility_rule",
)
_OF_DOMAIN = ("drift", "check", "new_draft", "draft_from_reports", "draft_from_file", "draft_from_other")
_OF_CLUSTER = (
    "new_cluster_draft",
    "cluster_draft_from_reports",
    "cluster_draft_from_file",
    "cluster_draft_from_other",
)


def _page(name: str, there: dict[str, Any]) -> str:
    keys: dict[str, list[Any]] = {
        "overview": [],
        "job_check": [],
        "cluster": [there["domain"].cluster.slug],
        "policy": [there["domain"].cluster.slug],
        "matrix": [there["version"].matrix_id],
        "entry": [there["version"].pk, "nccl"],
        "remove_entry": [there["version"].pk, "nccl"],
        "assign": [there["finding"].pk],
        "node": [there["node"].pk],
        "holders": ["nccl"],
        "compatibility_rules": [],
        "add_compatibility_rule": [],
        "compatibility_rule": [SHIPPED],
        "clear_compatibility_rule": [SHIPPED],
    }
    keys |= {one: [there["domain"].pk] for one in _OF_DOMAIN}
    keys |= {one: [there["domain"].cluster.slug] for one in _OF_CLUSTER}
    place = reverse(f"environments:{name}", args=keys.get(name, [there["version"].pk]))
    if name in _RULES:
        return place + f"?cluster={there['domain'].cluster.slug}"
    return place + (f"?to={there['version'].pk}" if name == "compare" else "")


@pytest.mark.parametrize(("name", "method", "answers"), PAGES)
def test_each_role_gets_its_page(
    name: str, method: str, answers: dict[str, int], there: Any, statuses_of: Any, client_of: Any
) -> None:
    sent = {"version": 1, "reason": "x"} if method == "post" else {}

    place = _page(name, there)
    found = statuses_of(answers, lambda person: getattr(client_of(person), method)(place, sent))

    assert found == answers


@pytest.mark.parametrize("name", [name for name, *_rest in PAGES])
def test_nobody_sees_a_page_without_signing_in(name: str, there: Any, client_of: Any) -> None:
    method = next(method for page, method, _who in PAGES if page == name)

    answer = getattr(client_of(None), method)(_page(name, there))

    assert answer.status_code == 302
    assert "/sign-in" in answer["Location"]


def test_every_page_is_in_the_table() -> None:
    assert {one.name for one in urls.urlpatterns} == {name for name, *_rest in PAGES}
