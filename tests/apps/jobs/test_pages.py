"""Pages and API of jobs, schedules and webhooks: rights, wording, waiting."""

from __future__ import annotations

import pytest

from apps.core import actor as actors
from apps.core import clock
from apps.jobs import services
from apps.jobs.api import views
from apps.jobs.models import Job, JobState, Schedule, WebhookEndpoint
from tests import factories
from tests.callers import actor_for
from tests.tampering import without_triggers

pytestmark = pytest.mark.django_db


@pytest.fixture
def job(bo, cluster) -> Job:
    return services.enqueue("test.work", actor=actor_for(bo), scope_id=cluster.scope_id, n=1)


def test_the_page_of_a_job_asks_again_until_it_is_over(job, bo, client_of):
    browser = client_of(bo)
    page = browser.get(f"/jobs/{job.pk}/").content.decode()
    assert f'data-poll="/jobs/{job.pk}/fragment/"' in page
    assert browser.get(f"/jobs/{job.pk}/fragment/").status_code == 200
    Job.objects.update(state=JobState.SUCCEEDED, finished_at=clock.now(), result={"verdict": "pass"})
    over = browser.get(f"/jobs/{job.pk}/fragment/")
    assert over.status_code == 286
    assert "verdict" in over.content.decode()


def test_a_lost_job_says_so_and_offers_to_retry(job, bo, client_of):
    Job.objects.update(state=JobState.FAILED, problem={"code": "lost", "detail": "…"})
    page = client_of(bo).get(f"/jobs/{job.pk}/").content.decode()
    assert "lost" in page
    assert f"/jobs/{job.pk}/retry/" in page


def test_a_viewer_sees_the_job_and_cannot_stop_it(job, vic, eve, client_of):
    page = client_of(vic).get(f"/jobs/{job.pk}/").content.decode()
    assert f"/jobs/{job.pk}/cancel/" not in page
    assert client_of(vic).post(f"/jobs/{job.pk}/cancel/").status_code == 403
    assert client_of(eve).get(f"/jobs/{job.pk}/").status_code == 404
    assert client_of(None).get(f"/jobs/{job.pk}/").status_code == 302


def test_cancelling_on_the_page_leads_back_to_it(job, bo, client_of):
    answer = client_of(bo).post(f"/jobs/{job.pk}/cancel/")
    assert answer["Location"] == f"/jobs/{job.pk}/"
    job.refresh_from_db()
    assert job.state == JobState.CANCELLED


def test_the_bell_counts_ones_own_jobs_under_way(job, bo, vic, client_of):
    assert ">1<" in client_of(bo).get("/jobs/bell/").content.decode()
    assert ">1<" not in client_of(vic).get("/jobs/bell/").content.decode()


def test_the_list_needs_as_many_queries_with_many_jobs(job, ada, client_of, assert_constant_queries):
    browser = client_of(ada)

    def grow() -> None:
        for number in range(30):
            someone = factories.person()
            services.enqueue("test.work", actor=actor_for(someone), scope_id=job.scope_id, n=100 + number)

    assert_constant_queries(lambda: browser.get("/jobs/"), grow)


def test_an_unknown_filter_is_an_error(ada, client_of, api):
    assert client_of(ada).get("/jobs/?stat=queued").status_code == 400
    answer = api(ada).get("/api/v1/jobs/?stat=queued")
    assert (answer.status_code, answer.json()["code"]) == (400, "unknown_filter")


def test_the_api_gives_the_job_with_its_progress(job, bo, api):
    Job.objects.update(done=3, total=18, phase="nodes")
    answer = api(bo).get(f"/api/v1/jobs/{job.pk}/").json()
    assert answer["progress"] == {"done": 3, "total": 18, "phase": "nodes"}
    assert (answer["state"], answer["cluster"]) == ("queued", "hall-1")
    listed = api(bo).get("/api/v1/jobs/").json()
    assert [row["id"] for row in listed["results"]] == [job.pk]


