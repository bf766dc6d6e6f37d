"""The Celery application: workers and the scheduler start from here."""

from __future__ import annotations

import os
from datetime import UTC, datetime
from typing import Any

from celery import Celery
from celery.signals import setup_logging
from kombu.transport import TRANSPORT_ALIASES

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "supernode_portal.settings")

TRANSPORT_ALIASES["filesystem"] = "supernode_portal.broker:Transport"
application = Celery("supernode_portal")
# Where no tick was yet, the first is due at the start of the scheduler, not a period later: it shows the worker.
_LONG_AGO = datetime(2000, 1, 1, tzinfo=UTC)


@setup_logging.connect
def _keep_django_logging(**_kwargs: Any) -> None:
    """Celery leaves logging as the settings have it."""


@application.on_configure.connect
def _configure(**_kwargs: Any) -> None:
    from django.conf import settings

    filesystem = settings.BROKER_URL.startswith("filesystem")
    folder = settings.DATA_DIR / "broker"
    if filesystem:
        for name in ("queue", "processed", "control"):
            (folder / name).mkdir(parents=True, exist_ok=True)
    application.conf.update(
        broker_url=settings.BROKER_URL,
        broker_connection_retry_on_startup=True,
        broker_transport_options={
            "data_folder_in": str(folder / "queue"),
            "data_folder_out": str(folder / "queue"),
            "processed_folder": str(folder / "processed"),
            "control_folder": str(folder / "control"),
            "store_processed": False,
        }
        if filesystem
        else {"visibility_timeout": 3600, "socket_timeout": 10, "socket_connect_timeout": 5},
        task_serializer="json",
        accept_content=["json"],
        task_ignore_result=True,
        task_acks_late=True,
        task_reject_on_worker_lost=True,
        worker_prefetch_multiplier=1,
        worker_enable_remote_control=not filesystem,
        task_send_sent_event=False,
        worker_send_task_events=False,
        task_publish_retry=False,
        task_default_queue="default",
        beat_schedule_filename=str(settings.DATA_DIR / "beat-schedule"),
        beat_schedule={"tick": {"task": "jobs.tick", "schedule": settings.TICK_S, "last_run_at": _LONG_AGO}},
        timezone="UTC",
    )


application.autodiscover_tasks()
