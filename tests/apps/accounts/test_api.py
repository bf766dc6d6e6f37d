"""API of people, roles, tokens and invitations: shape, rights, constant queries."""

from __future__ import annotations

import pytest

from apps.accounts.models import Invitation, Person
from apps.core.rights import Role
from tests import factories

pytestmark = pytest.mark.django_db

LISTS = ["people", "role-grants", "tokens", "invitations", "webhook-endpoints", "webhook-deliveries", "jobs"]


@pytest.mark.parametrize("name", LISTS)
def test_a_list_needs_as_many_queries_with_many_rows(name, ada, cluster, api, assert_constant_queries):
    caller = api(ada)

    def grow() -> None:
        from apps.jobs.services import webhooks
        from tests.callers import actor_for

        for number in range(10):
            somebody = factories.person("", Role.VIEWER, scope=cluster.scope)
            factories.bearer(somebody, clusters=[cluster.scope])
            Invitation.objects.create(
                email=f"{number}@example.com",
                name="x",
                secret_hash=f"{Invitation.objects.count()}",
                invited_by=somebody,
                expires_at=somebody.created_at,
            )
            endpoint = webhooks.create_endpoint(
                name="x",
                url="https://ci.example.com/",
                events=["*"],
                scope_id=cluster.scope_id,
                actor=actor_for(ada),
            )
            webhooks.queue(endpoint, "test.event", {})

    grow()
    assert_constant_queries(lambda: caller.get(f"/api/v1/{name}/"), grow)
    assert len(caller.get(f"/api/v1/{name}/").json()["results"]) >= 20


def test_people_are_found_by_filters_and_unknown_ones_refused(ada, bo, api):
    gone = factories.person("Gone", is_active=False)
    caller = api(ada)

    def ids(query: str) -> set[int]:
        return {row["id"] for row in caller.get(f"/api/v1/people/?{query}").json()["results"]}

    assert ids("q=bo@") == {bo.pk}
    assert gone.pk in ids("is_active=false")
    assert gone.pk not in ids("is_active=true")
    assert caller.get("/api/v1/people/?nme=x").status_code == 400


def test_a_role_is_given_in_a_cluster_by_its_slug_and_taken_again(ada, vic, api, cluster):
    caller = api(ada)
    made = caller.post(
        "/api/v1/role-grants/", {"person_id": vic.pk, "role": "approver", "cluster": cluster.slug}
    )
    assert (made.status_code, made.json()["cluster"]) == (201, "hall-1")
    assert caller.delete(f"/api/v1/role-grants/{made.json()['id']}/").status_code == 204
    assert not vic.grants.filter(role="approver").exists()


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({"role": "viewer", "cluster": None}, "/person_id"),
        ({"person_id": 1, "email": "a@example.com", "role": "viewer", "cluster": None}, "/person_id"),
        ({"person_id": 1, "role": "boss", "cluster": None}, "/role"),
        ({"person_id": 1, "role": "viewer"}, "/cluster"),
        ({"person_id": 1, "role": "viewer", "cluster": None, "clusters": []}, "/clusters"),
    ],
)
def test_an_odd_grant_is_refused_at_its_field(ada, api, body, pointer):
    answer = api(ada).post("/api/v1/role-grants/", body)
    assert answer.status_code == 400
    assert answer.json()["errors"][0]["pointer"] == pointer


def test_a_misspelled_field_is_refused_however_deep_and_the_known_ones_are_named(ada, api):
    roles = [{"role": "viewer", "cluster": None}, {"role": "viewer", "cluster": None, "scope": "hall-1"}]
    answer = api(ada).post(
        "/api/v1/invitations/", {"email": "nia@example.com", "name": "Nia", "roles": roles}
    )
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_field")
    assert answer.json()["errors"] == [
        {"pointer": "/roles/1/scope", "code": "unknown_field", "message": "known: cluster, role"}
    ]
    assert not api(ada).get("/api/v1/invitations/").json()["results"]


def test_a_cluster_that_the_caller_does_not_see_is_missing(eve, api, cluster):
    body = {"email": "bo@example.com", "role": "viewer", "cluster": cluster.slug}
    assert api(eve).post("/api/v1/role-grants/", body).status_code == 404


def test_an_invitation_over_rest_gives_its_link_once(ada, api, cluster):
    body = {
        "email": "nia@example.com",
        "name": "Nia",
        "roles": [{"role": "operator", "cluster": cluster.slug}, {"role": "auditor", "cluster": None}],
    }
    made = api(ada).post("/api/v1/invitations/", body)
    assert made.status_code == 201
    assert "/invitation/" in made.json()["link"]
    assert "link" not in api(ada).get("/api/v1/invitations/").json()["results"][0]
    again = api(ada).post("/api/v1/invitations/", body)
    assert again.status_code == 201
    assert api(ada).delete(f"/api/v1/invitations/{made.json()['id']}/").status_code == 204
    assert api(ada).delete(f"/api/v1/invitations/{made.json()['id']}/").status_code == 409


def test_leaving_and_erasing_over_rest_ask_for_a_reason(ada, bo, api):
    address = f"/api/v1/people/{bo.pk}/leave/"
    assert api(ada).post(address, {}).status_code == 400
    assert api(ada).post(address, {"reason": "left"}).json()["is_active"] is False
    assert api(ada).post(f"/api/v1/people/{bo.pk}/erase/", {"reason": "asked"}).status_code == 200
    assert Person.objects.get(pk=bo.pk).name == f"erased {bo.pk}"


def test_a_person_sees_themselves_and_no_other(bo, vic, api):
    assert api(bo).get(f"/api/v1/people/{bo.pk}/").json()["email"] == "bo@example.com"
    assert api(bo).get(f"/api/v1/people/{vic.pk}/").status_code == 403


def test_preferences_over_rest(bo, api):
    body = {"name": "Bo B.", "language": "en", "time_zone": "Europe/Berlin", "shortcuts": False}
    assert api(bo).put("/api/v1/preferences/", body).json() == body
    assert api(bo).get("/api/v1/preferences/").json() == body
    odd = api(bo).put("/api/v1/preferences/", {**body, "time_zone": "Mars"})
    assert odd.json()["errors"][0]["pointer"] == "/time_zone"


def test_the_check_of_a_session_names_rights_by_cluster(bo, ada, api):
    assert api(bo).get("/api/v1/auth-check/").json()["rights"] == {"hall-1": ["operate", "read"]}
    assert "admin" in api(ada).get("/api/v1/auth-check/").json()["rights"]["*"]