def test_waiting_ends_when_the_job_is_over(job, bo, api, monkeypatch):
    def end(_seconds: float) -> None:
        Job.objects.update(state=JobState.SUCCEEDED)

    monkeypatch.setattr("apps.jobs.queries.time.sleep", end)
    assert api(bo).get(f"/api/v1/jobs/{job.pk}/?wait=25").json()["state"] == "succeeded"


@pytest.mark.parametrize("wait", ["26", "-1", "x", "1.5"])
def test_an_odd_wait_is_refused(job, bo, api, wait):
    answer = api(bo).get(f"/api/v1/jobs/{job.pk}/?wait={wait}")
    assert (answer.status_code, answer.json()["code"]) == (400, "wait")


def test_who_finds_no_place_to_wait_gets_the_standing_of_now(job, bo, api, monkeypatch):
    monkeypatch.setattr("apps.jobs.queries.time.sleep", lambda _s: pytest.fail("it waited"))
    places = 0
    while views._waiters.acquire(blocking=False):
        places += 1
    try:
        assert api(bo).get(f"/api/v1/jobs/{job.pk}/?wait=25").json()["state"] == "queued"
    finally:
        views._waiters.release(places)
    assert places == 4


def test_cancel_and_retry_over_rest(job, bo, api):
    Job.objects.update(kind="environments.check_drift")
    token = api(factories.bearer(bo, "environment:write"))
    assert token.delete(f"/api/v1/jobs/{job.pk}/").json()["state"] == "cancelled"
    again = token.delete(f"/api/v1/jobs/{job.pk}/")
    assert (again.status_code, again.json()["code"]) == (409, "job_state")
    retried = token.post(f"/api/v1/jobs/{job.pk}/retry/")
    assert (retried.status_code, retried["Retry-After"]) == (202, "2")
    assert retried["Location"] == retried.json()["url"] != f"/api/v1/jobs/{job.pk}/"


@pytest.mark.parametrize("scope", ["gate:evaluate", "plan:write"])
def test_a_token_does_not_cancel_work_that_it_may_not_ask_for(scope, job, bo, api):
    Job.objects.update(kind="environments.check_drift")
    answer = api(factories.bearer(bo, scope)).delete(f"/api/v1/jobs/{job.pk}/")
    assert (answer.status_code, answer.json()["code"]) == (403, "token_scope")


def test_a_token_does_not_cancel_what_somebody_else_asked_for(job, ada, bo, api):
    Job.objects.update(kind="environments.check_drift", requested_by=ada)
    answer = api(factories.bearer(bo, "environment:write")).delete(f"/api/v1/jobs/{job.pk}/")
    assert (answer.status_code, answer.json()["code"]) == (403, "token_scope")
    assert api(bo).delete(f"/api/v1/jobs/{job.pk}/").status_code == 200


def test_a_read_only_token_cannot_cancel_its_owners_job(job, bo, api):
    answer = api(factories.bearer(bo, "read")).delete(f"/api/v1/jobs/{job.pk}/")
    assert (answer.status_code, answer.json()["code"]) == (403, "token_scope")


def test_only_administrators_of_everywhere_change_schedules(ada, bo, eve, api, client_of):
    schedule = Schedule.objects.create(name="x", kind="x.y", every_s=60, next_due_at=clock.now())
    address = f"/api/v1/schedules/{schedule.pk}/"
    body = {"every_s": 3600, "enabled": False}
    for somebody in (bo, eve):
        assert api(somebody).get("/api/v1/schedules/").status_code == 403
        assert api(somebody).put(address, body, headers={"If-Match": '"v1"'}).status_code == 403
    assert api(ada).put(address, body).status_code == 428
    done = api(ada).put(address, body, headers={"If-Match": '"v1"'})
    assert (done.status_code, done["ETag"], done.json()["every_s"]) == (200, '"v2"', 3600)
    assert api(ada).put(address, body, headers={"If-Match": '"v1"'}).status_code == 412
    form = {"every_s": 120, "enabled": "on", "version": 1}
    assert client_of(ada).post(f"/schedules/{schedule.pk}/", form).status_code == 412
    assert client_of(ada).post(f"/schedules/{schedule.pk}/", {**form, "version": 2}).status_code == 302


