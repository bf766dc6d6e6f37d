"""Signing in and out, confirming the password, preferences, invitation pages."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.urls import path

from apps.accounts.models import Invitation, Person
from apps.audit.models import AuditEvent
from apps.core import clock
from apps.core.pages import actor_of
from apps.core.rights import Role
from supernode_portal import urls as project
from tests import factories

pytestmark = pytest.mark.django_db
GOOD = "a long enough pass phrase"


def sign_in(browser, email: str, password: str = factories.PASSWORD, **more: str):
    return browser.post("/sign-in/", {"username": email, "password": password, **more})


def test_a_person_signs_in_by_address_in_any_case_and_out(bo, client_of):
    browser = client_of(None)
    assert sign_in(browser, "BO@Example.com").status_code == 302
    assert "authenticated_at" in browser.session
    assert AuditEvent.objects.get().action == "person.signed_in"
    assert browser.post("/sign-out/").status_code == 302
    assert browser.get("/tokens/").status_code == 302


def test_a_wrong_password_a_service_account_and_who_has_left_get_the_same_words(bo, ada, client_of):
    account = factories.service_account("ci", Role.VIEWER)
    account.set_password(factories.PASSWORD)
    account.save()
    gone = factories.person("Gone", is_active=False)
    said = set()
    for email, password in (
        ("bo@example.com", "wrong"),
        ("nobody@example.com", "wrong"),
        (gone.email, factories.PASSWORD),
        (account.email, factories.PASSWORD),
    ):
        answer = sign_in(client_of(None), email, password)
        assert answer.status_code == 200
        said |= set(answer.context["form"].non_field_errors())
    assert len(said) == 1


def test_signing_in_leads_back_within_the_portal_only(bo, client_of):
    assert sign_in(client_of(None), "bo@example.com", next="/tokens/")["Location"] == "/tokens/"
    away = sign_in(client_of(None), "bo@example.com", next="https://elsewhere.example.com/")
    assert "elsewhere" not in away["Location"]


def test_who_is_not_signed_in_is_led_to_the_page_and_back(bo, client_of):
    answer = client_of(None).get("/audit/?action=change.&actor=Bo")
    assert answer["Location"] == "/sign-in/?next=%2Faudit%2F%3Faction%3Dchange.%26actor%3DBo"
    fragment = client_of(None).get("/tokens/", headers={"HX-Request": "true"})
    assert fragment["HX-Redirect"] == "/sign-in/?next=%2Ftokens%2F"


@pytest.fixture
def serious_page(monkeypatch, settings):
    """A page whose service asks for a recent password."""

    def serious(request):
        actor_of(request).require_recent_password(now=clock.now(), within_s=settings.REAUTHENTICATE_AFTER_S)
        from django.http import HttpResponse

        return HttpResponse("done")

    monkeypatch.setattr(project, "urlpatterns", [*project.urlpatterns, path("serious/", serious)])
    from django.urls import clear_url_caches

    clear_url_caches()
    yield
    clear_url_caches()


def test_a_serious_decision_asks_for_the_password_again_and_goes_on(serious_page, bo, client_of):
    browser = client_of(bo, authenticated_at=clock.now() - timedelta(hours=1))
    answer = browser.get("/serious/?launch=7")
    assert answer["Location"] == "/confirm-password/?next=%2Fserious%2F%3Flaunch%3D7"
    wrong = browser.post("/confirm-password/", {"password": "wrong", "next": "/serious/?launch=7"})
    assert (wrong.status_code, "not your password" in wrong.content.decode()) == (200, True)
    assert browser.post("/confirm-password/").status_code == 200
    right = browser.post("/confirm-password/", {"password": factories.PASSWORD, "next": "/serious/?launch=7"})
    assert right["Location"] == "/serious/?launch=7"
    assert browser.get("/serious/?launch=7").content == b"done"


def test_after_a_form_that_was_sent_it_leads_back_to_the_forms_page(serious_page, bo, client_of):
    browser = client_of(bo, authenticated_at=clock.now() - timedelta(hours=1))
    answer = browser.post("/serious/", headers={"Referer": "http://testserver/launches/7/"})
    assert answer["Location"] == "/confirm-password/?next=%2Flaunches%2F7%2F"
    foreign = browser.post("/serious/", headers={"Referer": "https://elsewhere.example.com/x"})
    assert foreign["Location"] == "/confirm-password/?next=%2F"


def test_confirming_leads_nowhere_else(bo, client_of):
    browser = client_of(bo)
    form = {"password": factories.PASSWORD, "next": "//elsewhere.example.com/"}
    assert "elsewhere" not in browser.post("/confirm-password/", form)["Location"]


def test_preferences_are_kept_with_the_person_and_as_cookies(bo, client_of):
    browser = client_of(bo)
    form = {"name": "Bo", "language": "zh-hans", "time_zone": "Asia/Shanghai", "theme": "dark"}
    answer = browser.post("/preferences/", form)
    assert (answer.status_code, answer.cookies["language"].value) == (302, "zh-hans")
    assert answer.cookies["theme"].value == "dark"
    bo.refresh_from_db()
    assert (bo.language, bo.time_zone, bo.shortcuts) == ("zh-hans", "Asia/Shanghai", False)
    again = sign_in(client_of(None), "bo@example.com")
    assert again.cookies["language"].value == "zh-hans"


def test_times_are_shown_in_the_persons_zone(bo, client_of):
    Person.objects.update(time_zone="Asia/Shanghai")
    page = client_of(bo).get("/preferences/").content.decode()
    assert "+08:00" in page


def test_a_changed_password_ends_other_sessions_and_keeps_this_one(bo, client_of):
    here, there = client_of(bo), client_of(bo)
    form = {"current": factories.PASSWORD, "password": GOOD, "again": GOOD}
    assert here.post("/preferences/password/", {**form, "again": "other"}).status_code == 200
    assert here.post("/preferences/password/", form).status_code == 302
    assert here.get("/preferences/").status_code == 200
    assert there.get("/preferences/").status_code == 302


def test_the_link_of_an_invitation_is_shown_once_and_signs_in(ada, client_of):
    form = {"email": "nia@example.com", "name": "Nia", "roles": ["viewer"], "scope": "*"}
    made = client_of(ada).post("/people/invite/", form).context["link"]
    address = made[made.index("/invitation/") :]
    newcomer = client_of(None)
    assert newcomer.get(address).status_code == 200
    answer = newcomer.post(address, {"name": "Nia", "password": GOOD, "again": GOOD})
    assert answer.status_code == 302
    assert newcomer.get("/preferences/").status_code == 200
    assert newcomer.get(address).status_code == 404
    assert Invitation.objects.get().accepted_by.email == "nia@example.com"


def test_no_page_of_people_shows_a_password_hash(ada, bo, client_of):
    page = client_of(ada).get(f"/people/{bo.pk}/").content.decode()
    assert bo.password not in page


def test_the_list_of_people_needs_as_many_queries_with_many(ada, cluster, client_of, assert_constant_queries):
    browser = client_of(ada)

    def grow() -> None:
        for _number in range(20):
            factories.person("", Role.VIEWER, Role.OPERATOR, scope=cluster.scope)

    grow()
    assert_constant_queries(lambda: browser.get("/people/"), grow)


PAGES = {
    "/people/": {"ada": 200, "eve": 200, "bo": 403, "vic": 403, "dana": 403, None: 302},
    "/people/invite/": {"ada": 200, "eve": 200, "bo": 403, "vic": 403, None: 302},
    "/audit/": {"ada": 200, "dana": 200, "bo": 403, "vic": 403, None: 302},
    "/jobs/": {"ada": 200, "bo": 200, "vic": 200, None: 302},
    "/schedules/": {"ada": 200, "eve": 403, "bo": 403, None: 302},
    "/webhooks/": {"ada": 200, "eve": 200, "bo": 403, None: 302},
    "/tokens/": {"ada": 200, "vic": 200, None: 302},
    "/preferences/": {"ada": 200, "vic": 200, None: 302},
}


@pytest.mark.parametrize(
    ("address", "name", "status"),
    [(address, name, status) for address, table in PAGES.items() for name, status in table.items()],
)
def test_who_may_see_which_page(address, name, status, request, client_of, cluster):
    person = request.getfixturevalue(name) if name else None
    assert client_of(person).get(address).status_code == status
