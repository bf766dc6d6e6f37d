"""API of environments: the thread from a draft to a finding, and its refusals."""

from __future__ import annotations

from typing import Any

import pytest

from apps.core.rights import TokenScope
from tests import factories
from tests.apps.environments.support import report

pytestmark = pytest.mark.django_db


@pytest.fixture
def caller(api: Any, bo: Any) -> Any:
    """A token of Bo that may write environments."""
    return api(factories.bearer(bo, TokenScope.READ, TokenScope.ENVIRONMENT_WRITE))


def test_the_thread_by_token(caller: Any, domain: Any, nodes: Any, run_jobs: Any) -> None:
    for node in nodes[:3]:
        report(node)
    report(nodes[3], nccl="2.25.1")

    draft = caller.post("/api/v1/matrix-versions/", {"domain_id": domain.pk}).json()
    place = f"/api/v1/matrix-versions/{draft['id']}/"
    edited = caller.put(
        place + "entries/nccl/",
        {"rule": "one_of", "values": ["2.26.2", "2.26.3"]},
        headers={"If-Match": '"v1"'},
    )
    locked = caller.post(place + "lock/", {}, headers={"If-Match": edited["ETag"]}).json()
    asked = caller.post("/api/v1/drift-checks/", {"domain_id": domain.pk})
    run_jobs()
    checks = caller.get(f"/api/v1/drift-checks/?domain={domain.pk}").json()["results"]
    check = caller.get(f"/api/v1/drift-checks/{checks[0]['id']}/").json()
    findings = caller.get("/api/v1/drift-findings/?state=open&component=nccl").json()["results"]

    assert [note["kind"] for note in draft["draft_notes"]] == ["minority"]
    assert locked["state"] == "locked"
    assert asked.status_code == 202
    assert asked["Location"].startswith("/api/v1/jobs/")
    assert [len(group["nodes"]) for group in check["groups"]] == [3, 1]
    assert [(row["node"], row["intended"], row["reported"]) for row in findings] == [
        ("n4", "2.26.2 | 2.26.3", "2.25.1")
    ]
    assert findings[0]["remedy"].startswith("Bring the node back to the version of the matrix")


def test_a_broken_rule_is_named_and_overridden(caller: Any, domain: Any, nodes: Any) -> None:
    for node in nodes:
        report(node, fabric_manager="565.57.01")
    draft = caller.post("/api/v1/matrix-versions/", {"domain_id": domain.pk}).json()
    place = f"/api/v1/matrix-versions/{draft['id']}/"

    refused = caller.post(place + "lock/", {}, headers={"If-Match": '"v1"'})
    rules = caller.get(place + "compatibility/").json()
    locked = caller.post(place + "lock/", {"override_reason": "vendor"}, headers={"If-Match": '"v1"'})

    assert (refused.status_code, refused.json()["rules"]) == (409, ["fabric-manager-equals-driver"])
    assert "fabric-manager-equals-driver" in {row["rule"] for row in rules if row["verdict"] == "fail"}
    assert locked.json()["override_reason"] == "vendor"


def test_what_was_exported_makes_the_same_draft(caller: Any, domain: Any, nodes: Any) -> None:
    report(nodes[0])
    first = caller.post("/api/v1/matrix-versions/", {"domain_id": domain.pk}).json()
    for file_format in ("yaml", "csv"):
        text = caller.get(f"/api/v1/matrix-versions/{first['id']}/export/?as={file_format}").content.decode()
        body = {"domain_id": domain.pk, "text": text, "file_format": file_format}
        again = caller.post("/api/v1/matrix-versions/", body).json()
        same = caller.get(f"/api/v1/matrix-versions/{first['id']}/differences/?to={again['id']}")

        assert again["entries"] == first["entries"]
        assert same.json() == []


def test_a_wrong_file_names_row_and_column(caller: Any, domain: Any, nodes: Any) -> None:
    body = {"domain_id": domain.pk, "text": "component,rule\nnccl,about\n", "file_format": "csv"}

    answer = caller.post("/api/v1/matrix-versions/", body)

    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == "row 2, column rule"


def test_unknown_filters_are_refused(caller: Any, domain: Any) -> None:
    for name in ("matrices", "matrix-versions", "drift-checks", "drift-findings", "node-facts", "components"):
        answer = caller.get(f"/api/v1/{name}/?colour=red")

        assert (answer.status_code, answer.json()["code"]) == (400, "unknown_filter"), name


def test_the_history_of_a_node_by_change(caller: Any, nodes: Any) -> None:
    report(nodes[0])
    report(nodes[0], nccl="2.27.3")

    rows = caller.get(f"/api/v1/node-facts/?node={nodes[0].name.upper()}&component=nccl").json()["results"]
    now = caller.get(f"/api/v1/nodes/{nodes[0].pk}/reported-versions/").json()

    assert [(row["value"], row["until"] is None) for row in rows] == [("2.27.3", True), ("2.26.2", False)]
    assert {row["component"]: row["loaded"] for row in now}["nccl"] == ["2.27.3"]


def test_a_job_is_checked_with_why_and_what_instead(api: Any, vic: Any) -> None:
    answer = api(factories.bearer(vic)).post(
        "/api/v1/job-environment-checks/", {"text": "export NCCL_P2P_DISABLE=1\nexport NCCL_IB_DISBALE=1\n"}
    )

    body = answer.json()
    assert (answer.status_code, body["verdict"], body["setting_count"]) == (200, "fail", 2)
    assert {row["name"]: row["severity"] for row in body["findings"]}["NCCL_P2P_DISABLE"] == "fail"
    assert all(row["why"] for row in body["findings"])


def test_lists_need_as_many_queries_for_many_rows(
    caller: Any, nodes: Any, assert_constant_queries: Any
) -> None:
    report(nodes[0])
    assert_constant_queries(
        lambda: caller.get("/api/v1/node-facts/"), lambda: [report(node) for node in nodes[1:]]
    )
