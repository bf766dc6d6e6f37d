"""Asking for work, doing it once, and what happens when workers are lost."""

from __future__ import annotations

from datetime import timedelta

import pytest
from celery.beat import Scheduler
from django.db import OperationalError, connection, transaction
from django.utils import timezone
from kombu.exceptions import OperationalError as BrokerError

from apps.audit.models import AuditEvent
from apps.core import actor as actors
from apps.core import clock
from apps.core.errors import Conflict, Invalid, Missing, NotAllowed
from apps.jobs import queries, registry, running, services
from apps.jobs.models import Job, JobState, Schedule
from apps.jobs.running import Cancelled, LeaseLost, Skipped
from apps.jobs.services import schedules, watch, work
from supernode_portal.celery import application
from tests import factories
from tests.callers import actor_for

pytestmark = pytest.mark.django_db
SYSTEM = actors.system()


@pytest.fixture
def handler(monkeypatch):
    """`handler(function)` makes the function do the kind of work "test.work"."""

    def use(function):
        monkeypatch.setitem(registry._handlers, "test.work", function)

    return use


def ask(**arguments) -> Job:
    return services.enqueue("test.work", actor=SYSTEM, **arguments)


def claim(job: Job) -> running.RunningJob:
    claimed = running._claim(job.pk)
    assert claimed is not None
    return claimed


def test_the_same_work_while_queued_is_the_same_job():
    assert ask(domain_id=1).pk == ask(domain_id=1).pk
    assert ask(domain_id=2).pk != ask(domain_id=1).pk


def test_work_that_already_runs_is_asked_for_anew_once():
    first = ask(domain_id=1)
    claim(first)
    second = ask(domain_id=1)
    assert second.pk != first.pk
    assert ask(domain_id=1).pk == second.pk
    claim(second)
    third = ask(domain_id=1)
    assert third.pk not in (first.pk, second.pk)


def test_a_job_and_its_reason_are_rolled_back_together():
    with pytest.raises(ValueError), transaction.atomic():
        ask(domain_id=1)
        raise ValueError
    assert not Job.objects.exists()


def test_a_job_is_sent_when_its_transaction_commits(django_capture_on_commit_callbacks, monkeypatch):
    sent = []
    monkeypatch.setattr(work.current_app, "send_task", lambda name, args: sent.append((name, args)))
    with django_capture_on_commit_callbacks(execute=True):
        job = ask(domain_id=1)
        assert sent == []
    assert sent == [("jobs.run", [job.pk])]
    job.refresh_from_db()
    assert job.sent_at is not None


def test_a_broker_that_is_away_fails_nobody(django_capture_on_commit_callbacks, monkeypatch):
    def refuse(name, args):
        raise BrokerError("nobody listens")

    monkeypatch.setattr(work.current_app, "send_task", refuse)
    with django_capture_on_commit_callbacks(execute=True):
        job = ask(domain_id=1)
    job.refresh_from_db()
    assert (job.state, job.sent_at) == (JobState.QUEUED, None)
    assert watch.resend() == 0


def test_what_a_handler_gives_is_the_result(handler, run_jobs):
    handler(lambda run: {"sum": run.arguments["a"] + 1})
    ask(a=1)
    [job] = run_jobs()
    assert (job.state, job.result, job.attempt, job.lease) == (JobState.SUCCEEDED, {"sum": 2}, 1, "")


def test_effect_and_completion_are_one_transaction(handler, run_jobs):
    def work_and_die(run):
        with run.finishing():
            factories.scope("made")
            raise Invalid("in the middle", code="middle")

    handler(work_and_die)
    ask()
    [job] = run_jobs()
    assert (job.state, job.problem["code"]) == (JobState.FAILED, "middle")
    assert not factories.Scope.objects.filter(slug="made").exists()


def test_who_lost_the_lease_writes_nothing(handler):
    stale = claim(ask())
    Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    assert services.reap() == 1
    fresh = claim(stale.job)
    with pytest.raises(LeaseLost), stale.finishing():
        factories.scope("made")
    with pytest.raises(LeaseLost):
        stale.progress(1, 2)
    running._end(stale, JobState.FAILED, {"code": "late"})
    fresh.progress(1, 2, "second half")
    with fresh.finishing() as outcome:
        outcome.result = {"by": "fresh"}
    job = Job.objects.get()
    assert (job.state, job.result, job.attempt, job.lost) == (JobState.SUCCEEDED, {"by": "fresh"}, 2, 1)
    assert not factories.Scope.objects.filter(slug="made").exists()