def test_a_webhooks_secret_is_shown_once_and_not_kept_with_the_idempotency_key(ada, api):
    body = {"name": "CI", "url": "https://ci.example.com/hook", "events": ["*"], "cluster": None}
    caller = api(ada)
    made = caller.post("/api/v1/webhook-endpoints/", body, headers={"Idempotency-Key": "k-1"})
    assert (made.status_code, made["Cache-Control"]) == (201, "no-store")
    assert made.json()["secret"].startswith("whsec_")
    shown = caller.get(f"/api/v1/webhook-endpoints/{made.json()['id']}/")
    assert "secret" not in shown.json()
    again = caller.post("/api/v1/webhook-endpoints/", body, headers={"Idempotency-Key": "k-1"})
    assert (again.status_code, again.json()["code"]) == (409, "shown_once")
    assert WebhookEndpoint.objects.count() == 1


def test_webhook_pages_work_by_forms(ada, client_of):
    browser = client_of(ada)
    form = {
        "name": "CI",
        "url": "https://ci.example.com/hook",
        "events": "change.* drift.opened",
        "scope": "*",
    }
    made = browser.post("/webhooks/new/", form).content.decode()
    endpoint = WebhookEndpoint.objects.get()
    assert endpoint.secret in made
    assert endpoint.events == ["change.*", "drift.opened"]
    page = browser.get(f"/webhooks/{endpoint.pk}/").content.decode()
    assert endpoint.secret not in page
    assert browser.post(f"/webhooks/{endpoint.pk}/test/").status_code == 302
    odd = browser.post("/webhooks/new/", {**form, "url": "http://ci.example.com/"})
    assert odd.status_code == 400
    assert "only for hosts" in odd.content.decode()
    assert browser.post(f"/webhooks/{endpoint.pk}/remove/").status_code == 302
    assert not WebhookEndpoint.objects.exists()


def test_verifying_the_audit_trail_is_a_job_of_auditors_of_everywhere(
    ada, dana, bo, api, client_of, run_jobs
):
    for somebody in (bo, dana):
        assert api(somebody).post("/api/v1/audit-verifications/").status_code == 403
    answer = api(ada).post("/api/v1/audit-verifications/")
    assert answer.status_code == 202
    run_jobs()
    job = api(ada).get(answer["Location"]).json()
    assert (job["state"], job["result"]["intact"]) == ("succeeded", True)
    page = client_of(ada).get(f"/jobs/{job['id']}/").content.decode()
    assert "The chain is intact: 0 events. There is no checkpoint to compare it with." in page
    assert '<a class="btn btn-primary" href="/audit/">Back to the audit trail</a>' in page


def test_a_broken_audit_trail_is_a_failed_job_and_stands_on_top_of_the_auditors_pages(
    ada, bo, api, client_of, run_jobs
):
    api(ada).post("/api/v1/audit-verifications/")
    run_jobs()
    assert "does not hold" not in client_of(ada).get("/audit/").content.decode()
    without_triggers("UPDATE audit_auditevent SET object_id = '99' WHERE seq = 1")
    answer = api(ada).post("/api/v1/audit-verifications/")
    run_jobs()
    job = api(ada).get(answer["Location"]).json()
    assert (job["problem"]["code"], job["problem"]["first_bad_seq"]) == ("audit_broken", 1)
    assert 'href="/audit/1/">Show event 1</a>' in client_of(ada).get(f"/jobs/{job['id']}/").content.decode()
    for page in ("/audit/", "/"):
        assert "The audit trail does not hold" in client_of(ada).get(page).content.decode()
    assert "does not hold" not in client_of(bo).get("/").content.decode()


def test_jobs_of_no_scope_are_seen_by_administrators_only(ada, bo, api):
    job = services.enqueue("test.work", actor=actors.system())
    assert api(ada).get(f"/api/v1/jobs/{job.pk}/").status_code == 200
    assert api(bo).get(f"/api/v1/jobs/{job.pk}/").status_code == 404
