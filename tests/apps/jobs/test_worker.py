"""A real worker is killed in the middle of a job and the broker is emptied: the job is done exactly once."""

from __future__ import annotations

import os
import shutil

import pytest
import redis
from django.db import connection

from apps.accounts.models import Scope
from apps.audit.models import AuditEvent
from apps.core import actor as actors
from apps.jobs import services
from apps.jobs.models import Job, JobState
from tests.support import processes


@pytest.fixture
def log(tmp_path):
    path = tmp_path / "worker.log"
    path.touch()
    return path


def play(folder, env, log, empty_broker) -> Job:
    """Kill the worker while it holds the job, empty the broker, and let another worker end it."""
    job = services.enqueue("test.hold", actor=actors.system(), folder=str(folder))
    with processes.worker(env, log) as first:
        processes.until(lambda: bool(list(folder.glob("began-*"))), "the job to begin", by=first, log=log)
        processes.kill(first)
    assert Job.objects.get(pk=job.pk).state == JobState.RUNNING
    empty_broker()
    (folder / "go").touch()
    with processes.worker(env, log) as second:
        processes.until(lambda: Job.objects.get(pk=job.pk).is_over, "its end", by=second, log=log)
    return Job.objects.get(pk=job.pk)


def check(job: Job, folder) -> None:
    assert job.state == JobState.SUCCEEDED, job.problem
    assert (job.attempt, job.lost) == (2, 1)
    assert len(list(folder.glob("began-*"))) == 2
    assert Scope.objects.filter(name="made by a job").count() == 1
    assert AuditEvent.objects.filter(action="test.held").count() == 1


def kill_idle_children(folder, env, log) -> Job:
    """Kill the children of a worker that waits for work, then ask for a job; its end."""
    (folder / "go").touch()
    with processes.worker(env, log) as one:
        for _kill in (False, True):
            if _kill:
                processes.kill_children(one)
            job = services.enqueue("test.hold", actor=actors.system(), folder=str(folder))
            processes.until(lambda pk=job.pk: Job.objects.get(pk=pk).is_over, "its end", by=one, log=log)
    return Job.objects.get(pk=job.pk)


def test_a_worker_whose_idle_children_were_killed_goes_on_with_the_filesystem_broker(
    committed_database, tmp_path, log
):
    env = processes.environment(tmp_path / "data", committed_database)
    assert kill_idle_children(tmp_path, env, log).state == JobState.SUCCEEDED


@pytest.mark.services
@pytest.mark.postgres
def test_a_worker_whose_idle_children_were_killed_goes_on_with_redis(committed_database, tmp_path, log):
    url = os.environ["TEST_REDIS_URL"]
    env = processes.environment(tmp_path / "data", committed_database, broker_url=url)
    assert kill_idle_children(tmp_path, env, log).state == JobState.SUCCEEDED


def test_killing_a_worker_and_emptying_the_filesystem_broker_loses_and_doubles_nothing(
    committed_database, tmp_path, log
):
    data = tmp_path / "data"
    env = processes.environment(data, committed_database)
    job = play(tmp_path, env, log, lambda: shutil.rmtree(data / "broker"))
    check(job, tmp_path)


@pytest.mark.services
@pytest.mark.postgres
def test_killing_a_worker_and_emptying_redis_loses_and_doubles_nothing(committed_database, tmp_path, log):
    url = os.environ["TEST_REDIS_URL"]
    env = processes.environment(tmp_path / "data", committed_database, broker_url=url)
    assert connection.vendor == "postgresql"
    job = play(tmp_path, env, log, lambda: redis.Redis.from_url(url).flushdb())
    check(job, tmp_path)
