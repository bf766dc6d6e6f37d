"""Pages and API of the audit trail: who sees what, filters, exports."""

from __future__ import annotations

import csv
import io
import json
from dataclasses import replace

import pytest

from apps.audit import services as audit
from apps.audit.models import AuditEvent
from apps.audit.services import verification
from apps.audit.services.exports import guarded
from apps.core import actor as actors
from apps.core.rights import Role
from tests import factories
from tests.callers import actor_for
from tests.tampering import without_triggers

pytestmark = pytest.mark.django_db


@pytest.fixture
def story(ada, bo, cluster, other_cluster):
    """One event in each cluster, and one of none."""
    for scope_id, reason in ((cluster.scope_id, "=1+1"), (other_cluster.scope_id, "there"), (None, "all")):
        with audit.deciding():
            audit.record(
                actor=actor_for(bo, request_id=f"r-{reason}"),
                action="change.approved",
                on=cluster,
                scope_id=scope_id,
                before={"state": "submitted"},
                after={"state": "approved"},
                reason=reason,
            )


def seqs(answer) -> list[int]:
    return [row["seq"] for row in answer.json()["results"]]


def test_auditors_see_events_of_their_scopes_and_those_of_none_only_everywhere(
    story, ada, dana, bo, eve, api
):
    assert seqs(api(ada).get("/api/v1/audit-events/")) == [3, 2, 1]
    assert seqs(api(dana).get("/api/v1/audit-events/")) == [1]
    assert seqs(api(eve).get("/api/v1/audit-events/")) == [2]
    assert api(bo).get("/api/v1/audit-events/").status_code == 403
    assert api(dana).get("/api/v1/audit-events/2/").status_code == 404
    assert api(dana).get("/api/v1/audit-events/1/").json()["after"] == {"state": "approved"}


def test_a_token_needs_the_scope_for_the_trail(story, dana, api):
    assert api(factories.bearer(dana, "read")).get("/api/v1/audit-events/").status_code == 403
    assert seqs(api(factories.bearer(dana, "audit:read")).get("/api/v1/audit-events/")) == [1]


@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ("actor=Bo", [3, 2, 1]),
        ("actor=bo@example.com", [3, 2, 1]),
        ("actor=Nobody", []),
        ("action=change.", [3, 2, 1]),
        ("action=change.refused", []),
        ("object=fleet.cluster", [3, 2, 1]),
        ("object=Hall", [3, 2, 1]),
        ("object=fleet.cluster:999999", []),
        ("cluster=hall-2", [2]),
        ("cluster=nowhere", []),
        ("request_id=r-there", [2]),
        ("after=2020-01-01T00:00:00Z", [3, 2, 1]),
        ("before=2020-01-01T00:00:00Z", []),
        ("via=token", []),
    ],
)
def test_events_are_found_by(story, ada, api, query, expected):
    assert seqs(api(ada).get(f"/api/v1/audit-events/?{query}")) == expected


def test_a_filter_that_is_not_known_or_not_understood_is_an_error(story, ada, api, client_of):
    assert api(ada).get("/api/v1/audit-events/?actr=Bo").json()["code"] == "unknown_filter"
    assert api(ada).get("/api/v1/audit-events/?after=yesterday").status_code == 400
    assert client_of(ada).get("/audit/?actr=Bo").status_code == 400


def test_pages_of_the_list_follow_by_cursor(story, ada, api):
    first = api(ada).get("/api/v1/audit-events/?limit=2").json()
    assert [row["seq"] for row in first["results"]] == [3, 2]
    assert seqs(api(ada).get(first["next"])) == [1]


def test_the_page_shows_names_and_the_event_its_differences(story, ada, client_of):
    page = client_of(ada).get("/audit/").content.decode()
    assert "Bo" in page
    assert "change.approved" in page
    event = client_of(ada).get("/audit/1/").content.decode()
    assert "<del>submitted</del>" in event
    assert "<ins>approved</ins>" in event
    assert client_of(ada).get("/audit/99/").status_code == 404


def test_an_empty_list_says_whether_filters_made_it_empty(ada, client_of):
    assert "No events yet" in client_of(ada).get("/audit/").content.decode()
    assert "No event matches" in client_of(ada).get("/audit/?action=x").content.decode()


def test_the_list_needs_as_many_queries_with_many_events(story, ada, bo, client_of, assert_constant_queries):
    browser = client_of(ada)

    def grow() -> None:
        for _number in range(20):
            somebody = factories.person("", Role.OPERATOR)
            with audit.deciding():
                audit.record(actor=actor_for(somebody), action="test.done", on=bo)

    assert_constant_queries(lambda: browser.get("/audit/"), grow)


def lines_of(answer) -> list[dict]:
    return [json.loads(line) for line in answer.getvalue().decode().splitlines()]


def test_a_whole_export_ends_with_a_checkpoint_and_is_itself_in_the_trail(story, ada, client_of):
    lines = lines_of(client_of(ada).post("/audit/export.jsonl"))
    assert (lines[0]["complete"], [line["seq"] for line in lines[1:4]]) == (True, [1, 2, 3])
    assert (lines[4]["type"], lines[4]["seq"]) == ("checkpoint", 3)
    noted = AuditEvent.objects.get(action="audit.exported")
    assert noted.seq == 4
    assert json.loads(noted.body)["details"] == {"form": "jsonl", "filters": {}, "to_seq": 3}


