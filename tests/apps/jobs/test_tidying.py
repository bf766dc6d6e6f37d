"""What has served its time is removed; what has not stays."""

from __future__ import annotations

import uuid
from datetime import timedelta

import pytest

from apps.core import actor as actors
from apps.core import clock
from apps.jobs import services
from apps.jobs.models import Job, JobState, WebhookDelivery, WebhookEndpoint
from apps.jobs.services.tidying import tidy
from apps.jobs.services.webhooks import DELIVER

pytestmark = pytest.mark.django_db


def test_old_deliveries_and_their_jobs_go_and_waiting_ones_stay():
    endpoint = WebhookEndpoint.objects.create(name="x", url="https://ci.example.com/", secret="whsec_eA==")
    for waits in (True, False):
        WebhookDelivery.objects.create(
            endpoint=endpoint,
            message_id=uuid.uuid4(),
            event="x",
            payload="{}",
            next_attempt_at=clock.now() if waits else None,
        )
        job = services.enqueue(DELIVER, actor=actors.system(), delivery_id=int(waits))
        Job.objects.filter(pk=job.pk).update(state=JobState.QUEUED if waits else JobState.SUCCEEDED)
    assert tidy()["webhook_deliveries"] == 0
    old = clock.now() - timedelta(days=91)
    WebhookDelivery.objects.update(created_at=old)
    Job.objects.update(created_at=old)
    removed = tidy()
    assert (removed["webhook_deliveries"], removed["webhook_jobs"]) == (1, 1)
    assert WebhookDelivery.objects.get().next_attempt_at is not None
    assert Job.objects.get().state == JobState.QUEUED


def test_sessions_that_are_over_go(ada, client_of):
    from django.contrib.sessions.models import Session

    client_of(ada)
    assert tidy()["sessions"] == 0
    Session.objects.update(expire_date=clock.now() - timedelta(seconds=1))
    assert tidy()["sessions"] == 1