def test_only_one_worker_claims_a_job():
    job = ask()
    claim(job)
    assert running._claim(job.pk) is None
    running.run(job.pk)
    assert Job.objects.get().attempt == 1


def test_progress_renews_the_lease():
    claimed = claim(ask())
    Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
    claimed.progress(3, 10, "nodes")
    job = Job.objects.get()
    assert job.lease_until > clock.now()
    assert (job.done, job.total, job.phase) == (3, 10, "nodes")
    assert services.reap() == 0


def test_a_job_whose_workers_are_lost_again_and_again_fails_as_lost():
    job = ask()
    for _attempt in range(job.max_attempts):
        claim(job)
        Job.objects.update(lease_until=clock.now() - timedelta(seconds=1))
        services.reap()
    job.refresh_from_db()
    assert (job.state, job.shown_state, job.problem["code"]) == (JobState.FAILED, "lost", "lost")
    assert job.lease_until is None


def test_a_database_that_was_locked_is_tried_again(handler, run_jobs):
    tries = []

    def locked(run):
        tries.append(run.job.attempt)
        raise OperationalError("database is locked")

    handler(locked)
    ask()
    [*_rest, job] = run_jobs()
    assert tries == [1, 2, 3]
    assert (job.state, job.problem["code"]) == (JobState.FAILED, "database")


def test_a_handler_that_dies_ends_in_the_row_without_its_words(handler, run_jobs):
    def die(run):
        raise RuntimeError("secret words")

    handler(die)
    ask()
    [job] = run_jobs()
    assert (job.state, job.problem["code"]) == (JobState.FAILED, "error")
    assert "secret" not in str(job.problem)


def test_work_that_no_longer_applies_is_skipped_and_says_why(handler, run_jobs):
    def skip(run):
        raise Skipped("the domain was retired")

    handler(skip)
    ask()
    [job] = run_jobs()
    assert (job.state, job.problem["detail"]) == (JobState.SKIPPED, "the domain was retired")


def test_work_that_nobody_knows_fails(run_jobs):
    services.enqueue("test.unknown", actor=SYSTEM)
    [job] = run_jobs()
    assert (job.state, job.problem["code"]) == (JobState.FAILED, "unknown_kind")


def test_a_handler_acts_as_the_portal_for_whoever_asked(handler, run_jobs, bo):
    seen = []
    handler(lambda run: seen.append(run.actor))
    services.enqueue("test.work", actor=actor_for(bo))
    run_jobs()
    assert (seen[0].via, seen[0].person_id) == (actors.Via.SYSTEM, bo.pk)
    with pytest.raises(NotAllowed):
        seen[0].require_person_present()


def test_a_queued_job_is_cancelled_at_once_and_a_running_one_at_its_next_step(bo):
    queued = services.enqueue("test.work", actor=actor_for(bo), n=1)
    assert services.cancel(job_id=queued.pk, actor=actor_for(bo)).state == JobState.CANCELLED
    claimed = claim(services.enqueue("test.work", actor=actor_for(bo), n=2))
    assert services.cancel(job_id=claimed.job.pk, actor=actor_for(bo)).state == JobState.RUNNING
    with pytest.raises(Cancelled):
        claimed.progress(1)
    with pytest.raises(Conflict):
        services.cancel(job_id=queued.pk, actor=actor_for(bo))
    assert AuditEvent.objects.filter(action="job.cancelled").count() == 2


def test_whoever_asked_and_operators_of_the_scope_cancel_others_do_not(cluster, bo, vic, eve, ada):
    def job() -> int:
        return services.enqueue(
            "test.work", actor=SYSTEM, scope_id=cluster.scope_id, n=Job.objects.count()
        ).pk

    with pytest.raises(NotAllowed):
        services.cancel(job_id=job(), actor=actor_for(vic))
    with pytest.raises(Missing):
        services.cancel(job_id=job(), actor=actor_for(eve))
    services.cancel(job_id=job(), actor=actor_for(bo))
    services.cancel(job_id=job(), actor=actor_for(ada))