def test_a_filtered_export_says_that_it_is_none_of_the_whole(story, ada, dana, client_of, api):
    lines = lines_of(client_of(ada).post("/audit/export.jsonl?cluster=hall-2"))
    assert (lines[0]["complete"], [line.get("seq") for line in lines[1:]]) == (False, [2])
    lines = lines_of(api(factories.bearer(dana, "audit:read")).post("/api/v1/audit-export/"))
    assert (lines[0]["complete"], len(lines)) == (False, 2)


def test_an_export_is_no_link_that_a_foreign_page_could_follow(story, ada, bo, client_of):
    assert client_of(ada).get("/audit/export.jsonl").status_code == 405
    assert client_of(bo).post("/audit/export.jsonl").status_code == 403
    assert not AuditEvent.objects.filter(action="audit.exported").exists()


def test_a_table_for_people_holds_no_formulas(story, ada, client_of):
    answer = client_of(ada).post("/audit/export.csv")
    rows = list(csv.DictReader(io.StringIO(answer.getvalue().decode())))
    assert [row["reason"] for row in rows] == ["all", "there", "'=1+1"]
    assert rows[0]["actor"] == "Bo"
    assert answer["Content-Disposition"].endswith('.csv"')


@pytest.mark.parametrize("begin", ["=", "+", "-", "@", "\t", "\r"])
def test_what_a_spreadsheet_would_compute_is_kept_as_text(begin):
    assert guarded(f"{begin}1") == f"'{begin}1"
    assert guarded("plain =1") == "plain =1"


def test_the_verifier_is_there_to_take_away(ada, client_of):
    answer = client_of(ada).get("/audit/verify_audit_export.py")
    assert answer.getvalue().startswith(b"#!/usr/bin/env python3")


def test_the_list_says_actions_in_words_and_links_to_the_page_of_the_object(ada, cluster, client_of):
    with audit.deciding():
        audit.record(
            actor=replace(actors.system("gate"), person_id=ada.pk),
            action="launch.evaluated",
            on=cluster,
            scope_id=cluster.scope_id,
            after={"standing": "no_go"},
        )
    page = client_of(ada).get("/audit/").content.decode()
    assert "Launch evaluated" in page
    assert "launch.evaluated" in page
    assert "NO-GO" in page
    assert "Ada, by the gate" in page
    assert f'<a href="/clusters/{cluster.slug}/">{cluster.name}</a>' in page


def test_a_node_links_to_the_cluster_in_which_it_is_today(ada, cluster, client_of):
    node = factories.node(cluster)
    with audit.deciding():
        audit.record(actor=actor_for(ada), action="node.edited", on=node)
    page = client_of(ada).get("/audit/").content.decode()
    assert f'href="/clusters/{cluster.slug}/nodes/{node.pk}/"' in page


@pytest.mark.parametrize("address", ["/audit/", "/audit/2/"])
def test_an_event_that_was_changed_past_the_portal_is_marked_before_anybody_verifies(
    story, ada, client_of, address
):
    assert "as it was written" not in client_of(ada).get(address).content.decode()
    without_triggers("UPDATE audit_auditevent SET body = replace(body, 'there', 'where') WHERE seq = 2")
    assert client_of(ada).get(address).content.decode().count("not as it was written") == 1
    assert "as it was written" not in client_of(ada).get("/audit/1/").content.decode()


@pytest.mark.parametrize("body", ["[1]", "no json"])
def test_an_event_forged_into_another_shape_still_has_a_page(story, ada, client_of, body):
    without_triggers(f"UPDATE audit_auditevent SET body = '{body}' WHERE seq = 2")
    assert "text does not match its hash" in client_of(ada).get("/audit/2/").content.decode()
    assert "not as it was written" in client_of(ada).get("/audit/").content.decode()


def test_after_a_verification_each_event_says_where_the_chain_breaks(story, ada, client_of):
    without_triggers("UPDATE audit_auditevent SET object_id = '99' WHERE seq = 2")
    verification.verify(actor=actor_for(ada))
    assert "The chain breaks" not in client_of(ada).get("/audit/1/").content.decode()
    assert "columns contradict its text: object_id" in client_of(ada).get("/audit/2/").content.decode()
    assert (
        "The chain breaks before this event, at event 2" in client_of(ada).get("/audit/3/").content.decode()
    )


def test_an_event_that_is_gone_is_named_without_a_link(story, ada, client_of):
    without_triggers("DELETE FROM audit_auditevent WHERE seq = 2")
    verification.verify(actor=actor_for(ada))
    page = client_of(ada).get("/audit/").content.decode()
    assert "event 2 is missing" in page
    assert 'href="/audit/2/"' not in page


def test_the_fault_of_the_trail_is_said_in_the_readers_language(story, ada, client_of):
    without_triggers("UPDATE audit_auditevent SET object_id = '99' WHERE seq = 2")
    verification.verify(actor=actor_for(ada))
    browser = client_of(ada)
    browser.cookies["language"] = "zh-hans"
    page = browser.get("/audit/").content.decode()
    assert "columns contradict" not in page
    assert "object_id" in page
    event = browser.get("/audit/4/").content.decode()
    assert "fault_kept" not in event.split("<details>")[0]