@pytest.mark.parametrize(("kind", "left"), [("test.work", NotAllowed), ("environments.check_drift", None)])
def test_who_asked_and_lost_the_right_since_cancels_only_what_readers_ask_for(kind, left, cluster, vic, eve):
    job = services.enqueue("test.work", actor=actor_for(vic), scope_id=cluster.scope_id, n=1)
    Job.objects.update(kind=kind)
    if left:
        with pytest.raises(left):
            services.cancel(job_id=job.pk, actor=actor_for(vic))
    else:
        services.cancel(job_id=job.pk, actor=actor_for(vic))
    Job.objects.update(requested_by=eve)
    for stop in (services.cancel, services.retry):
        with pytest.raises(Missing):
            stop(job_id=job.pk, actor=actor_for(eve))


def test_a_failed_job_is_retried_as_a_new_one(bo, handler, run_jobs):
    handler(lambda run: 1 / 0)
    failed = services.enqueue("test.work", actor=actor_for(bo), n=1)
    run_jobs()
    again = services.retry(job_id=failed.pk, actor=actor_for(bo))
    assert (again.pk != failed.pk, again.arguments, again.state) == (True, {"n": 1}, JobState.QUEUED)
    with pytest.raises(Conflict):
        services.retry(job_id=again.pk, actor=actor_for(bo))


def test_a_queued_job_that_no_worker_took_is_sent_again(monkeypatch):
    sent = []
    monkeypatch.setattr(work.current_app, "send_task", lambda name, args: sent.append(args[0]))
    job = ask()
    assert watch.resend() == 1
    assert watch.resend() == 0
    Job.objects.update(sent_at=clock.now() - timedelta(hours=1))
    assert watch.resend() == 1
    assert sent == [job.pk, job.pk]


def test_a_schedule_that_missed_several_times_runs_once():
    begun = timezone.now() - timedelta(hours=5, minutes=30)
    Schedule.objects.create(name="hourly", kind="test.work", every_s=3600, next_due_at=begun)
    assert services.run_due_schedules(actor=SYSTEM) == 1
    assert services.run_due_schedules(actor=SYSTEM) == 0
    assert Schedule.objects.get().next_due_at == begun + timedelta(hours=6)
    assert Job.objects.count() == 1


def test_a_paused_schedule_does_not_run():
    past = timezone.now() - timedelta(hours=1)
    Schedule.objects.create(name="off", kind="test.work", every_s=60, next_due_at=past, enabled=False)
    assert services.run_due_schedules(actor=SYSTEM) == 0


def test_recurring_work_gets_its_schedule_once_and_keeps_what_a_team_changed(ada):
    from apps.jobs import tasks

    assert tasks.tidy is not None
    services.ensure_recurring()
    schedule = Schedule.objects.get(name="audit.checkpoint")
    assert schedule.every_s == 86400
    change = {"schedule_id": schedule.pk, "every_s": 3600, "enabled": True, "actor": actor_for(ada)}
    schedules.change_schedule(expected_version=1, **change)
    services.ensure_recurring()
    assert Schedule.objects.get(name="audit.checkpoint").every_s == 3600


def test_the_first_tick_comes_when_the_scheduler_starts_and_the_next_a_period_later():
    scheduler = Scheduler(application, lazy=True)
    scheduler.setup_schedule()
    first = scheduler.schedule["tick"]

    assert (first.is_due().is_due, next(first).is_due().is_due) == (True, False)


def test_the_tick_shows_that_a_worker_is_alive():
    from apps.jobs import tasks

    assert not queries.worker_seen(clock.now())
    tasks.tick()
    assert queries.worker_seen(clock.now())
    assert not queries.worker_seen(clock.now() + timedelta(hours=1))


@pytest.mark.postgres
def test_a_worker_cannot_claim_a_twin_before_what_it_will_read_is_committed(committed_database):
    import threading

    job = ask(domain_id=1)
    claimed = []

    def take() -> None:
        claimed.append(running._claim(job.pk))
        connection.close()

    thread = threading.Thread(target=take)
    with transaction.atomic():
        assert ask(domain_id=1).pk == job.pk
        thread.start()
        thread.join(timeout=0.5)
        assert claimed == []
    thread.join()
    assert claimed[0] is not None
